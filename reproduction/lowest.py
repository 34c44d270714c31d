"""What the paper may mean by its lowest errors: the printed algorithms, run until they stall."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lrnn.datasets import DATA_SETS
from reproduction.axes import COLOURS, SMALL, key_below, logarithmic, plain
from reproduction.experiments import READINGS, STRUCTURES
from reproduction.summary import Result, mean, spread

ALGORITHMS = {"algorithm1": "1", "algorithm2": "2", "algorithm3": "3"}


def groups(results: Iterable[Result]) -> dict[tuple[str, str, str], list[Result]]:
    """Results of all seeds by structure, algorithm and reading."""
    found: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result["kind"] == "stalled":
            found[result["subject"], result["method"], result["reading"]].append(result)
    return dict(found)


def lowest(results: Iterable[Result]) -> list[dict[str, Any]]:
    """One row for each structure, algorithm and reading."""
    rows = []
    for (name, method, reading), found in groups(results).items():
        row: dict[str, Any] = {
            "data": DATA_SETS[STRUCTURES[name].data].title,
            "structure": STRUCTURES[name].label,
            "algorithm": ALGORITHMS[method],
            "reading": READINGS[reading].title,
            "seeds": len(found),
            "iterations": mean(found, "iterations"),
            "paper": STRUCTURES[name].paper,
        }
        for what in ("error", "lowest_batch", "level"):
            row |= {what: mean(found, what), f"{what}_spread": spread(found, what)}
        tested = found[0]["test_error"] is not None
        row["test_error"] = mean(found, "test_error") if tested else None
        one = [(u, r["stages"][0]["unrest"]) for r in found if (u := unrest(r)) is not None]
        row["unrest"], row["batch_unrest"] = np.mean(one, axis=0).tolist() if one else (None, None)
        row["still_falling"] = float(max(r["stages"][-1]["fall"] for r in found))
        row["seconds"] = mean(found, "seconds")
        row["device"] = found[0]["device"]
        row["quick"] = found[0]["quick"]
        rows.append(row)
    return rows


def unrest(result: Result) -> float | None:
    """How much the error on all rows goes up and down in the last quarter, beside its mean."""
    if len(result["stages"]) > 1:
        return None  # the last stage is one pair of layers alone
    errors = np.asarray(result["stages"][-1]["whole"])
    last = errors[-max(2, len(errors) // 4) :]
    return float(last.std(ddof=1) / last.mean())


def courses(results: Sequence[Result]) -> Figure:
    """Errors on minibatches against iterations: their mean and their lowest, of all seeds."""
    found = {
        key: value
        for key, value in groups(results).items()
        if not key[2] and key[1] != "algorithm2"
    }
    columns = min(4, len(found))
    height = -(-len(found) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.6 * height), layout="constrained", dpi=150)
    panels = figure.subplots(height, columns, squeeze=False).ravel()
    for ax, ((name, method, _), runs) in zip(panels, found.items(), strict=False):
        for result in runs:
            stage = result["stages"][0]
            ax.plot(stage["iterations"], stage["mean"], color=COLOURS[0], linewidth=0.7)
            ax.plot(
                stage["iterations"], np.minimum.accumulate(stage["lowest"]), color=COLOURS[1],
                linewidth=0.7,
            )  # fmt: skip
            ax.plot(
                stage["whole_iterations"], stage["whole"], color=COLOURS[2], linewidth=0.4,
                alpha=0.7,
            )  # fmt: skip
        paper = STRUCTURES[name].paper
        if paper is not None:
            ax.axhline(paper, color="black", linestyle=":", linewidth=1)
        logarithmic(ax, "y")
        ax.locator_params(axis="x", nbins=5)
        title = f"{STRUCTURES[name].data}, {STRUCTURES[name].label}"
        ax.set_title(f"{title}\nAlgorithm {ALGORITHMS[method]}", fontsize=SMALL, loc="left")
        plain(ax, "iterations", "error" if ax in panels[::columns] else "")
    for ax in panels[len(found) :]:
        ax.set_axis_off()
    for colour, label in zip(
        (COLOURS[0], COLOURS[1], COLOURS[2], "black"),
        ("minibatches, mean", "minibatches, lowest so far", "all rows", "paper"),
        strict=True,
    ):
        panels[0].plot(
            [], [], color=colour, label=label, linestyle=":" if colour == "black" else "-"
        )
    key_below(figure, panels[0])
    return figure
