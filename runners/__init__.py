"""Entry points that start runs: under ``accelerate``, and later on rented GPUs."""
