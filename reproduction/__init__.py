"""The experiments of the paper, run again, with a verdict on each of its claims."""
