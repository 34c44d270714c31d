"""Training: from data to weights."""

from lrnn.training.end_to_end import train_end_to_end
from lrnn.training.evaluation import Evaluation, evaluate, ever_saturated, excitatory, transmit
from lrnn.training.full_batch import FullBatch
from lrnn.training.initial import random_weights
from lrnn.training.minibatch import train_jointly
from lrnn.training.observer import Observer, State
from lrnn.training.plan import Plan, train
from lrnn.training.result import LearningCurve, Schedule, StopReason, Trained, Weights

__all__ = [
    "Evaluation",
    "FullBatch",
    "LearningCurve",
    "Observer",
    "Plan",
    "Schedule",
    "State",
    "StopReason",
    "Trained",
    "Weights",
    "evaluate",
    "ever_saturated",
    "excitatory",
    "random_weights",
    "train",
    "train_end_to_end",
    "train_jointly",
    "transmit",
]
