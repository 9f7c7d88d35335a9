"""The terms of objectives: pure functions of tensors."""
