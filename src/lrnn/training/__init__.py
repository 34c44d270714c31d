"""Training: from rows to weights.

`run` is the loop; what steps in it are the gram solver, the paper's algorithms as printed, descent
end to end, with inhibition, and for the recognition of classes.
"""

from lrnn.training.brightness import brightest
from lrnn.training.end_to_end import fine_tuned, never_worse, train_end_to_end, tune
from lrnn.training.evaluation import (
    Evaluation,
    evaluate,
    evaluate_both,
    ever_saturated,
    known_error,
    row_errors,
)
from lrnn.training.filling import learn_filling
from lrnn.training.frontier import (
    PenalisedNetwork,
    penalties_for,
    train_frontier,
    undominated,
)
from lrnn.training.gram import train_gram
from lrnn.training.history import LearningCurve, Trained
from lrnn.training.incremental import MOST_STEPS, Memory, remembered, train_part
from lrnn.training.inhibition import train_inhibitory, train_on_part
from lrnn.training.minibatch import train_jointly, train_layerwise
from lrnn.training.recognition import (
    Labels,
    Recognition,
    first_weights,
    passes_for,
    recognise,
    train_recognition,
)
from lrnn.training.run import Observer, ProgressBar, Run, StopReason, watching
from lrnn.training.settings import Settings
from lrnn.training.states import State, StateError
from lrnn.training.unit_rate import train_unit_rate
from lrnn.training.without_rows import train_without_rows

__all__ = [
    "MOST_STEPS",
    "Evaluation",
    "Labels",
    "LearningCurve",
    "Memory",
    "Observer",
    "PenalisedNetwork",
    "ProgressBar",
    "Recognition",
    "Run",
    "Settings",
    "State",
    "StateError",
    "StopReason",
    "Trained",
    "brightest",
    "evaluate",
    "evaluate_both",
    "ever_saturated",
    "fine_tuned",
    "first_weights",
    "known_error",
    "learn_filling",
    "never_worse",
    "passes_for",
    "penalties_for",
    "recognise",
    "remembered",
    "row_errors",
    "train_end_to_end",
    "train_frontier",
    "train_gram",
    "train_inhibitory",
    "train_jointly",
    "train_layerwise",
    "train_on_part",
    "train_part",
    "train_recognition",
    "train_unit_rate",
    "train_without_rows",
    "tune",
    "undominated",
    "watching",
]
