"""Fitted methods and their results in the formats of other programs: ONNX and torch graphs, AnnData, the Hugging Face Hub."""
