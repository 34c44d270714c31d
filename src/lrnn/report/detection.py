"""What the report of an outlier detector says besides: which rows are strange, and why."""

from typing import Any

import numpy as np

from lrnn import plots
from lrnn.analysis.explanations import HEADER
from lrnn.arrays import Floats
from lrnn.estimators.detector import LRNNOutlierDetector
from lrnn.plots.detection import draw_strangeness
from lrnn.report import pictures
from lrnn.report.content import SHARED, Section, TableOf, number
from lrnn.report.subject import Findings, Subject

IMAGES = 24  # rows that are shown, if they are images
ROWS = 8  # likewise, if they are of a table
DRAWN = 3  # of these as figures, too
LEVELS = (0.5, 0.2, 0.1, 0.05, 0.01)  # shares of held-out rows that are beyond a strangeness
FEWEST_BEYOND = 5  # rows, of which such a share is told


def findings_of(subject: Subject) -> Findings:
    """What the detector has found."""
    assert subject.findings is not None
    return subject.findings


def detected(subject: Subject) -> dict[str, Any]:
    """How strange rows are, beside those that were held out."""
    found = findings_of(subject)
    model = found.detector
    count = round(float(model.held_out_weights_.sum()))
    rows, outliers = len(found.strangeness), int(found.outliers.sum())
    figure = pictures.figure(
        lambda ax: draw_strangeness(model, found.strangeness, ax),
        "strangeness",
        f"How strange rows are: {outliers} of {rows} are beyond {-model.offset_:.3g}",
        (5.2, 3.2),
    )
    facts = [
        ["an outlier is stranger than", number(-model.offset_)],
        ["rows that are", f"{outliers:,} of {rows:,} ({100 * found.outliers.mean():.3g} %)"],
        ["rows held out that would be", f"{100 * model.flagged_share_:.3g} % of {count:,}"],
        ["typical rows that are remembered", _typical(model)],
        ["neighbours that are looked at", number(model._normality_.neighbours)],
    ]
    lines = [
        [f"{100 * level:g} %", number(limit), f"{100 * np.mean(found.strangeness > limit):.3g} %"]
        for level, limit in _limits(model)
    ]
    return {
        "figure": figure,
        "outliers": outliers,
        "rows": rows,
        "share": f"{100 * found.outliers.mean():.3g}",
        "expected": f"{100 * model.flagged_share_:.3g}",
        "held": count,
        "facts": TableOf("How it judges", ["", ""], facts),
        "levels": TableOf(
            "Of rows held out so many are stranger than that; and of these rows",
            ["rows held out", "strangeness", "these rows"],
            lines,
        )
        if lines
        else None,
    }


def _limits(model: LRNNOutlierDetector) -> list[tuple[float, float]]:
    """Shares of the rows held out, and what such a share of them is stranger than."""
    values = -model.held_out_scores_
    order = np.argsort(-values, kind="stable")
    beyond = np.cumsum(model.held_out_weights_[order])
    told = [level for level in LEVELS if level * beyond[-1] >= FEWEST_BEYOND]
    places = np.searchsorted(beyond, [level * beyond[-1] for level in told], side="right")
    last = len(values) - 1
    return [
        (level, float(values[order][min(i, last)])) for level, i in zip(told, places, strict=True)
    ]


def _typical(model: LRNNOutlierDetector) -> str:
    counts = model.typical_counts_
    return "none" if counts is None else f"{len(counts):,}, for {counts.sum():,.0f} rows"


def strangest(subject: Subject) -> dict[str, Any]:
    """The strangest rows, and what makes them so."""
    found = findings_of(subject)
    told = found.strangest
    shown = min(len(told), ROWS)
    lines = told.lines(range(shown))
    each = len(lines) // max(shown, 1)
    for i in range(shown):
        lines[each * i][0] = row_name(found, i)
    table = TableOf("The strangest rows", HEADER, lines)
    if subject.image_shape is not None:
        return {"table": None, "figures": [], "images": _images(subject, found)}
    figures = [
        (
            pictures.figure(
                lambda ax, i=i: plots.explanation(told, i, ax=ax),  # type: ignore[misc]
                f"why{i}",
                f"Row {row_name(found, i)}: {told.sentence(i)}",
                (4.8, 0.9 + 0.24 * min(11, len(told.names))),
            ),
            row_name(found, i),
        )
        for i in range(min(DRAWN, len(told)))
    ]
    return {"table": table, "figures": figures, "images": None}


def row_name(found: Findings, i: int) -> str:
    """What one of the strangest rows is called: its number, and its name if it has one."""
    number = f"{found.strangest.rows[i] + 1}"
    return number if found.names is None else f"{number}: {found.names[i]}"


def _images(subject: Subject, found: Findings) -> list[tuple[str, str, str]]:
    """Rows that are images, above where they are strange."""
    assert subject.image_shape is not None
    told, count = found.strangest, min(len(found.strangest), IMAGES)
    values = subject.cells(found.places[:count])
    ink = pictures.is_ink(values)
    images = []
    for i in range(count):
        strength: Floats = told.contributions[i] / (told.contributions[i].max() or 1)
        below = strength if ink else 1 - strength
        verdict = "an outlier" if told.outliers[i] else "normal"
        images.append(
            (
                pictures.pair(values[i], below, subject.image_shape, ink),
                f"Row {row_name(found, i)}, above where it is strange; {verdict}",
                f"{told.strangeness[i]:.3g}",
            )
        )
    return images


SECTIONS: tuple[Section, ...] = (*SHARED, detected, strangest)
"""Sections of the page of an outlier detector."""
