"""The experiments of the paper: what is run, as data; how it is drawn is the report's business."""

from lrnn.paper.runner import run_tasks
from lrnn.paper.structures import STRUCTURES, Structure
from lrnn.paper.tasks import Settings, Task, chosen_tasks

__all__ = ["STRUCTURES", "Settings", "Structure", "Task", "chosen_tasks", "run_tasks"]
