"""Figures show what they are given."""

import io
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from scipy import sparse
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import NMF
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from lrnn import LRNNAutoencoder, LRNNClassifier, RandomNeuralNetwork, plots
from lrnn.analysis.decisions import EventCurve
from lrnn.analysis.frontiers import Frontier, Point
from lrnn.plots.axes import GROUND
from lrnn.spiking.plan import OBSERVATIONS, OBSERVED
from lrnn.training import LearningCurve
from naming import naming


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    network = RandomNeuralNetwork.from_layers([rng.random((6, 5)) / 6, rng.random((5, 6)) / 5])
    arrivals = network.rates * 0.5 * (np.arange(17) < 6)
    return network.simulate(arrivals, events=100_000, record=[6, 7, 9], random_state=0)


@pytest.fixture(scope="module")
def model(digits):
    return LRNNAutoencoder((6,), max_iter=10, fine_tune=2, random_state=0).fit(digits)


@pytest.fixture
def ax():
    """Axes, rendered after the test: that must not warn either."""
    figure = Figure(layout="constrained")
    yield figure.subplots()
    render(figure)


def render(figure):
    figure.savefig(io.BytesIO(), dpi=50)


def image(ax):
    """What an image shows, NaN where there is the ground."""
    return np.ma.filled(ax.images[0].get_array().astype(float), np.nan)


def curve(errors, *, layer=None, batch_errors=(), seconds=None, iterations=None):
    steps = np.arange(len(errors)) if iterations is None else np.array(iterations)
    times = 0.1 * steps if seconds is None else np.array(seconds, dtype=float)
    return LearningCurve(
        layer, np.array(batch_errors, dtype=float), steps, np.array(errors, dtype=float), times,
        len(errors), "tol",
    )  # fmt: skip


# images


def test_images_are_put_side_by_side_each_on_its_own_scale(ax):
    rows = np.arange(1.0, 5)[:, None] * np.linspace(0, 1, 20 * 30)
    assert plots.image_grid(rows, (20, 30), columns=3, title="four", ax=ax) is ax
    shown = image(ax)
    gap = 2  # 30 / 20, rounded
    assert shown.shape == (2 * 20 + gap, 3 * 30 + 2 * gap)
    for top, left in ((0, 0), (0, 32), (0, 64), (22, 0)):
        np.testing.assert_allclose(shown[top : top + 20, left : left + 30].ravel(), rows[0])
    assert np.isnan(shown[20:22]).all()
    assert np.isnan(shown[22:, 30:]).all()
    assert ax.get_title(loc="left") == "four"


def test_or_on_the_scale_of_all(ax):
    rows = np.full((2, 400), [[0.25], [0.5]])
    shown = image(plots.image_grid(rows, (20, 20), columns=9, own_scale=False, ax=ax))
    assert shown.shape == (20, 41)  # no wider than there are images
    assert (shown[:, :20] == 0.25).all()
    assert (shown[:, 21:] == 0.5).all()


def test_small_images_are_enlarged_so_that_gaps_are_narrow(ax):
    shown = image(plots.image_grid([[1, 2, 3, 4.0]] * 2, (2, 2), columns=1, ax=ax))
    assert shown.shape == (41, 20)
    np.testing.assert_allclose(shown[:20:10, ::10], [[0.25, 0.5], [0.75, 1]])


@pytest.mark.parametrize("planes_first", [False, True])
def test_three_channels_are_colours(ax, rng, planes_first):
    rows = rng.random((3, 20 * 21 * 3))
    pixels = rows.reshape(3, 20, 21, 3)
    shape = (20, 21, 3)
    if planes_first:
        rows, shape = np.moveaxis(pixels, -1, 1).reshape(3, -1), (3, 20, 21)
    shown = np.asarray(plots.parts(rows, shape=shape, columns=2, ax=ax).images[0].get_array())
    assert shown.shape == (41, 43, 3)
    np.testing.assert_allclose(shown[:20, 22:], pixels[1] / pixels[1].max())
    np.testing.assert_allclose(shown[21:, 22:].reshape(-1, 3), np.tile(to_rgb(GROUND), (420, 1)))


def test_levels_and_sparse_rows_are_read_as_the_estimator_reads_them(ax):
    levels = np.array([[0, 51, 102, 255]], dtype=np.uint8)
    shown = image(plots.image_grid(levels, (2, 2), columns=1, own_scale=False, ax=ax))
    np.testing.assert_allclose(shown[::10, ::10].ravel(), [0, 0.2, 0.4, 1])
    rows = sparse.csr_array([[0, 0, 0.5, 1.0]])
    other = Figure().subplots()
    shown = image(plots.image_grid(rows, (2, 2), columns=1, own_scale=False, ax=other))
    np.testing.assert_allclose(shown[::10, ::10].ravel(), [0, 0, 0.5, 1])


@pytest.mark.parametrize(
    ("rows", "options", "named"),
    [
        (np.ones((2, 4)), {"shape": (2, 3)}, ("shape", (2, 3), 6, 4)),
        (np.ones((2, 4)), {"shape": (4,)}, ("shape", "(height, width)", (4,))),
        (np.ones((2, 8)), {"shape": (2, 2, 2)}, ("shape", (2, 2, 2))),
        (np.ones((2, 2, 2)), {"shape": (2, 2)}, ("rows", (2, 2, 2), "rows.reshape(2, -1)")),
        (np.ones((0, 4)), {"shape": (2, 2)}, ("rows", (0, 4))),
        (np.ones((2, 4)), {"shape": (2, 2), "columns": 0}, ("columns", 0)),
    ],
)
def test_what_cannot_be_an_image_is_refused(ax, rows, options, named):
    with pytest.raises(ValueError, match=naming(*named)):
        plots.image_grid(rows, **{"columns": 1, **options}, ax=ax)


def test_what_is_no_number_is_refused(ax):
    with pytest.raises(TypeError, match=naming("rows", "list")):
        plots.image_grid([["a", "b"]], (1, 2), columns=1, ax=ax)


def test_hidden_neurons_that_fill_no_rectangle(ax):
    assert plots.layer_image(np.linspace(0, 1, 5), ax=ax) is ax
    shown = image(ax)
    assert shown.shape == (2, 3)
    np.testing.assert_allclose(shown.ravel()[:5], np.linspace(0, 1, 5))
    assert np.isnan(shown[1, 2])


# parts and reconstructions


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (7, 3), (16, 4), (32, 8), (50, 10)])
def test_parts_fill_their_lines_where_that_is_possible(ax, count, columns):
    shown = image(plots.parts(np.ones((count, 400)), shape=(20, 20), ax=ax))
    assert shown.shape == (21 * -(-count // columns) - 1, 21 * columns - 1)


def test_parts_as_images(model, ax):
    plots.parts(model, shape=(8, 8), ax=ax)  # six: two lines of three
    shown = image(ax)
    assert shown.shape == (2 * 24 + 1, 3 * 24 + 2)
    fifth = model.components_[4].reshape(8, 8)
    np.testing.assert_allclose(shown[25::3, 25:49:3], fifth / fifth.max())


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7])
def test_parts_of_any_number_also_those_of_zero_weight(ax, count):
    weights = np.ones((count, 4))
    weights[-1] = 0
    shown = image(plots.parts(weights, shape=(2, 2), ax=ax))
    assert np.isfinite(shown).sum() == count * 400
    assert np.nansum(shown) == (count - 1) * 400
    table = image(plots.parts(weights, ax=Figure().subplots()))
    np.testing.assert_array_equal(table, weights)


def test_parts_of_a_table_are_a_heat_map_with_names(ax):
    rows = np.random.default_rng(0).random((30, 5))
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d", "a very long name of an attribute"])
    model = LRNNAutoencoder((3,), max_iter=5).fit(frame)
    plots.parts(model, ax=ax)
    expected = model.components_ / model.components_.max(axis=1, keepdims=True)
    np.testing.assert_allclose(image(ax), expected)
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["a", "b", "c", "d", "a very long name of an …"]
    assert list(ax.get_yticks()) == [0, 1, 2]
    other = plots.parts(model.components_, names=list("vwxyz"), ax=Figure().subplots())
    assert [label.get_text() for label in other.get_xticklabels()] == list("vwxyz")
    with pytest.raises(ValueError, match=naming("names", 2, 5)):
        plots.parts(model, names=["a", "b"], ax=ax)


def test_labels_are_thinned_where_they_would_not_fit(ax):
    plots.parts(np.ones((100, 300)), ax=ax)
    ticks = ax.get_xticks()
    assert 10 < len(ticks) < 60
    assert [t.get_text() for t in ax.get_xticklabels()] == [str(int(t)) for t in ticks]
    assert len(set(np.diff(ticks))) == 1
    assert len(ax.get_yticks()) < 40


def test_parts_of_other_factorisations(digits, ax):
    nmf = NMF(4, max_iter=500, tol=1e-2, init="nndsvd").fit(digits[:100])
    shown = image(plots.parts(nmf, shape=(8, 8), ax=ax))
    first = nmf.components_[0].reshape(8, 8)
    np.testing.assert_allclose(shown[:24:3, :24:3], first / first.max())


def test_models_that_cannot_be_drawn_are_refused(model, digits, ax):
    with pytest.raises(NotFittedError):
        plots.parts(LRNNAutoencoder(), ax=ax)
    with pytest.raises(NotFittedError):
        plots.learning_curves(LRNNAutoencoder(), ax=ax)
    with pytest.raises(NotFittedError):
        plots.firing_rates(LRNNAutoencoder(), ax=ax)
    pipeline = make_pipeline(MinMaxScaler(), LRNNAutoencoder((2,), max_iter=2)).fit(digits)
    with pytest.raises(TypeError, match=naming("Pipeline", "components_", "LRNNAutoencoder")):
        plots.parts(pipeline, ax=ax)
    with pytest.raises(TypeError, match=naming("Pipeline", "history_", "LRNNAutoencoder")):
        plots.learning_curves(pipeline, ax=ax)


def test_images_stand_above_their_reconstructions_on_the_same_scale(digits, model, ax):
    given, made = digits[:5], model.reconstruct(digits[:5])
    plots.reconstructions(given, made, shape=(8, 8), columns=3, ax=ax)
    shown = image(ax)
    tops = [0, 25, 52, 77]  # two more pixels between pairs
    assert shown.shape == (77 + 24, 3 * 24 + 2)
    for top, rows in zip(tops, (given[:3], made[:3], given[3:], made[3:]), strict=True):
        for i, row in enumerate(rows):
            small = shown[top : top + 24 : 3, 25 * i : 25 * i + 24 : 3]
            np.testing.assert_allclose(small.ravel(), row)
    assert np.isnan(shown[52:, 50:]).all()
    np.testing.assert_allclose(ax.get_yticks(), np.array(tops) + 11.5)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["data", "output"] * 2


def test_of_a_table_each_value_is_a_point(ax, rng):
    given = pd.DataFrame(rng.random((20, 3)), columns=["x", "y", "z"])
    made = given.to_numpy() + np.array([0.0, 0.1, -0.3])
    plots.reconstructions(given, made, ax=ax)
    for i, name in enumerate(given):
        line = ax.lines[i]
        assert line.get_label() == name
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([given[name], made[:, i]]))
    assert ax.get_xlim() == ax.get_ylim()
    assert re.search(naming("RMSE", f"{np.sqrt(0.1 / 3):.3g}", 0.3, "z"), ax.texts[0].get_text())
    np.testing.assert_array_equal(ax.lines[3].get_xdata(), ax.lines[3].get_ydata())


def test_many_attributes_are_drawn_together_and_many_rows_thinned(ax, rng):
    given = rng.random((10_000, 20))
    plots.reconstructions(given, given + 0.1, ax=ax)
    assert len(ax.lines) == 2
    np.testing.assert_allclose(ax.lines[0].get_xdata(), given[::4].ravel())
    assert re.search(naming("RMSE", 0.1, "attribute"), ax.texts[0].get_text())


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("shape", [None, (1, 4)])
def test_one_constant_row(ax, value, shape):
    plots.reconstructions(np.full((1, 4), value), np.full((1, 4), value), shape=shape, ax=ax)


def test_reconstructions_are_of_the_same_rows(ax):
    with pytest.raises(ValueError, match=naming("originals", "3 × 4", "outputs", "2 × 4")):
        plots.reconstructions(np.ones((3, 4)), np.ones((2, 4)), ax=ax)


def test_an_overview_of_images(digits, model):
    figure = plots.overview(model, digits, shape=(8, 8), bounds={"none": 1e-3})
    render(figure)
    left, middle, right = figure.axes
    assert image(left).shape[0] == 4 * (24 + 1 + 24) + 3 * 3
    small = image(left)[-24::3, -24::3]
    np.testing.assert_allclose(small.ravel(), model.reconstruct(digits[39:40])[0])
    assert "6" in middle.get_title(loc="left")
    assert right.texts[0].get_text() == "none"
    np.testing.assert_allclose(right.lines[0].get_ydata(), model.history_[0].errors)


def test_an_overview_of_a_table():
    model = LRNNAutoencoder((1,), max_iter=3).fit(np.eye(3))
    figure = plots.overview(model, np.eye(3), curves={"mine": model, "again": model})
    render(figure)
    assert len(figure.axes[0].lines) == 4  # three attributes and the diagonal
    assert figure.axes[-2].get_legend() or figure.axes[-1].get_legend()


# learning curves


def test_stages_of_a_model_follow_one_another(model, ax):
    assert plots.learning_curves(model, ax=ax) is ax
    first, tuned = model.history_
    assert len(ax.lines) == 3  # full-batch steps have no errors of minibatches
    full, thin, thick = ax.lines
    np.testing.assert_allclose(full.get_xydata(), np.column_stack([range(11), first.errors]))
    np.testing.assert_allclose(thick.get_xydata().T, [10 + tuned.iterations, tuned.errors])
    np.testing.assert_allclose(thin.get_ydata(), tuned.batch_errors)
    np.testing.assert_allclose(thin.get_xdata(), 10 + np.arange(1, len(tuned.batch_errors) + 1))
    assert thin.get_linewidth() < thick.get_linewidth()
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["gram solver", "end to end"]
    assert ax.get_yscale() == "log"


def test_curves_against_seconds(ax):
    stages = [
        curve([4, 2, 1], batch_errors=[2, 1], seconds=[0, 2, 3]),
        curve([3, 1], batch_errors=[5, 3, 2, 1], iterations=[2, 4], seconds=[1, 2]),
    ]
    plots.learning_curves({"a": stages}, against="seconds", ax=ax)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [0, 2, 3])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [3.5, 4, 4.5, 5])
    np.testing.assert_allclose(ax.lines[2].get_xdata(), [4, 5])
    assert "seconds" in ax.get_xlabel()


@pytest.mark.parametrize("form", ["mapping", "pairs", "generator"])
def test_models_are_compared_by_name(model, ax, form):
    one = curve([3, 2])
    runs = {"a": model, "b": one, "c": [one, one]}
    given = {"mapping": runs, "pairs": list(runs.items()), "generator": iter(runs.items())}[form]
    plots.learning_curves(given, ax=ax)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b", "c"]
    *_, b, c, again = ax.lines
    assert c.get_color() == again.get_color() != b.get_color()
    np.testing.assert_allclose(again.get_xdata(), [1, 2])


def test_a_single_curve_or_a_history_needs_no_name(ax):
    plots.learning_curves(curve([3, 2]), ax=ax)
    assert ax.get_legend() is None
    plots.learning_curves([curve([3, 2], layer=1), curve([5, 4], layer=2)], ax=ax)
    assert [line.get_label() for line in ax.lines[1:]] == ["layer pair 1", "layer pair 2"]


def test_more_curves_than_colours_can_still_be_told_apart(ax):
    plots.learning_curves({str(i): curve([i + 2, i + 1]) for i in range(20)}, ax=ax)
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 20


def test_bounds_are_lines_with_labels(ax):
    plots.learning_curves(curve([3, 2]), bounds={"best": 0.5, "nothing": 0.0}, ax=ax)
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), 0.5)
    assert [text.get_text() for text in ax.texts] == ["best"]
    assert ax.get_ylim()[0] < 0.5


@pytest.mark.parametrize("errors", [[0, 0], [0], [1, 0], [1e-3, 1e-3], [1, 1e-12], [1e-9, 2e-9]])
def test_errors_of_zero_and_constant_ones(ax, errors):
    plots.learning_curves(curve(errors), bounds={"least": 0.0}, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), errors)


def test_constant_data(ax):
    model = LRNNAutoencoder((2,), random_state=0, fine_tune=1).fit(np.full((5, 4), 0.5))
    render(plots.overview(model, np.full((5, 4), 0.5), shape=(2, 2)))
    plots.firing_rates(model, ax=ax)


def test_no_curves_and_no_such_axis_are_refused(ax):
    with pytest.raises(ValueError, match="learning curves"):
        plots.learning_curves({}, ax=ax)
    with pytest.raises(ValueError, match=naming("against", "iterations", "seconds", "hours")):
        plots.learning_curves(curve([1]), against="hours", ax=ax)


def test_contenders_side_by_side(ax):
    many = [(float(i), 1 / i) for i in range(1, 30)]
    assert plots.error_against_time({"lrnn": many, "$peer": [(2.0, 0.5)]}, ax=ax) is ax
    np.testing.assert_array_equal(np.transpose(ax.lines[0].get_data()), many)
    assert ax.lines[0].get_markevery() == [-1]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["lrnn", r"\$peer"]
    ax = plots.time_against_size({"lrnn": [(10, 0.1), (20, 0.1)]}, size="events", ax=ax)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("events", "seconds")
    with pytest.raises(ValueError, match="no points"):
        plots.error_against_time({"lrnn": []}, ax=ax)


# firing rates and codes


def test_firing_rates_layer_by_layer(digits, ax):
    model = LRNNAutoencoder((12, 5), max_iter=5, random_state=0).fit(digits)
    assert plots.firing_rates(model, ax=ax) is ax
    silent = [int((w.sum(axis=1) == 0).sum()) for w in (*model.encoders_, *model.decoders_)]
    assert silent[0] > 0  # pixels that are always white
    layers = ax.patches
    assert len(layers) == 4
    assert re.search(naming("input", 64, f"{silent[0]} silent"), layers[0].get_label())
    assert re.search(naming("hidden 2", 5), layers[2].get_label())
    for layer, rates, count in zip(layers, model.firing_rates_, silent, strict=False):
        shares, edges, _ = layer.get_data()
        assert shares.sum() == pytest.approx(1)
        if count == 0:
            np.testing.assert_allclose(shares, np.histogram(rates, edges)[0] / len(rates))
    assert re.search(naming("output", 64, 1), ax.lines[0].get_label())
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize("rates", ["free", "unit"])
def test_firing_rates_of_data_that_are_all_zero(ax, rates):
    model = LRNNAutoencoder((2,), rates=rates, max_iter=2, random_state=0).fit(np.zeros((4, 3)))
    plots.firing_rates(model, ax=ax)
    assert len(ax.patches) == 2


def test_codes_and_how_many_are_zero(ax):
    codes = np.array([[0, 0.001, 0.5, 1], [0, 0, 0.5, 0.9]])
    assert plots.codes(codes, ax=ax) is ax
    shares, edges, _ = ax.patches[0].get_data()
    np.testing.assert_allclose(shares, np.histogram(codes, edges)[0] / 8)
    assert shares[0] == 0.5
    assert re.search(naming("50 %", 0.01, "2 of 4"), ax.get_title("right"))


@pytest.mark.parametrize("value", [0, 0.5, 1, 3])
def test_codes_that_are_all_the_same(ax, value):
    plots.codes(np.full((1, 3), value), ax=ax)
    assert max(ax.patches[0].get_data().values) == 1


# networks


def weights_of(network):
    """Rates × probabilities, excitatory and inhibitory."""
    both = (network.excitatory, network.inhibitory)
    dense = [np.zeros(network.excitatory.shape) if p is None else p for p in both]
    return [network.rates[:, None] * (p.toarray() if sparse.issparse(p) else p) for p in dense]


def lines_of(ax):
    """Drawn weights of layers: by kind the neurons' places, and the widths."""
    found = {c.get_label(): c for c in ax.collections if isinstance(c, LineCollection)}
    return {name: (c.get_segments(), c.get_linewidths()) for name, c in found.items()}


def circles_of(ax):
    """Places, areas and fillings of all neurons."""
    drawn = [c for c in ax.collections if isinstance(c, PathCollection) and len(c.get_facecolors())]
    drawn = [c for c in drawn if c.get_zorder() == 3]
    places = np.concatenate([c.get_offsets() for c in drawn])
    faces = np.concatenate(
        [np.resize(c.get_facecolors(), (len(c.get_offsets()), 4)) for c in drawn]
    )
    return places, np.concatenate([c.get_sizes() for c in drawn]), faces


def said(ax):
    """All that is written in a figure."""
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    return [text.get_text() for text in ax.texts] + ticks + legend


def shows(ax, *parts):
    """Whether one of the texts in a figure names all of these."""
    return any(re.search(naming(*parts), text) for text in said(ax))


@pytest.fixture(scope="module")
def wine():
    frame = load_wine(as_frame=True).data
    scaled = MinMaxScaler(clip=True).set_output(transform="pandas").fit_transform(frame)
    return LRNNAutoencoder((7,), random_state=0).fit(scaled)


def test_of_a_small_network_every_weight_is_a_line_and_every_neuron_has_its_place(wine, ax):
    assert plots.network(wine, ax=ax) is ax
    plus, _ = weights_of(wine.to_network(least_rate=0))
    source, target = np.nonzero(plus)
    segments, widths = lines_of(ax)["excitatory"]
    assert len(segments) == len(source)
    places, *_ = circles_of(ax)
    np.testing.assert_array_equal(places[:, 0], np.repeat([0, 1, 2], [13, 7, 13]))
    assert len(np.unique(places.round(9), axis=0)) == 33
    drawn = {tuple(np.ravel(ends).round(9)): w for ends, w in zip(segments, widths, strict=True)}
    expected = [
        tuple(np.ravel(places[[i, j]]).round(9)) for i, j in zip(source, target, strict=True)
    ]
    assert set(drawn) == set(expected)
    for first in (True, False):  # wider lines are larger weights
        mine = (source < 13) == first
        ordered = [drawn[e] for e, m in zip(expected, mine, strict=True) if m]
        by_weight = np.argsort(plus[source, target][mine])
        assert (np.diff(np.array(ordered)[by_weight]) >= 0).all()
    assert shows(ax, "excitatory", "all", len(source))


def test_layers_and_attributes_are_named(wine, ax):
    plots.network(wine, ax=ax)
    names = list(wine.feature_names_in_)
    names[11] = "od280/od315_of_diluted_…"
    assert said(ax)[:26] == names + names
    for layer, count in (("input", 13), ("hidden", 7), ("output", 13)):
        assert shows(ax, layer, count)
    other = plots.network(wine, names=list("abcdefghijklm"), ax=Figure(figsize=(6, 5)).subplots())
    assert said(other)[:26] == list("abcdefghijklm") * 2
    part = plots.network(wine.to_network(part="decoder"), ax=Figure(figsize=(6, 5)).subplots())
    assert shows(part, "code", 7)
    assert shows(part, "output", 13)


def test_circles_are_the_larger_the_faster_neurons_fire(wine, ax):
    plots.network(wine, ax=ax)
    _, areas, _ = circles_of(ax)
    rates = np.concatenate(wine.firing_rates_)
    np.testing.assert_allclose(areas / areas.max(), rates / rates.max())  # none is so low
    assert shows(ax, "rate", f"{rates.min():.2g}", f"{rates.max():.2g}")
    assert not shows(ax, "logarithm")


def test_rates_of_many_decades_are_shown_by_their_logarithms(ax):
    rates = 10.0 ** np.arange(-2, 9)
    plots.network(RandomNeuralNetwork(rates, np.zeros((11, 11))), ax=ax)
    _, areas, _ = circles_of(ax)
    assert (np.diff(areas[1:]) > 0).all()
    np.testing.assert_allclose(np.diff(areas[1:]), areas[-1] - areas[-2])
    assert areas[-1] / areas[0] == pytest.approx(10)
    assert shows(ax, "logarithm", 0.055, "2,300", "1.0e+08")


def test_one_rate_that_is_far_lower_does_not_make_all_others_look_alike(ax):
    plots.network(RandomNeuralNetwork([1e-9, 1, 2, 3, 4], np.zeros((5, 5))), ax=ax)
    _, areas, _ = circles_of(ax)
    np.testing.assert_allclose(areas / areas[-1], [0.1, 0.25, 0.5, 0.75, 1])
    assert shows(ax, "rate", 0.4, 1.3, 4)


def test_of_a_large_network_the_strongest_are_drawn_and_counted(ax, rng):
    weights = [rng.random((80, 20)), rng.random((20, 80))]
    weights[0][70, 3] = weights[1][5, 41] = 9
    network = RandomNeuralNetwork.from_layers(weights)
    plots.network(network, neurons=12, lines=40, ax=ax)
    segments, widths = lines_of(ax)["excitatory"]
    assert len(segments) == 40
    assert sum(ends[0][0] == 0 for ends in segments) == 20  # as many between each two layers
    assert sorted(widths)[-2:] == pytest.approx([2.5, 2.5])
    places, *_ = circles_of(ax)
    assert len(places) == 36
    assert shows(ax, "excitatory", "40 of 3,200")
    assert shows(ax, "input", 80, "12 shown")
    assert said(ax).count("⋮") == 3
    plus, _ = weights_of(network)
    assert shows(ax, "widest", f"{float(f'{plus[70, 83]:.2g}'):g}")
    assert shows(ax, "widest", 9)
    plots.network(network, neurons=20, lines=3200, ax=(other := Figure().subplots()))
    assert shows(other, "hidden", 20, "all shown")
    assert len(lines_of(other)["excitatory"][0]) == 2 * 20 * 20  # all between those shown


def test_weights_left_out_are_no_stronger_than_those_drawn(ax, rng):
    network = RandomNeuralNetwork.from_layers([rng.random((6, 5)), rng.random((5, 6))])
    plots.network(network, lines=20, ax=ax)
    plus, _ = weights_of(network)
    places, *_ = circles_of(ax)
    drawn = {tuple(np.ravel(ends).round(9)) for ends in lines_of(ax)["excitatory"][0]}
    for rows in (range(6), range(6, 11)):
        is_drawn = {(i, j): tuple(np.ravel(places[[i, j]]).round(9)) in drawn
                    for i in rows for j in np.flatnonzero(plus[i])}  # fmt: skip
        assert sum(is_drawn.values()) == 10
        least = min(plus[e] for e, yes in is_drawn.items() if yes)
        assert all(plus[e] <= least for e, yes in is_drawn.items() if not yes)


def test_inhibitory_weights_are_dashed_end_in_a_bar_and_are_counted(ax):
    plus, minus = np.array([[0.5, 1], [0, 2]]), np.array([[0, 0.3], [0.2, 0.1]])
    network = RandomNeuralNetwork.from_layers([plus], [minus])
    plots.network(network, ax=ax)
    lines = lines_of(ax)
    assert [len(lines[name][0]) for name in ("excitatory", "inhibitory")] == [3, 3]
    by_name = {c.get_label(): c for c in ax.collections if isinstance(c, LineCollection)}
    looks = [by_name[name].get_linestyle()[0][1] for name in ("excitatory", "inhibitory")]
    assert looks[0] is None
    assert len(looks[1]) == 2
    colours = [to_rgb(by_name[name].get_colors()[0][:3]) for name in lines]
    assert colours[0] != colours[1]
    bars = [c for c in ax.collections if isinstance(c, PathCollection) and c.get_zorder() == 2]
    assert len(bars[0].get_offsets()) == 3
    assert all(shows(ax, kind, "all 3") for kind in lines)


def test_a_model_with_inhibition(ax, rng):
    model = LRNNAutoencoder((2,), inhibition=True, max_iter=5, random_state=0).fit(
        rng.random((9, 4))
    )
    plots.network(model, ax=ax)
    plus, minus = weights_of(model.to_network(least_rate=0))
    lines = lines_of(ax)
    assert len(lines["excitatory"][0]) == (plus > 0).sum()
    assert len(lines["inhibitory"][0]) == (minus > 0).sum() > 0


def test_a_network_with_feedback_is_a_circle_with_arrows_and_loops(ax):
    plus = np.array([[0.2, 0.5, 0], [0, 0, 0.6], [0.4, 0, 0]])
    minus = np.array([[0, 0, 0.3], [0, 0.1, 0], [0, 0.2, 0]])
    network = RandomNeuralNetwork([1, 2, 0], plus, minus)
    plots.network(network, ax=ax)
    arrows = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    kinds = [arrow.get_label() for arrow in arrows]
    assert (kinds.count("excitatory"), kinds.count("inhibitory")) == (3, 2)  # rate 0 sends nothing
    places, _, faces = circles_of(ax)
    np.testing.assert_allclose(np.hypot(*places.T), 1)
    assert said(ax)[:3] == ["0", "1", "2"]
    assert shows(ax, "widest", 1.2)
    assert shows(ax, "silent")
    assert [face[0] == 1 for face in faces] == [False, False, True]
    names = plots.network(network, names=["a", "b", "$c"], ax=Figure().subplots())
    assert said(names)[:3] == ["a", "b", r"\$c"]


def test_layers_with_other_connections_are_a_circle(ax):
    back = RandomNeuralNetwork([1, 1, 1], np.diag([0.5, 0.5], 1), np.diag([0.2, 0.2], -1),
                               layer_sizes=(1, 2))  # fmt: skip
    plots.network(back, ax=ax)
    assert len(ax.patches) == 4
    assert lines_of(ax) == {}


def test_silent_neurons_are_hollow(ax):
    network = RandomNeuralNetwork.from_layers([[[1.0], [0.0]], [[0.5, 0.5]]])
    plots.network(network, ax=ax)
    *_, faces = circles_of(ax)
    assert [face[0] == 1 for face in faces] == [False, True, False, False, False]
    assert shows(ax, "silent")


@pytest.mark.parametrize("rates", ["free", "unit"])
def test_networks_of_data_that_are_all_zero_and_of_one_neuron(ax, rates):
    model = LRNNAutoencoder((2,), rates=rates, max_iter=2, random_state=0).fit(np.zeros((4, 3)))
    plots.network(model, ax=ax)
    plots.network(RandomNeuralNetwork([1.0], [[0.5]]), ax=(other := Figure().subplots()))
    render(other.figure)
    assert len(other.patches) == 1


def test_labels_do_not_overlap(wine):
    names = [f"attribute {i}" for i in range(60)]
    deep = LRNNAutoencoder((40, 20), max_iter=2, random_state=0)
    deep.fit(pd.DataFrame(np.random.default_rng(0).random((70, 60)), columns=names))
    ring = RandomNeuralNetwork(np.ones(30), np.eye(30) / 2)
    for given in (wine, deep, ring):
        ax = plots.network(given)
        ax.figure.canvas.draw()
        legend = ax.get_legend().get_texts()
        texts = [t for t in [*ax.texts, *ax.get_xticklabels(), *legend] if t.get_text()]
        boxes = [text.get_window_extent() for text in texts]
        for i, box in enumerate(boxes):
            over = [texts[j].get_text() for j in range(i) if box.overlaps(boxes[j])]
            assert not over, (texts[i].get_text(), over)
        whole = ax.figure.bbox
        assert all(whole.x0 <= b.x0 and b.x1 <= whole.x1 and whole.y0 <= b.y0 for b in boxes)
        plt.close(ax.figure)


def test_what_is_no_network_is_refused(digits, ax):
    with pytest.raises(NotFittedError):
        plots.network(LRNNAutoencoder(), ax=ax)
    pipeline = make_pipeline(MinMaxScaler(), LRNNAutoencoder((2,), max_iter=2)).fit(digits)
    with pytest.raises(TypeError, match=naming("Pipeline", "RandomNeuralNetwork")):
        plots.network(pipeline, ax=ax)
    network = RandomNeuralNetwork.from_layers([np.ones((3, 2))])
    with pytest.raises(ValueError, match=naming("names", 2, "3 neurons")):
        plots.network(network, names=["a", "b"], ax=ax)
    with pytest.raises(ValueError, match=naming("lines", 0)):
        plots.network(network, lines=0, ax=ax)


# simulations


def test_layers_as_computed_and_as_simulated(result):
    figure = plots.simulated_layers(result, (10_000, 100_000), shape=(2, 3))
    render(figure)
    grid = np.array(figure.axes).reshape(3, 3)
    for panel, events in zip(grid[0, 1:], ("10,000 events", "100,000 events"), strict=True):
        assert events in panel.get_title()
    assert [a.get_ylabel() for a in grid[:, 0]] == ["input", "hidden", "output"]
    np.testing.assert_allclose(image(grid[2, 0]).ravel(), np.asarray(result.steady)[11:])
    np.testing.assert_allclose(image(grid[0, 2]).ravel(), result.activation()[:6])
    error = result.compare().errors[-1, 1]
    assert f"{error:.4f}" in grid[1, 2].get_xlabel()


def test_layers_of_a_table_are_bars_with_names(result):
    names = np.array([f"column {i}" for i in range(6)])
    figure = plots.simulated_layers(result, (10_000, 100_000), names=names)
    render(figure)
    grid = np.array(figure.axes).reshape(3, 3)
    for line in (0, 2):
        assert [t.get_text() for t in grid[line, 0].get_yticklabels()] == list(names)
        assert grid[line, 1].get_yticklabels() == []
    np.testing.assert_allclose(
        [bar.get_width() for bar in grid[2, 0].patches], np.asarray(result.steady)[11:]
    )
    np.testing.assert_allclose(
        [bar.get_width() for bar in grid[0, 2].patches], result.activation()[:6]
    )
    np.testing.assert_allclose(grid[0, 2].lines[0].get_xdata(), np.asarray(result.steady)[:6])
    assert [t.get_text() for t in grid[1, 0].get_yticklabels()] == list("12345")


@pytest.mark.filterwarnings("ignore:.*too short")
def test_layers_as_far_as_the_simulation_has_come(result):
    figure = plots.simulated_layers(result)
    assert "100,000 events" in figure.axes[2].get_title()
    assert len(figure.axes) == 9
    short = result.network.simulate(result.network.rates, time=30.5, random_state=0)
    figure = plots.simulated_layers(short, estimator="busy")
    assert "30.5" in figure.axes[1].get_title()
    np.testing.assert_allclose(image(figure.axes[1]).ravel(), short.activation("busy")[:6])


def test_layers_of_colour_images():
    weights = [np.full((12, 2), 0.05), np.full((2, 12), 0.5)]
    network = RandomNeuralNetwork.from_layers(weights)
    arrivals = np.append(network.rates[:12] * np.linspace(0, 0.9, 12), np.zeros(14))
    simulation = network.simulate(arrivals, events=10_000, random_state=0)
    shown = plots.simulated_layers(simulation, shape=(2, 2, 3)).axes[0].images[0].get_array()
    np.testing.assert_allclose(np.asarray(shown), np.linspace(0, 0.9, 12).reshape(2, 2, 3))


def test_a_network_without_layers_is_one_layer(random_network, ax):
    network, plus, minus = random_network(0)
    result = network.simulate(plus, minus, events=20_000, record=[1, 3], random_state=0)
    figure = plots.simulated_layers(result, (10_000,))
    assert [a.get_ylabel() for a in figure.axes] == ["all", ""]
    plots.raster(result, ax=ax)
    assert ax.get_ylabel() == "neuron"
    assert [t.get_text() for t in ax.get_yticklabels()] == ["1", "3"]


def test_one_of_many_rows(result):
    network = result.network
    rows = np.stack([network.rates * (np.arange(17) < 6) * f for f in (0.2, 0.7)])
    many = network.simulate(rows, events=20_000, random_state=0)
    figure = plots.simulated_layers(many, (20_000,), row=1)
    np.testing.assert_allclose(image(figure.axes[0]).ravel()[:6], 0.7)
    with pytest.raises(ValueError, match=naming("row", 2, "2 rows")):
        plots.simulated_layers(many, (20_000,), row=2)


def test_convergence_has_a_line_for_each_estimator(result, ax):
    assert plots.convergence(result, layer="hidden", ax=ax) is ax
    labels = [line.get_label() for line in ax.lines]
    assert labels == ["potential", "busy", "arrivals", "1/√events"]
    drawn = ax.lines[1].get_xydata()
    found = result.compare(estimator="busy")
    np.testing.assert_allclose(drawn, np.column_stack([found.events, found.errors[:, 1]]))
    slope = np.diff(np.log(ax.lines[3].get_xydata()), axis=0)[0]
    assert slope[1] / slope[0] == pytest.approx(-0.5)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.get_ylabel() == "RMSE, hidden layer"


@pytest.mark.filterwarnings("ignore:.*too short")
def test_convergence_of_what_was_never_seen_or_is_never_wrong(result, ax):
    with pytest.raises(ValueError, match=naming("layer", "input", "hidden", "output", "code")):
        plots.convergence(result, layer="code", ax=ax)
    network = result.network
    short = network.simulate(network.rates, events=500, random_state=0)
    counts, sums = short._counts.copy(), short._sums.copy()
    counts[:, OBSERVATIONS] = sums[:, OBSERVED] = 0
    short = replace(short, _counts=counts, _sums=sums)  # as if it had never been observed
    with pytest.raises(ValueError, match=naming("potential", "observe_every")):
        plots.convergence(short, estimators=["potential"], ax=ax)
    plots.convergence(short, ax=ax)
    assert [line.get_label() for line in ax.lines] == ["busy", "arrivals", "1/√events"]
    other = Figure()
    silent = RandomNeuralNetwork([1, 1], np.zeros((2, 2))).simulate([0.5, 0], events=2_000)
    plots.convergence(silent, ax=other.subplots())
    render(other)


@pytest.mark.filterwarnings("ignore:.*too short")
def test_a_raster_has_a_tick_for_every_spike(result, ax):
    assert plots.raster(result, ax=ax) is ax
    ticks = ax.lines[0].get_xydata()
    assert len(ticks) == result.firing_counts[[6, 7, 9]].sum()
    assert set(ticks[:, 1]) == {0, 1, 2}
    np.testing.assert_allclose(np.sort(ticks[:, 0]), result.raster.times)
    assert ax.get_ylabel() == "hidden neuron"
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1", "3"]
    assert ax.get_xlim() == (0, result.time)
    silent = result.network.simulate(np.ones(17), events=10, random_state=0)
    with pytest.raises(ValueError, match=naming("record=")):
        plots.raster(silent, ax=ax)


@pytest.mark.filterwarnings("ignore:.*too short")
def test_a_raster_of_several_layers(result, ax):
    network = result.network
    arrivals = network.rates * 0.5 * (np.arange(17) < 6)
    run = network.simulate(
        arrivals, time=50, record=[0, 5, 6, 16], replicas=4, random_state=0, threads=1
    )
    plots.raster(run, ax=ax)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["input", "hidden", "output"]
    assert len({line.get_color() for line in ax.lines[:3]}) == 3
    np.testing.assert_allclose(ax.get_yticks(), [0.5, 2, 3])
    assert sum(len(line.get_xdata()) for line in ax.lines[:3]) == len(run.raster.of(0, 0))
    assert ax.get_xlim() == (0, 50)  # that of the first run


@pytest.mark.filterwarnings("ignore:.*too short")
def test_a_raster_of_one_run_of_many(result, ax):
    network = result.network
    rows = np.stack([network.rates * (np.arange(17) < 6) * f for f in (0.2, 0.7)])
    many = network.simulate(rows, events=2_000, replicas=3, record=[6, 7], random_state=0)
    plots.raster(many, row=1, replica=2, ax=ax)
    run = many.raster.of(1, 2)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), run.times)
    assert ax.get_xlim() == (0, run.durations[0])
    with pytest.raises(ValueError, match=naming("replica", 3, 0, 2)):
        plots.raster(many, replica=3)


def test_layers_of_parts_of_a_model(digits):
    """The code has neither the shape nor the names of the data, even if it is as wide."""
    X = digits[:50, 20:24]
    model = LRNNAutoencoder((4,), max_iter=5).fit(X)
    for part, code in (("encoder", 1), ("decoder", 0)):
        network = model.to_network(part=part)
        result = network.simulate(model.arrivals(X[:1], network)[0], events=1e4, random_state=0)
        shown = plots.simulated_layers(result, names=["a", "b", "c", "d"])
        labels = [t.get_text() for t in shown.axes[2 * code].get_yticklabels()]
        assert sorted(labels) == ["1", "2", "3", "4"]
        assert shown.axes[2 * code].get_ylabel() == "code"
        plots.simulated_layers(result, shape=(1, 4))


def test_a_raster_without_spikes(ax):
    network = RandomNeuralNetwork([1, 1], np.zeros((2, 2)))
    plots.raster(network.simulate([0.5, 0], events=10, record=[1], random_state=0), ax=ax)
    assert len(ax.lines[0].get_xdata()) == 0


# error against spikes


@pytest.mark.parametrize("close", [0.0158, 0.0159, 0.0165, 0.017])
def test_names_of_close_lines_do_not_overlap(close):
    points = (
        Point(None, 0.024, None, 50.0),
        Point(1e-7, 0.016, None, 5e3),
        Point(0.0, close, None, 1e9),
    )
    figure = Figure(figsize=(4.8, 3.4), dpi=100, layout="constrained")
    ax = figure.add_subplot()
    known = {"one": 0.0157, "two": 0.0162, "three": 0.021}
    plots.frontier(Frontier(((64, 8),), points, svd=0.0158, seconds=1.0), known=known, ax=ax)
    figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert sum(len(text.get_text().split("\n")) for text in ax.texts) == 5
    for below, above in pairwise(boxes):
        assert below.y1 <= above.y0 + 1


def test_accuracy_against_events(ax):
    events = np.array([10, 100, 1_000])
    right = np.array([[0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0]], dtype=bool)
    curve = EventCurve(events, right, right, ~right, 0.8, expected=np.array([0.2, 0.4, 0.7]))
    plots.accuracy_by_events(curve, ax=ax)
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_array_equal(lines["simulated"].get_xdata(), events)
    np.testing.assert_array_equal(lines["simulated"].get_ydata(), [0.25, 0.5, 0.75])
    np.testing.assert_array_equal(lines["by theory, in steady state"].get_ydata(), [0.2, 0.4, 0.7])
    assert ax.get_xscale() == "log"
    assert [line.get_ydata()[0] for line in ax.get_lines() if line.get_linestyle() == ":"] == [0.8]


def test_several_curves_of_accuracy_and_where_rules_stop(ax):
    right = np.ones((2, 3), dtype=bool)
    curve = EventCurve(np.array([10, 100]), right, right, ~right, 1.0, expected=np.ones(2))
    plots.accuracy_by_events(
        {"$a": curve, "b": curve}, stops={"b": (50, 0.9), "c": (20, 0.8)}, ax=ax
    )
    labels = ax.get_legend_handles_labels()[1]
    assert labels == [r"\$a", "b", "c"]  # theory only beside a single curve
    stars = [line for line in ax.get_lines() if line.get_marker() == "*"]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in stars] == [(50, 0.9), (20, 0.8)]
    of_b = next(line for line in ax.get_lines() if line.get_label() == "b")
    assert stars[0].get_color() == of_b.get_color()


def test_a_frontier_and_what_it_is_compared_with(ax):
    points = (
        Point(1e-5, 0.03, 0.031, 50.0),
        Point(None, 0.028, 0.029, 60.0),
        Point(1e-7, 0.02, 0.022, 5_000.0),
        Point(0.0, 0.01, 0.012, 1e19),
    )
    found = Frontier(((64, 8),), points, svd=0.015, seconds=1.0)
    plots.frontier(found, known={"somebody": 0.04}, point=(300.0, 0.025), ax=ax)
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_array_equal(lines["with inhibition"].get_xdata(), [50, 5_000])
    np.testing.assert_array_equal(lines["on test data"].get_ydata(), [0.031, 0.022])
    np.testing.assert_array_equal(lines["excitatory"].get_xydata(), [[60, 0.028]])
    np.testing.assert_array_equal(lines["this model"].get_xydata(), [[300, 0.025]])
    assert len(ax.texts) == 3
    assert "somebody" in {text.get_text() for text in ax.texts}
    assert ax.get_xlim()[1] < 1e6  # free spikes have no place on the axis
    low, high = ax.get_ylim()
    assert low < 0.01
    assert high > 0.04
    render(ax.figure)


# where they are drawn


def test_without_axes_a_figure_of_pyplot_is_drawn(result, model, digits):
    import matplotlib.pyplot as plt

    backend = plt.get_backend()
    plt.switch_backend("agg")
    plt.close("all")  # examples of docstrings leave theirs open
    try:
        drawn = [
            plots.image_grid(digits[:3], (8, 8), columns=3),
            plots.layer_image(digits[0], shape=(8, 8)),
            plots.parts(model),
            plots.parts(model, shape=(8, 8)),
            plots.reconstructions(digits[:3], digits[:3], shape=(8, 8)),
            plots.reconstructions(digits[:3], digits[:3]),
            plots.learning_curves(model),
            plots.firing_rates(model),
            plots.codes(model.transform(digits)),
            plots.convergence(result),
            plots.raster(result),
        ]
        assert [plt.figure(i).axes[0] for i in plt.get_fignums()] == drawn
        for ax in drawn:
            render(ax.figure)
    finally:
        plt.close("all")
        plt.switch_backend(backend)


def test_with_axes_pyplot_is_never_loaded():
    code = """
import sys
from dataclasses import replace
from itertools import pairwise
import numpy as np
from matplotlib.figure import Figure
from lrnn import plots
plots.parts(np.eye(4), shape=(2, 2), ax=Figure().subplots())
plots.parts(np.eye(4), ax=Figure().subplots())
print("matplotlib.pyplot" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_public_name_is_there():
    assert all(callable(getattr(plots, name)) for name in plots.__all__)


def test_names_are_shown_as_they_are(digits):
    """Dollars are no formulas, and an underscore hides nothing."""
    names = ["_a", r"$\frac{", "price in $", "<b>"]
    ax = plots.parts(np.eye(4), names=names, ax=Figure().subplots())
    ax.figure.canvas.draw()
    shown = [label.get_text().replace("\\", "") for label in ax.get_xticklabels()]
    assert [name.strip() for name in shown] == [name.replace("\\", "") for name in names]
    model = LRNNAutoencoder((2,), max_iter=3).fit(digits[:50])
    ax = plots.learning_curves(dict.fromkeys(names, model), ax=Figure().subplots())
    ax.figure.canvas.draw()
    assert len(ax.get_legend().get_texts()) == 4


def test_codes_are_coloured_by_class():
    rng = np.random.default_rng(0)
    codes = rng.random((60, 4)) + np.repeat([0, 2, 4], 20)[:, None]
    ax = plots.classes(codes, np.repeat(["a", "b", "c"], 20))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    centres = [line.get_xdata().mean() for line in ax.lines]
    assert np.ptp(centres) > 6  # they lie apart, along the direction that tells most
    many = plots.classes(codes, [f"class {i % 10}" for i in range(60)])
    assert [text.get_text() for text in many.get_legend().get_texts()][-1] == "others"
    assert plots.classes(codes[:, :1], ["a"] * 60).get_legend() is None
    with pytest.raises(ValueError, match=naming("60 rows", "3 labels")):
        plots.classes(codes, ["a", "b", "c"])


# Classifiers


@pytest.fixture(scope="module")
def classifier(digits):
    """Of digits below 3 and others, with names."""
    labels = np.array(["few", "many"])[(load_digits().target > 2).astype(int)]
    return LRNNClassifier(6, max_iter=6, spike_penalty=0.2, random_state=0).fit(digits, labels)


def test_output_neurons_of_a_classifier_are_called_as_their_classes(classifier, ax):
    plots.network(classifier, neurons=10, ax=ax)
    assert {"few", "many"} <= {text.get_text() for text in ax.texts}


def test_layers_of_a_classifier_end_in_bars_with_the_names_of_classes(classifier, digits):
    network = classifier.to_network()
    result = network.simulate(classifier.arrivals(digits[:1])[0], events=10_000, random_state=0)
    figure = plots.simulated_layers(result, shape=(8, 8), classes=classifier.classes_)
    first, hidden, output = (figure.axes[i] for i in (0, 2, 4))
    assert first.images
    assert hidden.images
    assert not output.images
    assert [label.get_text() for label in output.get_yticklabels()] == ["few", "many"]
    widths = sorted(bar.get_width() for bar in output.patches)
    np.testing.assert_allclose(widths, sorted(network.split(np.asarray(result.steady))[-1]))


def test_losses_of_a_classifier_are_cross_entropies(classifier, model, ax):
    plots.learning_curves(classifier, ax=ax)
    assert ax.get_ylabel() == "cross-entropy"
    plots.learning_curves(model, ax=ax)
    assert ax.get_ylabel() == "mean squared error"


def test_firing_rates_of_a_classifier(classifier, ax):
    plots.firing_rates(classifier, ax=ax)
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [name.split(" (")[0] for name in names] == ["input", "hidden", "output"]
