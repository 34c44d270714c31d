"""An outlier detector on a stream that drifts
===========================================

    python examples/detector_on_a_stream.py [FIGURE]

Six sensors of a machine follow load and temperature. From the tenth hour on the machine wears,
and two sensors drift away: what is normal becomes another thing. Three detectors watch. One learns
the first five hours and no more, one learns each hour and forgets nothing, one learns and forgets.
In each hour one sensor of some rows is stuck. Each hour is judged before it is learnt.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from lrnn import LRNNOutlierDetector

HOURS, ROWS, STUCK = 40, 200, 10
FIRST = 5  # hours that are learnt together, before anything is judged
WEAR = 10  # the hour in which drift begins; it goes on for ten hours
SENSORS = np.array([[1.0, 0.2], [0.8, 0.6], [0.1, 1.0], [0.5, 0.5], [0.9, 0.1], [0.3, 0.8]])


def hour(number, rng):
    """Readings of an hour; the last rows have a sensor that is stuck."""
    load_and_heat = rng.random((ROWS + STUCK, 2))
    X = load_and_heat @ SENSORS.T + 0.02 * rng.standard_normal((ROWS + STUCK, 6))
    worn = np.clip((number - WEAR) / 10, 0, 1)
    X[:, 1] *= 1 - 0.4 * worn
    X[:, 4] += 0.5 * worn
    X[ROWS:, 3] = np.where(X[ROWS:, 3] > 0.5, 0.1, 0.9)  # far from what the others say
    return X


def watch(model, hours, learns):
    """Shares of normal rows and of stuck ones that are called outliers, hour by hour."""
    model.partial_fit(np.concatenate([X[:ROWS] for X in hours[:FIRST]]))
    alarms = []
    for X in hours[FIRST:]:
        outliers = model.predict(X) == -1
        alarms.append((outliers[:ROWS].mean(), outliers[ROWS:].mean()))
        if learns:
            model.partial_fit(X[:ROWS])  # in practice: X[~outliers], or all of X
    return 100 * np.array(alarms)


def main(figure_path="detector_on_a_stream.png"):
    """Watch the stream in three ways, and draw false alarms."""
    rng = np.random.default_rng(0)
    hours = [hour(number, rng) for number in range(HOURS)]
    watched = {
        "learns five hours": (LRNNOutlierDetector(random_state=0), False),
        "learns all hours": (LRNNOutlierDetector(random_state=0), True),
        "learns, and forgets": (LRNNOutlierDetector(forget=600, random_state=0), True),
    }
    figure = Figure(figsize=(4.8, 3.4), dpi=150, layout="constrained")
    ax = figure.add_subplot()
    ax.axvspan(WEAR, WEAR + 10, color="0.92")
    print("false alarms, of normal rows            before   during    after   stuck, found after")
    for name, (model, learns) in watched.items():
        found = watch(model, hours, learns)
        before, during, after = np.split(found, [WEAR - FIRST, WEAR + 10 - FIRST])
        shares = "".join(f"{part[:, 0].mean():7.1f} %" for part in (before, during, after))
        print(f"{name:35}{shares}{after[:, 1].mean():15.0f} %")
        ax.plot(range(FIRST, HOURS), found[:, 0], label=name)
    ax.axhline(5, color="black", linestyle=":", linewidth=1)  # what is expected
    ax.set_xlabel("hour (the machine wears where it is grey)")
    ax.set_ylabel("false alarms, %")
    ax.legend(frameon=False, fontsize=8)
    figure.savefig(figure_path)
    # Of a stream it may be fewer: its first rows were measured when less was known.
    print(f"5 % are expected of normal rows; hour by hour: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
