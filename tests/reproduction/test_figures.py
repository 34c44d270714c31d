"""The paper's figures can be read: nothing covers anything."""

import numpy as np
import pytest

from reproduction.experiments import STRUCTURES
from reproduction.figures import figures

LAST = {"2a": 6_000, "2b": 2_000, "2c": 40_000, "3": 30_000}  # iterations


@pytest.fixture(scope="module")
def drawn():
    """All figures of errors, drawn, of curves that fall from left to right."""
    results = []
    for structure in STRUCTURES.values():
        last = LAST[structure.figure]
        first = 1 if structure.figure == "3" else last / 15
        steps = np.unique(np.geomspace(first, last, 50).astype(int))
        for rates in ("free", "unit"):
            for method in ("printed", "lrnn"):
                curve = {"iterations": steps, "seconds": steps / 1e3, "errors": 0.3 / steps**0.3}
                results.append(
                    {"kind": "training", "subject": structure.name, "rates": rates, "bound": 0.01,
                     "method": method, "quick": False, "curves": [curve]}
                )  # fmt: skip
    made = figures(results)
    for figure in made.values():
        figure.draw_without_rendering()
    return made


def overlapping(texts):
    boxes = [(t.get_text(), t.get_window_extent()) for t in texts if t.get_text()]
    return [
        (a, b)
        for i, (a, one) in enumerate(boxes)
        for b, other in boxes[:i]
        if one.overlaps(other)
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["figure2", "figure2c-compared", "figure3", "figure3-seconds"])
def test_labels_of_ticks_titles_and_legends_do_not_overlap(drawn, name):
    figure = drawn[name]
    texts = [text for legend in figure.legends for text in legend.get_texts()]
    for ax in figure.axes:
        assert len(ax.lines)
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for minor in (False, True):
                ticks = zip(axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor), strict=True)
                texts += [label for place, label in ticks if low <= place <= high]
            texts.append(axis.label)
        texts.append(ax.title if ax.get_title() else ax._left_title)
        texts += ax.get_legend().get_texts() if ax.get_legend() else []
    assert not overlapping(texts)


@pytest.mark.slow
def test_legends_of_figure_2_are_beside_the_curves_and_tell_the_papers_errors(drawn):
    figure = drawn["figure2"]
    for ax in figure.axes:
        legend = ax.get_legend().get_window_extent()
        assert not legend.overlaps(ax.get_window_extent())
        assert figure.bbox.y0 <= legend.y0
        assert figure.bbox.x0 <= legend.x0
        assert legend.x1 <= figure.bbox.x1
    labels = [text.get_text() for ax in figure.axes for text in ax.get_legend().get_texts()]
    assert "784→50 (paper, dotted: 0.0204)" in labels
    assert "1024→50" in labels


def test_many_iterations_are_written_in_thousands(drawn):
    labels = [label.get_text() for label in drawn["figure2"].axes[2].get_xticklabels()]
    assert {"5000", "10k", "20k"} <= set(labels)
