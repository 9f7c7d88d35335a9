"""Terms of training objectives: pure functions of tensors, one file a family."""
