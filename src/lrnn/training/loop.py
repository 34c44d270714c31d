"""The loop that all training on minibatches of the whole network goes through."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lrnn.arrays import backend_of
from lrnn.training.adam import LogAdam
from lrnn.training.observer import Observer, State
from lrnn.training.pace import Pace
from lrnn.training.recorded import Step, recorded
from lrnn.training.recorder import Recorder
from lrnn.training.result import StopReason, Trained, Weights


@dataclass(frozen=True)
class Loop:
    """Passes over rows in random order, batch by batch.

    ``bounds`` are where the batches begin and end, and ``rows`` are the numbers of the rows that
    take part.
    """

    inputs: Any
    rows: NDArray[np.int64]
    bounds: NDArray[np.int64]
    random: np.random.RandomState
    observer: Observer

    def run(
        self,
        start: Weights,
        current: Weights,
        step: Step,
        adam: LogAdam,
        record: Recorder,
        pace: Pace,
        task: str,
    ) -> Trained:
        """Make steps of ``adam`` on ``current``; the best weights on the way are kept.

        A step is told the numbers of its rows, its scale, and the share of the full price of a
        spike.
        """
        inputs, observer, n_batches = self.inputs, self.observer, len(self.bounds) - 1
        step = recorded(step, inputs)
        observer.stage(task, pace.passes * n_batches)
        stopped: StopReason = "max_iter"

        def state() -> State:
            return {
                "adam": adam.state(),
                "record": record.state(),
                "random": self.random.get_state(legacy=False),
                "pace": pace.state(),
                "stopped": stopped,
            }

        if saved := observer.resume():
            adam.restore(saved["adam"])
            record.restore(saved["record"])
            self.random.set_state(saved["random"])
            pace.restore(saved["pace"])
            stopped = saved["stopped"]
            observer.skip(record.iterations, record.error)
        try:
            if not saved:
                record.evaluate(start)
            while record.passes < pace.passes:
                order = backend_of(inputs).array(self.random.permutation(self.rows))
                for first, last in pairwise(self.bounds):
                    done = record.iterations / n_batches
                    scale = adam.scale(pace.step(done))
                    record.batch(step(order[first:last], scale, pace.price(done)))
                    observer.iteration()
                record.finish_pass(current.copy())
                if observer.finished_pass(record.error):
                    stopped = "callback"
                    break
                if pace.lost_patience(record):
                    stopped = "tol"
                observer.checkpoint(state)
            if stopped != "callback":
                observer.checkpoint(state, finished=True)
        except KeyboardInterrupt:
            stopped = "interrupted"
            record.evaluate(current.copy())
        return Trained(record.best, [record.curve(None, stopped)])
