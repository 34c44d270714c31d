"""The paper's figures, made again from results of experiments."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lrnn.datasets import DATA_SETS
from lrnn.plots import image_grid
from reproduction import figure4, lowest
from reproduction.axes import COLOURS, SMALL, TITLE, key_below, logarithmic, plain
from reproduction.experiments import CONTENDERS, LAYERWISE, STRUCTURES, Structure
from reproduction.inhibition import MISSING, NOISE
from reproduction.summary import Result, contests, robustness, trainings

LINES = {
    ("free", "printed"): (COLOURS[1], "-", "Algorithm 1 or 3"),
    ("free", LAYERWISE): (COLOURS[3], "-", "Algorithm 2"),
    ("free", "lrnn"): (COLOURS[0], "-", "lrnn"),
    ("unit", "printed"): (COLOURS[1], ":", "Algorithm 1 or 3, unit rates"),
    ("unit", "lrnn"): (COLOURS[0], ":", "lrnn, unit rates"),
}
PARTS, SHAPE = 36, (28, 28)  # parts that are shown, as images
QUICK = "Quick run on cut-down data: these numbers say nothing of the paper"


def figures(results: Sequence[Result]) -> dict[str, Figure]:
    """All that can be drawn of these results, by file name."""
    made: dict[str, Figure] = {}
    present = [s for s in STRUCTURES.values() if (s.name, "free", "lrnn") in trainings(results)]
    images = [s for s in present if s.figure != "3"]
    if images:
        made["figure2"] = figure2(results, images)
    for part in dict.fromkeys(s.figure for s in images):
        made[f"figure{part}-compared"] = compared(results, [s for s in images if s.figure == part])
    uci = [s for s in present if s.figure == "3"]
    if uci:
        made["figure3"] = figure3(results, uci, "iterations")
        made["figure3-seconds"] = figure3(results, uci, "seconds")
    for result in results:
        if result["kind"] == "spiking":
            made |= figure4.pictures(result)
    if any(result["kind"] == "stalled" for result in results):
        made["stalled"] = lowest.courses(results)
    made |= of_inhibition(results)
    if any(result["quick"] for result in results):
        for figure in made.values():
            figure.suptitle(QUICK, fontsize=TITLE, color="#b00020")
    return made


def of_inhibition(results: Sequence[Result]) -> dict[str, Figure]:
    """All that can be drawn where inhibition is the question, by file name."""
    made: dict[str, Figure] = {}
    if damages := robustness(results):
        made["inhibition-robustness"] = damage_curves(damages)
    results = contests(results)
    with_parts = [result for result in results if "parts" in result]
    if with_parts:
        made["inhibition-parts"] = parts(with_parts)
    for result in results:
        if "spiking" in result:
            made[f"figure4-{result['method']}"] = simulated_layers(result["spiking"])
    return made


def figure2(results: Sequence[Result], structures: Sequence[Structure]) -> Figure:
    """Error against iterations of the printed algorithms, as the paper shows it."""
    parts = list(dict.fromkeys(s.figure for s in structures))
    figure = Figure(figsize=(3.7 * len(parts), 3.6), layout="constrained", dpi=150)
    for ax, part in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts, strict=True):
        shown = [s for s in structures if s.figure == part]
        for i, structure in enumerate(shown):
            for method, dashes in (("printed", "-"), (LAYERWISE, "--")):
                found = trainings(results).get((structure.name, "free", method), [])
                for seed, result in enumerate(found):
                    x, errors = course(result, "iterations")
                    ends = np.cumsum([len(curve["errors"]) for curve in result["curves"]]) - 1
                    ax.plot(
                        x, errors, color=COLOURS[i], linestyle=dashes,
                        marker="." if method == LAYERWISE else "", markevery=ends.tolist(),
                        linewidth=1.4 if seed == 0 else 0.4, alpha=1 if seed == 0 else 0.5,
                        label=_named(structure, method) if seed == 0 else None,
                    )  # fmt: skip
            if structure.paper is not None:
                ax.axhline(structure.paper, color=COLOURS[i], linestyle=":", linewidth=1)
        ax.set_title(f"({part[1]}) {DATA_SETS[shown[0].data].title}", fontsize=TITLE, loc="left")
        _finish(ax, "iterations")
        ax.legend(  # under it, where there are no curves
            loc="upper left", bbox_to_anchor=(-0.05, -0.17), fontsize=SMALL, frameon=False
        )
    return figure


def _named(structure: Structure, method: str) -> str:
    """Its widths, the algorithm where there are two, and the lowest error of the paper."""
    algorithm = structure.algorithm(method).replace("Algorithm", "Alg.")
    name = f"{structure.label}, {algorithm}" if structure.deep else structure.label
    if structure.paper is None or method == LAYERWISE:
        return name
    return f"{name} (paper, dotted: {structure.paper:.4f})"


def compared(results: Sequence[Result], structures: Sequence[Structure]) -> Figure:
    """All algorithms and both kinds of rates, against iterations and against seconds."""
    columns = len(structures)
    figure = Figure(figsize=(3.6 * columns, 5.4), layout="constrained", dpi=150)
    grid = figure.subplots(2, columns, squeeze=False, sharey="col")
    for i, structure in enumerate(structures):
        for ax, against in zip(grid[:, i], ("iterations", "seconds"), strict=True):
            panel(ax, results, structure, against)
            _finish(ax, against)
        grid[0, i].set_title(f"{structure.data}, {structure.label}", fontsize=TITLE, loc="left")
    key_below(figure, grid[0, -1])
    return figure


def figure3(results: Sequence[Result], structures: Sequence[Structure], against: str) -> Figure:
    """All UCI data sets."""
    columns = min(4, len(structures))
    lines = -(-len(structures) // columns)
    figure = Figure(figsize=(2.9 * columns, 2.3 * lines), layout="constrained", dpi=150)
    grid = figure.subplots(lines, columns, squeeze=False)
    for ax in grid.ravel()[len(structures) :]:
        ax.set_axis_off()
    for ax, structure in zip(grid.ravel(), structures, strict=False):
        panel(ax, results, structure, against)
        ax.set_title(f"{structure.data}, {structure.label}", fontsize=SMALL + 1, loc="left")
        _finish(ax, against)
    key_below(figure, grid[0, 0])
    return figure


def panel(ax: Axes, results: Sequence[Result], structure: Structure, against: str) -> None:
    """One structure, trained in all ways, and what is possible."""
    for (rates, method), (colour, dashes, label) in LINES.items():
        for seed, result in enumerate(trainings(results).get((structure.name, rates, method), [])):
            x, errors = course(result, against)
            ax.plot(
                x, errors, color=colour, linestyle=dashes, linewidth=1.3 if seed == 0 else 0.4,
                alpha=1 if seed == 0 else 0.4, label=label if seed == 0 else None,
            )  # fmt: skip
    for rates, dashes in (("free", "--"), ("unit", "-.")):
        found = trainings(results).get((structure.name, rates, "lrnn"))
        if found and found[0]["bound"] > 1e-4:
            name = "linear bound" if rates == "free" else "unit-rate bound"
            ax.axhline(found[0]["bound"], color="0.3", linestyle=dashes, linewidth=0.8, label=name)
    if structure.paper is not None:
        ax.axhline(structure.paper, color=COLOURS[2], linewidth=0.8, label="paper")


def course(result: Result, against: str) -> tuple[Any, Any]:
    """Where the error was taken, and what it was, stage after stage; of ours, the lowest so far."""
    begin, x, errors = 0.0, [], []
    for curve in result["curves"]:
        place = np.asarray(curve[against], dtype=np.float64)
        x.append(begin + place)
        errors.append(np.asarray(curve["errors"]))
        begin += place[-1]
    floor = 1 if against == "iterations" else 1e-3
    found = np.concatenate(errors)
    if result["method"] == "lrnn":
        found = np.minimum.accumulate(found)
    return np.maximum(np.concatenate(x), floor), found


def simulated_layers(result: Result) -> Figure:
    """Layers of one network as computed, and as simulated."""
    width = 1.9 * (1 + len(result["simulated"]))
    figure = Figure(figsize=(width, 6.2), layout="constrained", dpi=150)
    errors = {m: [f"RMSE {error:.4f}" for error in of] for m, of in result["rmse"].items()}
    figure4.layers(figure, result["layers"], result["numeric"], result["simulated"], errors)
    return figure


def damage_curves(rows: Sequence[dict[str, Any]]) -> Figure:
    """Error to the clean image against noise, and against missing pixels."""
    figure = Figure(figsize=(7.4, 3.4), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    for i, row in enumerate(rows):
        colour = "0.5" if i == 0 else COLOURS[(i - 1) % len(COLOURS)]
        dashes = ":" if i == 0 else "--" if i > len(COLOURS) else "-"
        found = list(row.values())[2:]
        for ax, against, errors in (
            (left, NOISE, found[: len(NOISE)]),
            (right, [100 * share for share in MISSING], found[len(NOISE) :]),
        ):
            whole = row["none"] is not None
            ax.plot(
                [0, *against] if whole else against, [row["none"], *errors] if whole else errors,
                color=colour, linestyle=dashes,
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


def _finish(ax: Axes, against: str) -> None:
    if ax.get_lines():
        logarithmic(ax, "x")
        logarithmic(ax, "y")
    plain(ax, "iterations" if against == "iterations" else "seconds", "mean squared error")
