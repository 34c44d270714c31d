"""The experiments of the paper, and the report on them."""

from lrnn.paper.experiments import STRUCTURES, Structure, Task, chosen_tasks
from lrnn.paper.runner import run_tasks

__all__ = ["STRUCTURES", "Structure", "Task", "chosen_tasks", "run_tasks"]
