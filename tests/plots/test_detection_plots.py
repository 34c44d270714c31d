"""Figures of outlier detection show what they are given."""

import io
import re

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from lrnn import LRNNOutlierDetector, plots
from naming import naming


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).random((120, 1)) * np.arange(1.0, 7) + 5


@pytest.fixture(scope="module")
def model(rows):
    return LRNNOutlierDetector(2, random_state=0).fit(rows)


@pytest.fixture
def ax():
    """Axes, rendered after the test: that must not warn either."""
    figure = Figure(layout="constrained")
    yield figure.subplots()
    figure.savefig(io.BytesIO(), dpi=50)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_bars_are_the_shares_of_the_strongest_attributes(model, rows, ax):
    some = rows[:3].copy()
    some[1, 4] = 99
    found = model.explain(some)
    assert plots.explanation(found, 1, count=2, ax=ax) is ax
    shown = found.strongest(1, 2)
    assert shown[0] == 4
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths[:2], [100 * found.share(1, i) for i in shown])
    assert sum(widths) == pytest.approx(100)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [*(found.names[i] for i in shown), "4 others"]
    assert re.search(naming(99, f"{found.expected[4][1]:.4g}"), texts(ax)[0])
    assert "row 2" in ax.get_title(loc="left")


def test_all_attributes_have_a_bar_if_there_are_few(model, rows, ax):
    plots.explanation(model.explain(rows[:1]), ax=ax)
    assert len(ax.patches) == 6


def test_nothing_strange_has_bars_of_no_length(ax):
    model = LRNNOutlierDetector(random_state=0).fit(np.ones((20, 2)))
    plots.explanation(model.explain(np.ones((1, 2))), ax=ax)
    assert [bar.get_width() for bar in ax.patches] == [0, 0]


@pytest.mark.parametrize(("name", "value"), [("row", 3), ("row", -1), ("count", 0)])
def test_rows_that_are_not_there_are_refused(model, rows, name, value):
    with pytest.raises(ValueError, match=naming(name, value)):
        plots.explanation(model.explain(rows[:3]), **{name: value})


def test_names_are_shown_as_they_are(ax):
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).random((30, 2))
    frame = pandas.DataFrame(X, columns=["$a_b$", "x" * 99])
    model = LRNNOutlierDetector(1, random_state=0).fit(frame)
    plots.explanation(model.explain(frame), ax=ax)
    names = {label.get_text() for label in ax.get_yticklabels()}
    assert names == {r"\$a_b\$", "x" * 27 + "…"}


def test_rows_are_beside_those_held_out_and_the_line_is_that_of_the_model(model, rows, ax):
    strange = rows.copy()
    strange[:30, 0] = 60
    assert plots.strangeness(model, strange, ax=ax) is ax
    assert ax.lines[0].get_xdata()[0] == -model.offset_
    held, shown = (patch.get_data() for patch in ax.patches)
    assert held.values.sum() == pytest.approx(1)
    assert shown.values.sum() == pytest.approx(1)
    found = -model.score_samples(strange)
    beyond = 100 * np.mean(found > -model.offset_)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[0].endswith(f"{100 * model.flagged_share_:.3g} % beyond the line")
    assert labels[1] == f"120 rows: {beyond:.3g} %"
    far = np.searchsorted(shown.edges, found.max() / 3)
    assert shown.values[far - 1 :].sum() == pytest.approx(0.25)
    assert ax.get_xscale() == "log"


def test_rows_held_out_may_be_shown_alone(model, ax):
    plots.strangeness(model, ax=ax)
    assert len(ax.patches) == len(ax.get_legend().get_texts()) == 1


def test_rows_that_are_all_the_same_have_no_logarithm(ax):
    model = LRNNOutlierDetector(random_state=0).fit(np.ones((20, 2)))
    plots.strangeness(model, np.ones((5, 2)), ax=ax)
    assert ax.get_xscale() == "linear"


def test_a_model_must_be_fitted(rows):
    with pytest.raises(NotFittedError):
        plots.strangeness(LRNNOutlierDetector(), rows)
