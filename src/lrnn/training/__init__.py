"""Training: from data to weights."""

from lrnn.training.descent import held_out_rows
from lrnn.training.end_to_end import train_end_to_end
from lrnn.training.evaluation import Evaluation, evaluate, ever_saturated, excitatory, transmit
from lrnn.training.frontier import Found, prices, train_frontier
from lrnn.training.full_batch import FullBatch
from lrnn.training.inhibition import passes_of, train_on_part
from lrnn.training.initial import random_weights
from lrnn.training.minibatch import train_jointly
from lrnn.training.observer import Observer, State
from lrnn.training.plan import Plan, train
from lrnn.training.result import LearningCurve, Schedule, StopReason, Trained, Weights

__all__ = [
    "Evaluation",
    "Found",
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
    "held_out_rows",
    "passes_of",
    "prices",
    "random_weights",
    "train",
    "train_end_to_end",
    "train_frontier",
    "train_jointly",
    "train_on_part",
    "transmit",
]
