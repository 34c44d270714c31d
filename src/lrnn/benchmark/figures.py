"""The figure of each benchmark."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from lrnn.benchmark.course import Row
from lrnn.benchmark.result import Result
from lrnn.plots.axes import TITLE
from lrnn.plots.benchmarks import error_against_time, time_against_size

Points = dict[str, list[tuple[float, float]]]


def figure(result: Result) -> Figure:
    """Error against time ("fit"), or time against size; it needs no display."""
    panels = PANELS[result.kind](result.rows)
    canvas = Figure(figsize=(4.8 * len(panels), 3.4), dpi=150, layout="constrained")
    for ax, draw in zip(canvas.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        draw(ax)
    title = result.title + (" (quick run)" if result.quick else "")
    canvas.suptitle(title.replace("$", r"\$"), fontsize=TITLE)
    return canvas


def _fit(rows: Sequence[Row]) -> list[Callable[[Any], Any]]:
    curves: Points = {}
    for row in rows:
        points = curves.setdefault(row["title"], [])
        points += map(tuple, row.get("curve") or [(row["seconds"], row["error"])])
    return [lambda ax: error_against_time(curves, ax=ax)]


def _against(*sizes: str) -> Callable[[Sequence[Row]], list[Callable[[Any], Any]]]:
    """A panel for each size, with the rows in which all others are at their largest."""

    def panels(rows: Sequence[Row]) -> list[Callable[[Any], Any]]:
        return [_panel(_varied(rows, size, sizes), size) for size in sizes]

    return panels


def _panel(curves: Mapping[str, Any], size: str) -> Callable[[Any], Any]:
    return lambda ax: time_against_size(curves, size=size, ax=ax)


def _varied(rows: Sequence[Row], size: str, sizes: Sequence[str]) -> Points:
    others = {other: max(row[other] for row in rows) for other in sizes if other != size}
    curves: Points = {}
    for row in rows:
        if all(row[other] == largest for other, largest in others.items()):
            curves.setdefault(row["title"], []).append((row[size], row["seconds"]))
    return curves


PANELS: dict[str, Callable[[Sequence[Row]], list[Callable[[Any], Any]]]] = {
    "fit": _fit,
    "encode": _against("rows"),
    "simulate": _against("events"),
    "scale": _against("rows", "attributes"),
}
