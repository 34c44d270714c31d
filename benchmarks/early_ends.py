"""How often simulations that end when enough is known are wrong, and how long they take.

    python benchmarks/early_ends.py

Each of many rows of arrivals is a trial. An error is an interval that misses the activation where
the trial ended, or a decision for another neuron than the one with the highest activation.
"""

import warnings

import numpy as np

from common import report
from lrnn import RandomNeuralNetwork
from lrnn.spiking import Decision, Precision

TRIALS = 2_000
LEVEL = 0.95
LOOP = RandomNeuralNetwork(
    [1.0, 2.0, 1.5],
    [[0.2, 0.4, 0.0], [0.1, 0.0, 0.5], [0.0, 0.0, 0.0]],
    [[0.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.4, 0.0, 0.0]],
)
ONE = RandomNeuralNetwork([1.0], [[0.0]])
THREE = RandomNeuralNetwork([1.0, 2.0, 1.0], np.zeros((3, 3)))
CASES: dict[str, tuple[RandomNeuralNetwork, list[float], Precision | Decision]] = {
    "one neuron, q = 0.5, width 0.1": (ONE, [0.5], Precision(0.1, level=LEVEL)),
    "one neuron, q = 0.02, width 0.02": (ONE, [0.02], Precision(0.02, level=LEVEL)),
    "a loop with inhibition, width 0.1": (LOOP, [0.45, 0.3, 0.35], Precision(0.1, level=LEVEL)),
    "which of 0.43, 0.40 and 0.38 is the highest": (
        THREE, [0.40, 0.86, 0.38], Decision([0, 1, 2], level=LEVEL),
    ),
}  # fmt: skip


def main() -> None:
    """Every case, by one run at a time and by eight."""
    warnings.simplefilter("ignore")
    rows = []
    for name, (network, arrivals, rule) in CASES.items():
        q = np.asarray(network.steady_state(arrivals))
        for replicas in (1, 8):
            result = network.simulate(
                np.tile(arrivals, (TRIALS, 1)), events=1_000_000, until=rule, replicas=replicas,
                random_state=0,
            )  # fmt: skip
            if isinstance(rule, Decision):
                wrong = result.reached & (result.decision != q.argmax())
            else:
                low, high = result.confidence_interval(LEVEL, rule.estimator)
                wrong = ((q < low) | (high < q)).mean(axis=1)
            rows.append(
                {
                    "": name,
                    "replicas": replicas,
                    "errors": float(wrong.mean()),
                    "reached": float(result.reached.mean()),
                    "events: median": float(np.median(result.events)),
                    "most": int(result.events.max()),
                }
            )
    report("early_ends", f"Early ends, level {LEVEL:.0%}, {TRIALS:,} trials each", rows)


if __name__ == "__main__":
    main()
