"""The figure of each benchmark."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from matplotlib.figure import Figure

from lrnn.benchmark.measurements import Row
from lrnn.benchmark.result import Result
from lrnn.plots.axes import TITLE, literal
from lrnn.plots.benchmarks import error_against_time, time_against_size

Points: TypeAlias = dict[str, list[tuple[float, float]]]
Panel: TypeAlias = Callable[..., Any]


def figure(result: Result) -> Figure:
    """Error against time ("fit"), or time against size; it needs no display."""
    panels = _panels(result)
    canvas = Figure(figsize=(4.8 * len(panels), 3.4), dpi=150, layout="constrained")
    for ax, draw in zip(canvas.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        draw(ax=ax)
    title = f"{result.title} (quick run)" if result.quick else result.title
    canvas.suptitle(literal(title), fontsize=TITLE)
    return canvas


def _panels(result: Result) -> list[Panel]:
    if result.kind == "fit":
        return [partial(error_against_time, _errors(result.rows))]
    if result.kind == "scale":
        return [
            partial(time_against_size, _varied(result.rows, size, other), size=size)
            for size, other in (("rows", "attributes"), ("attributes", "rows"))
        ]
    size = "events" if result.kind == "simulate" else "rows"
    return [partial(time_against_size, _times(result.rows, size), size=size)]


def _errors(rows: Sequence[Row]) -> Points:
    curves: Points = {}
    for row in rows:
        points = row.get("curve") or [(row["seconds"], row["error"])]
        curves.setdefault(row["title"], []).extend((x, y) for x, y in points)
    return curves


def _times(rows: Sequence[Row], size: str) -> Points:
    curves: Points = {}
    for row in rows:
        curves.setdefault(row["title"], []).append((row[size], row["seconds"]))
    return curves


def _varied(rows: Sequence[Row], size: str, other: str) -> Points:
    """Times of those rows in which the other size is at its largest.

    For each peer there is a line more: when lrnn had reached its error.
    """
    largest = max(row[other] for row in rows)
    rows = [row for row in rows if row[other] == largest]
    there = [
        {**row, "title": f"lrnn, to the error of {row['title']}", "seconds": row["lrnn_seconds"]}
        for row in rows
        if row["lrnn_seconds"] is not None
    ]
    return _times([*rows, *there], size)
