"""Models and trainings on disk: model files, checkpoints, results larger than memory, export."""
