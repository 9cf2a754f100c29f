"""What is done with a map: edited checkpoints, files for other programs, evaluations, and steering."""
