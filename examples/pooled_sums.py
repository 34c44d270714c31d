"""Sites that may not pool their rows pool sums
============================================

    python examples/pooled_sums.py [FIGURE]

Training needs the data only through sums over rows, an `lrnn.Moment`: as many numbers as
attributes squared, however many rows there are. Sums add. Three sites, each with digits of other
kinds, send theirs, and the model is the one that all rows together would give. A site that
withdraws has its sums subtracted: what is left is a model that has never seen its rows. And each
day's rows are added to a file, without reading those of the days before.

Such sums are not private in themselves. That of one row tells the row; the difference of two tells
what lies between them. They spare sending rows, and keep nothing secret.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from lrnn import LRNNAutoencoder, Moment, load_moment

SITES = {"A: 0 to 3": range(4), "B: 4 to 6": range(4, 7), "C: 7 to 9": range(7, 10)}
DAYS = 10


def fitted(data):
    """A model of rows, or of sums."""
    return LRNNAutoencoder(16, max_iter=30, tol=0, random_state=0).fit(data)


def main(figure_path="pooled_sums.png"):
    """Pool, forget, and go on."""
    images, digit = load_digits(return_X_y=True)
    X = images / 16  # known to all sites beforehand: no scaling is made from anybody's data
    rows = {name: X[np.isin(digit, list(kinds))] for name, kinds in SITES.items()}
    sums = {name: Moment.of(own) for name, own in rows.items()}

    # pooled: sums of sites are those of all rows
    together = fitted(Moment.merge(sums.values()))
    of_rows = fitted(X)
    errors = {name: -fitted(own).score(X) for name, own in sums.items()}
    errors |= {"sums of all": -together.score(X), "rows of all": -of_rows.score(X)}
    for name, error in errors.items():
        print(f"trained on {name}: error {error:.4f} on all digits")
    apart = abs(together.reconstruct(X) - of_rows.reconstruct(X)).max()
    print(f"sums and rows give the same network: reconstructions differ by {apart:.0e}")
    np.testing.assert_allclose(together.reconstruct(X), of_rows.reconstruct(X), atol=1e-6)

    # forgotten: the last site withdraws
    leaver = list(SITES)[-1]
    left = fitted(Moment.merge(sums.values()) - sums[leaver])
    never = fitted(np.concatenate([rows[name] for name in SITES if name != leaver]))
    forgotten = {
        "with its rows": -together.score(rows[leaver]),
        "forgotten": -left.score(rows[leaver]),
        "never seen": -never.score(rows[leaver]),
    }
    said = ", ".join(f"{name} {error:.4f}" for name, error in forgotten.items())
    print(f"error on the digits of {leaver}: {said}")

    # incremental: yesterday's file and today's rows
    order = np.random.default_rng(0).permutation(len(X))
    days, test = np.array_split(order[:300], DAYS), X[order[300:]]
    course = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "so-far.safetensors")
        for day, today in enumerate(days):
            moment = Moment.of(X[today]) + load_moment(file) if day else Moment.of(X[today])
            moment.save(file)
            course.append(-fitted(moment).score(test))
        print(f"after {DAYS} days: {load_moment(file)}, error {course[-1]:.4f} on other digits")

    figure = Figure(figsize=(9, 3), layout="constrained", dpi=150)
    pooled, forgetting, daily = figure.subplots(1, 3)
    pooled.barh(list(errors), list(errors.values()), color=["0.7"] * 3 + ["C0", "C1"])
    pooled.invert_yaxis()
    pooled.set(title="pooled: trained on …", xlabel="error on all digits")
    forgetting.bar(list(forgotten), list(forgotten.values()), color=["0.7", "C0", "C1"])
    forgetting.set(title=f"site {leaver[0]} is forgotten", ylabel="error on its digits")
    daily.plot(range(1, DAYS + 1), course)
    daily.set(title="a file grows by the day", xlabel="days of 30 rows", ylabel="error on others")
    for ax in (pooled, forgetting, daily):
        ax.title.set_fontsize(9)
        ax.tick_params(labelsize=8)
    figure.savefig(figure_path)
    print(f"figure: {figure_path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
