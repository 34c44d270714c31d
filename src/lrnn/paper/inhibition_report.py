"""What inhibition is good for: tables and figures of an experiment that is not the paper's."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from lrnn.paper.contenders import AMPLE, CONTENDERS, MODEST
from lrnn.paper.damage import MISSING, NOISE
from lrnn.paper.figures import figure4, key_below, marked
from lrnn.paper.structures import STRUCTURES
from lrnn.paper.summary import Result, contests, coverage, inhibition, robustness
from lrnn.plots import image_grid
from lrnn.plots.axes import TITLE, plain, style
from lrnn.report.content import hoyer
from lrnn.report.tables import TableOf

EXPLAINED = [
    "Not in the paper: networks with 50 codes, without inhibition and with it. A spike costs a "
    f"share of the excitatory network's error per spike: {100 * MODEST:g} % (modest), "
    f"{100 * AMPLE:g} % (ample) or nothing (free). Spikes are firings per unit time of the input "
    "and hidden layers, output rates being 1. PCA stands beside them.",
    "Damage: Gaussian noise of that standard deviation, clipped to [0, 1], or pixels set to 0. All "
    "errors are those to the clean image; no network was trained on damaged ones.",
    "Parts: components are the excitatory weights of the decoder. With inhibition they are not yet "
    "what a code neuron adds, for inhibition divides it; so beside them is what the network makes "
    "if that neuron alone is excited. Hoyer's sparsity is 0 if all pixels are equal and 1 if one "
    "is not 0.",
]
PARTS = 36  # that are shown
SHAPE = (28, 28)


def inhibition_summary(results: Sequence[Result]) -> dict[str, list[dict[str, Any]]]:
    """All its numbers, by the names of their files."""
    rows = inhibition(results)
    for row, result in zip(rows, contests(results), strict=True):
        for name in ("parts", "alone"):
            found = result.get(name)
            row[f"sparsity_{name}"] = None if found is None else hoyer(np.asarray(found))
    return {
        "inhibition": rows,
        "inhibition_robustness": robustness(results),
        "inhibition_coverage": coverage(results),
    }


def inhibition_tables(summary: dict[str, Any]) -> list[TableOf]:
    """Its numbers, for readers."""
    return [
        _errors(summary["inhibition"]),
        _robustness(summary["inhibition_robustness"]),
        _coverage(summary["inhibition_coverage"]),
    ]


def inhibition_figures(results: Sequence[Result]) -> dict[str, Figure]:
    """All that can be drawn of it, by file name."""
    found = contests(results)
    made: dict[str, Figure] = {}
    if found:
        made["inhibition-robustness"] = damage_curves(robustness(found))
    with_parts = [result for result in found if "parts" in result]
    if with_parts:
        made["inhibition-parts"] = parts(with_parts)
    for result in found:
        if "spiking" in result:
            made[f"figure4-{result['method']}"] = figure4(result["spiking"])
    return marked(made, results)


def damage_curves(rows: Sequence[dict[str, Any]]) -> Figure:
    """Error to the clean image against noise, and against missing pixels."""
    figure = Figure(figsize=(7.4, 3.4), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    for i, row in enumerate(rows):
        colour, dashes = ("0.5", ":") if i == 0 else style(i - 1)
        found = list(row.values())[2:]
        for ax, against, errors in (
            (left, NOISE, found[: len(NOISE)]),
            (right, [100 * share for share in MISSING], found[len(NOISE) :]),
        ):
            ax.plot(
                [0, *against], [row["none"], *errors], color=colour, linestyle=dashes,
                marker=".", linewidth=1.2, label=row["contender"],
            )  # fmt: skip
    plain(left, "standard deviation of the noise", "mean squared error to the clean image")
    plain(right, "missing pixels, percent", "")
    key_below(figure, left)
    return figure


def parts(results: Sequence[Result]) -> Figure:
    """Parts, the most used first: decoders on the left, what they make on the right."""
    figure = Figure(figsize=(7.4, 1.95 * len(results)), layout="constrained", dpi=150)
    for line, result in zip(figure.subplots(len(results), 2, squeeze=False), results, strict=True):
        title = CONTENDERS[result["method"]].title
        names = {"parts": f"{title}: components", "alone": "one code neuron alone, fully excited"}
        for ax, (name, text) in zip(line, names.items(), strict=True):
            image_grid(result[name][:PARTS], SHAPE, columns=9, ax=ax)
            ax.set_title(text, fontsize=TITLE, loc="left")
    return figure


def _errors(rows: Sequence[dict[str, Any]]) -> TableOf:
    return TableOf(
        f"MNIST {STRUCTURES['mnist-50'].label}: mean squared errors, spikes and parts",
        ["", "train", "test", "a spike costs", "spikes", "highest rate",
         "Hoyer's sparsity of components", "of what they make alone", "valid", "seconds"],
        [
            [
                row["contender"],
                f"{row['train']:.5f}",
                f"{row['test']:.5f}",
                _quantity(row["spike_penalty"]),
                _quantity(row["spikes"]),
                _quantity(row["highest_rate"]),
                _sparsity(row["sparsity_parts"]),
                _sparsity(row["sparsity_alone"]),
                {True: "yes", False: "NO", None: "–"}[row["valid"]],
                f"{row['seconds']:.0f}",
            ]
            for row in rows
        ],
    )  # fmt: skip


def _robustness(rows: Sequence[dict[str, Any]]) -> TableOf:
    names = list(rows[0])[1:] if rows else []
    return TableOf(
        "Mean squared error to the clean image, test rows",
        ["damage", *names],
        [[row["contender"], *(f"{row[name]:.4f}" for name in names)] for row in rows],
    )


def _coverage(rows: Sequence[dict[str, Any]]) -> TableOf:
    names = [name.removesuffix("_held") for name in (rows or [{}])[0] if name.endswith("_held")]

    def held(row: dict[str, Any], layer: str) -> str:
        inside, count = row[f"{layer}_held"], row[f"{layer}_neurons"]
        return f"{inside} of {count} ({100 * inside / max(count, 1):.0f} %)"

    return TableOf(
        "Simulation: 95 % confidence intervals that hold the numeric value, of the neurons that "
        "are at work and do not saturate; and root mean square errors",
        ["network", "events", *names, *(f"RMSE, {name}" for name in names)],
        [
            [
                row["contender"],
                f"{row['events']:,}",
                *(held(row, name) for name in names),
                *(f"{row[f'{name}_rmse']:.4f}" for name in names),
            ]
            for row in rows
        ],
    )


def _sparsity(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _quantity(value: float | None) -> str:
    """Such as 1,234 or 3.5e+19; a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == 0 or 100 <= value < 1e7 else f"{value:.2g}"


CAPTIONS = {
    "inhibition-robustness": "MNIST test images with noise and with missing pixels: how far their "
    "reconstructions are from the clean images",
    "inhibition-parts": "Parts of the networks, the most used first, each scaled to its own "
    "maximum: the components, and what one code neuron makes if it alone is excited",
    "figure4-modest": "The paper's Figure 4 with inhibition, at a modest budget of spikes",
    "figure4-ample": "The paper's Figure 4 with inhibition, at an ample budget of spikes",
}
"""What each figure shows, in words."""
