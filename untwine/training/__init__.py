"""The training loop and all that it holds: stages, batches, optimizers, checkpoints, processes."""
