"""The experiments of the paper: what is run, as data; how it is drawn is the report's business."""

from lrnn.experiments.runner import run_tasks
from lrnn.experiments.structures import STRUCTURES, Structure
from lrnn.experiments.tasks import Settings, Task, chosen_tasks

__all__ = ["STRUCTURES", "Settings", "Structure", "Task", "chosen_tasks", "run_tasks"]
