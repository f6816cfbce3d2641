"""How capacity moves: between two models, over checkpoints, with the sample size."""
