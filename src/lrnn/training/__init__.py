"""Training: from data to weights."""

from lrnn.training.evaluation import Evaluation, evaluate, ever_saturated, transmit
from lrnn.training.full_batch import train_full_batch
from lrnn.training.initial import random_weights
from lrnn.training.layerwise import train_layerwise
from lrnn.training.minibatch import train_jointly
from lrnn.training.result import LearningCurve, Schedule, StopReason, Trained, Weights

__all__ = [
    "Evaluation",
    "LearningCurve",
    "Schedule",
    "StopReason",
    "Trained",
    "Weights",
    "evaluate",
    "ever_saturated",
    "random_weights",
    "train_full_batch",
    "train_jointly",
    "train_layerwise",
    "transmit",
]
