"""Training: from data to weights."""

from lrnn.training.end_to_end import fine_tuned, train_end_to_end
from lrnn.training.evaluation import Evaluation, evaluate, ever_saturated, transmit
from lrnn.training.full_batch import FullBatch
from lrnn.training.initial import random_weights
from lrnn.training.layerwise import train_layerwise
from lrnn.training.minibatch import train_jointly
from lrnn.training.observer import Observer
from lrnn.training.result import LearningCurve, Schedule, StopReason, Trained, Weights
from lrnn.training.unit_rate import train_unit_rate

__all__ = [
    "Evaluation",
    "FullBatch",
    "LearningCurve",
    "Observer",
    "Schedule",
    "StopReason",
    "Trained",
    "Weights",
    "evaluate",
    "ever_saturated",
    "fine_tuned",
    "random_weights",
    "train_end_to_end",
    "train_jointly",
    "train_layerwise",
    "train_unit_rate",
    "transmit",
]
