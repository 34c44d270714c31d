"""The estimator: what it promises of its results, and what it says to bad input."""

import re
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from lrnn import LRNNAutoencoder, load
from lrnn.analysis.audit import Audit
from lrnn.functional import activations
from lrnn.rows.checks import SaturationWarning
from lrnn.training.parameters import hidden_width
from naming import naming

KINDS = [
    {"hidden_layer_sizes": (10,)},
    {"hidden_layer_sizes": (10,), "rates": "unit"},
    {"hidden_layer_sizes": (20, 12, 6)},
    {"hidden_layer_sizes": (20, 12, 6), "stacking": "joint"},
    {"hidden_layer_sizes": (20, 12, 6), "rates": "unit"},
    {"hidden_layer_sizes": (20, 12, 6), "rates": "unit", "stacking": "joint"},
    {"hidden_layer_sizes": (20, 12, 6), "fine_tune": 3},
    {"hidden_layer_sizes": (10,), "solver": "minibatch"},
    {"hidden_layer_sizes": (10,), "solver": "minibatch", "rates": "unit", "fine_tune": 3},
    {"hidden_layer_sizes": (20, 12, 6), "solver": "minibatch"},
    {"hidden_layer_sizes": (20, 12, 6), "solver": "minibatch", "stacking": "joint"},
    {"hidden_layer_sizes": (20, 12, 6), "solver": "minibatch", "rates": "unit"},
]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: "-".join(map(str, kind.values())))
def fitted(request, digits):
    return LRNNAutoencoder(**request.param, max_iter=10, random_state=0).fit(digits)


def test_realised_network_has_the_activations_of_every_layer(fitted, digits):
    network = fitted.to_network()
    q = network.split(network.steady_state(fitted.arrivals(digits)))
    forward = activations(digits, fitted.encoders_ + fitted.decoders_)
    for layer, expected in zip(q, forward, strict=True):
        np.testing.assert_allclose(layer, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(q[-1], fitted.reconstruct(digits), rtol=0, atol=1e-12)
    code = len(fitted.encoders_)
    np.testing.assert_allclose(q[code], fitted.transform(digits), rtol=0, atol=1e-12)


def test_no_probability_exceeds_one_on_any_path(fitted, digits):
    network = fitted.to_network()
    assert network.excitatory.data.min() >= 0
    assert network.excitatory.data.max() <= 1
    assert network.routed.max() <= 1 + 1e-12
    for values in (
        fitted.transform(digits),
        fitted.reconstruct(digits),
        network.steady_state(fitted.arrivals(digits)),
    ):
        assert values.min() >= 0
        assert values.max() <= 1


def test_unit_rates_are_one_and_the_weights_are_probabilities(fitted, digits):
    rates = np.concatenate(fitted.firing_rates_)
    np.testing.assert_allclose(fitted.to_network(least_rate=0).rates, rates, rtol=1e-12)
    assert fitted.to_network().rates.min() >= 1
    largest = max(w.sum(axis=1).max() for w in fitted.encoders_ + fitted.decoders_)
    if fitted.rates == "unit":
        assert (rates == 1).all()
        assert largest <= 1 + 1e-12
    else:
        assert largest > 1  # what the algorithm as printed does: no probabilities


@pytest.mark.parametrize("least", [0, 0.1, 1, 30])
def test_any_least_rate_gives_the_same_activations(fitted, digits, least):
    network = fitted.to_network(least)
    assert network.rates.min() >= (1 if fitted.rates == "unit" else least)
    q = network.steady_state(fitted.arrivals(digits, network))
    np.testing.assert_allclose(network.split(q)[-1], fitted.reconstruct(digits), atol=1e-12)


def test_error_score_and_cost_are_what_they_say(fitted, digits):
    outputs = fitted.inverse_transform(fitted.transform(digits))
    error = ((digits - outputs) ** 2).mean()
    assert fitted.reconstruction_err_ == pytest.approx(error, rel=1e-12)
    assert fitted.score(digits) == pytest.approx(-error, rel=1e-12)
    network = fitted.to_network(least_rate=0)
    q = network.steady_state(fitted.arrivals(digits, network))
    firings = q.mean(axis=0) * network.rates * (network.routed > 0)  # who leads nowhere may rest
    assert fitted.spike_cost_ == pytest.approx(firings[:-64].sum(), rel=1e-12)


def test_components_are_what_a_code_neuron_adds(fitted):
    width = fitted.hidden_layer_sizes[-1]
    assert fitted.components_.shape == (width, 64)
    faint = np.eye(width) * 1e-6  # too faint to saturate anything
    np.testing.assert_allclose(
        fitted.inverse_transform(faint), 1e-6 * fitted.components_, rtol=1e-9, atol=1e-18
    )


def test_the_audit_fits_a_terminal_and_explains_its_words(digits):
    audit = LRNNAutoencoder((30, 8), max_iter=3, random_state=0).fit(digits).audit(digits)
    text = str(audit)
    assert max(map(len, text.splitlines())) <= 80
    for word in ("rate", "row sum", "prob.", "silent", "saturated"):
        assert text.lower().count(word) >= 2
    wide = {"name": "hidden 10", "neurons": 100_000, "rates": (1e18, 2.345e20, 1.2e50)}
    vast = [replace(layer, **wide, row_sums=(1e10, 3e10)) for layer in audit.layers]
    assert max(map(len, str(Audit(tuple(vast))).splitlines())) <= 80
    assert audit._repr_html_().count("<tr>") == 1 + len(audit.layers)


def test_the_audit_tells_sums_rates_and_saturation(fitted, digits):
    report = fitted.audit(digits)
    assert report.valid
    assert [layer.neurons for layer in report.layers] == list(fitted.to_network().layer_sizes)
    for layer, weights in zip(report.layers, fitted.encoders_ + fitted.decoders_, strict=False):
        assert layer.row_sums[1] == pytest.approx(weights.sum(axis=1).max())
        assert layer.rows_above_one == (weights.sum(axis=1) > 1 + 1e-6).sum()
        assert layer.silent == (weights.sum(axis=1) == 0).sum()
    assert report.layers[0].saturated == (digits >= 1).any(axis=0).sum()
    assert report.layers[-1].saturated == (fitted.reconstruct(digits) >= 1).any(axis=0).sum()
    assert re.search(naming("valid"), str(report))
    assert fitted.audit().layers[0].saturated is None


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_fit_transform_is_fit_then_transform_bit_for_bit(digits, kind):
    model = LRNNAutoencoder(**kind, max_iter=3, random_state=0)
    together = model.fit_transform(digits)
    np.testing.assert_array_equal(together, model.transform(digits))
    np.testing.assert_array_equal(together, model.fit(digits).transform(digits))


@pytest.mark.parametrize(
    "settings", [{"init": "random"}, {"fine_tune": 2}, {"rates": "unit"}, {"solver": "minibatch"}]
)
def test_random_state_reproduces_bit_for_bit(digits, settings):
    def codes(state):
        return LRNNAutoencoder(7, max_iter=3, random_state=state, **settings).fit_transform(digits)

    np.testing.assert_array_equal(codes(5), codes(5))
    np.testing.assert_array_equal(codes(5), codes(np.random.RandomState(5)))
    assert (codes(5) != codes(6)).any()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_float32_stays_float32(digits, kind):
    small = digits.astype(np.float32)
    model = LRNNAutoencoder(**kind, max_iter=3, random_state=0).fit(small)
    assert {w.dtype for w in model.encoders_ + model.decoders_} == {np.dtype(np.float32)}
    codes = model.transform(small)
    assert codes.dtype == model.inverse_transform(codes).dtype == np.float32
    network = model.to_network()  # in float64, from float32 weights
    q = network.split(network.steady_state(model.arrivals(small)))[-1]
    np.testing.assert_allclose(q, model.reconstruct(small), rtol=0, atol=1e-5)
    assert network.routed.max() <= 1 + 1e-12
    wide = LRNNAutoencoder(**kind, max_iter=3, random_state=0).fit(digits)
    assert model.reconstruction_err_ == pytest.approx(wide.reconstruction_err_, rel=1e-3)


def test_a_stream_is_learnt_part_by_part(digits):
    model = LRNNAutoencoder(10, random_state=0)
    model.partial_fit(digits[:600])
    first = model.score(digits)
    for start in (600, 1200) * 3:
        model.partial_fit(digits[start : start + 600])
    assert model.score(digits) > first
    assert model.n_iter_ == len(model.history_) == 7
    again = LRNNAutoencoder(10, random_state=0)
    for part in (digits[:600], *[digits[s : s + 600] for s in (600, 1200) * 3]):
        again.partial_fit(part)
    np.testing.assert_array_equal(again.transform(digits), model.transform(digits))


def test_partial_fit_goes_on_from_fit_and_fit_begins_anew(digits):
    model = LRNNAutoencoder((12, 6), max_iter=3, random_state=0).fit(digits)
    before = model.transform(digits)
    with pytest.warns(UserWarning, match=naming("partial_fit", "Moment.of")):
        model.partial_fit(digits)
    assert (model.transform(digits) != before).any()
    np.testing.assert_array_equal(model.fit(digits).transform(digits), before)


def test_partial_fit_wants_the_same_attributes(digits):
    model = LRNNAutoencoder(3, random_state=0).partial_fit(digits)
    with pytest.raises(ValueError, match=naming("X", 63, 64)):
        model.partial_fit(digits[:, :63])


@pytest.mark.slow
def test_sparse_data_are_never_made_dense():
    data = sparse.random_array((4_000, 30_000), density=1e-3, format="csr", random_state=0)
    dense_bytes = 8 * data.shape[0] * data.shape[1]
    model = LRNNAutoencoder(3, max_iter=1, batch_size=100, random_state=0)
    tracemalloc.start()
    codes = model.fit_transform(data)
    model.score(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert codes.shape == (4_000, 3)
    assert peak < dense_bytes / 4


def test_values_above_one_count_as_one_with_one_warning(digits):
    bright = digits * 1.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LRNNAutoencoder(5, max_iter=2, tol=0, random_state=0)
        codes = model.fit_transform(bright)
    assert [w.category for w in caught] == [SaturationWarning]
    said = naming("1.21875", "row 0", "column 3", "scale='minmax'")
    assert re.search(said, str(caught[0].message))
    same = LRNNAutoencoder(5, max_iter=2, tol=0, random_state=0).fit_transform(
        np.minimum(bright, 1)
    )
    np.testing.assert_array_equal(codes, same)
    assert bright.max() == 1.5  # the caller's data are not touched


def test_a_rounding_error_above_one_is_no_reason_to_warn(digits):
    slightly = digits.copy()
    slightly[slightly == 1] += 2 * np.finfo(float).eps
    a, b = LRNNAutoencoder(3, max_iter=2).fit(slightly), LRNNAutoencoder(3, max_iter=2).fit(digits)
    assert a.reconstruction_err_ == b.reconstruction_err_
    assert slightly.max() > 1  # the data are left alone


def test_minus_zero_is_zero(digits):
    signed = np.where(digits == 0, -0.0, digits)
    a, b = LRNNAutoencoder(3, max_iter=2).fit(signed), LRNNAutoencoder(3, max_iter=2).fit(digits)
    assert a.reconstruction_err_ == pytest.approx(b.reconstruction_err_, rel=1e-12)


@pytest.mark.parametrize("solver", ["minibatch", "gram"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_unsigned_integers_are_levels_and_never_converted_as_a_whole(digits, solver, dtype):
    levels = np.round(digits * np.iinfo(dtype).max).astype(dtype)
    model = LRNNAutoencoder((8, 4), solver=solver, max_iter=3, random_state=0).fit(levels)
    floats = (levels / np.iinfo(dtype).max).astype(np.float32)
    same = LRNNAutoencoder((8, 4), solver=solver, max_iter=3, random_state=0).fit(floats)
    assert model.reconstruction_err_ == pytest.approx(same.reconstruction_err_, rel=1e-3)
    assert model.encoders_[0].dtype == np.float32
    np.testing.assert_allclose(model.transform(levels), model.transform(floats), atol=1e-5)
    np.testing.assert_allclose(model.arrivals(levels), model.arrivals(floats), rtol=1e-5)
    assert model.score(levels) == pytest.approx(model.score(floats), rel=1e-4)
    assert model.audit(levels).valid


def test_arrivals_are_for_a_network_of_the_model(fitted, digits):
    with pytest.raises(TypeError, match=naming("network", "to_network", 0.5)):
        fitted.arrivals(digits, 0.5)
    other = LRNNAutoencoder(3, max_iter=1).fit(digits).to_network()
    with pytest.raises(ValueError, match=naming("network", 131, "to_network")):
        fitted.arrivals(digits, other)


def as_zarr(levels, folder):
    zarr = pytest.importorskip("zarr", reason="pip install zarr")
    path = str(folder / "levels.zarr")
    zarr.create_array(store=path, shape=levels.shape, dtype=levels.dtype)[:] = levels
    return path


def as_npy(levels, folder):
    np.save(folder / "levels.npy", levels)
    return folder / "levels.npy"


def as_parquet(levels, folder):
    frame(levels).to_parquet(folder / "levels.parquet")
    return folder / "levels.parquet"


def frame(levels):
    return pd.DataFrame(levels, columns=[f"pixel{i}" for i in range(levels.shape[1])])


def as_dask(levels, folder):
    da = pytest.importorskip("dask.array", reason="pip install 'lrnn[dask]'")
    return da.from_array(levels, chunks=(50, 64))


def as_tensor(levels, folder):
    return pytest.importorskip("torch", reason="pip install 'lrnn[torch]'").asarray(
        np.array(levels)
    )


CONTAINERS = {
    "array": lambda levels, _: levels,
    "sparse array": lambda levels, _: sparse.csr_array(levels),
    "sparse matrix by columns": lambda levels, _: sparse.csc_matrix(levels),
    "big-endian": lambda levels, _: levels.astype(levels.dtype.newbyteorder(">")),
    "frame": lambda levels, _: frame(levels),
    "blocks": lambda levels, _: lambda: iter([levels[:70], levels[70:]]),
    "sparse blocks": lambda levels, _: lambda: iter([sparse.csr_array(levels)]),
    "npy": as_npy, "parquet": as_parquet, "zarr": as_zarr, "dask": as_dask, "torch": as_tensor,
}  # fmt: skip


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_levels_have_one_rule_in_every_container(digits, tmp_path, container, dtype):
    levels = np.round(digits[:200] * np.iinfo(dtype).max).astype(dtype)
    expected = LRNNAutoencoder(4, max_iter=5).fit((levels / np.iinfo(dtype).max).astype("f4"))
    model = LRNNAutoencoder(4, max_iter=5).fit(container(levels, tmp_path))
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-4)
    assert model.white_ == np.iinfo(dtype).max


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_zeros_and_ones_are_no_levels_and_this_is_said(digits, tmp_path, container):
    cells = (digits[:200] > 0.5).astype(np.uint8)
    expected = LRNNAutoencoder(4, max_iter=5).fit(cells.astype(np.float32))
    with pytest.warns(UserWarning, match=naming("X", "uint8", 0, 1, 255)):
        model = LRNNAutoencoder(4, max_iter=5).fit(container(cells, tmp_path))
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-4)
    assert model.white_ == 1


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_levels_for_a_model_of_zeros_and_ones_are_refused(digits, tmp_path, container):
    cells = (digits[:200] > 0.5).astype(np.uint8)
    with pytest.warns(UserWarning, match=naming("uint8", 0, 1)):
        model = LRNNAutoencoder(4, max_iter=2).fit(cells)
    with pytest.raises(ValueError, match=naming("X", "uint8", "above 1")):
        model.transform(container(200 * cells, tmp_path))


@pytest.mark.filterwarnings("ignore::lrnn.rows.checks.SaturationWarning")
def test_frames_of_nullable_integers_never_exceed_one(digits):
    levels = np.round(digits[:200] * 255).astype(np.uint8)
    model = LRNNAutoencoder(4, max_iter=2).fit(pd.DataFrame(levels).astype("UInt8"))
    assert model.reconstruction_err_ <= 1


def test_what_levels_are_is_decided_when_a_model_is_fitted(digits, tmp_path):
    """A dark row of an image is dark, although none of its levels is above 1; and the reverse."""
    levels = np.round(digits * 255).astype(np.uint8)
    dark = np.minimum(levels[:3], 1)
    model = LRNNAutoencoder(4, max_iter=5).fit(levels)
    model.save(tmp_path / "model.safetensors")
    for one in (model, load(tmp_path / "model.safetensors")):
        np.testing.assert_allclose(
            one.transform(dark), one.transform(np.float32(dark / 255)), rtol=1e-5
        )
    with pytest.warns(UserWarning, match=naming("uint8", 0, 1)):
        model = LRNNAutoencoder(4, max_iter=5).fit((digits > 0.5).astype(np.uint8))
    np.testing.assert_allclose(model.transform(dark), model.transform(np.float32(dark)), rtol=1e-5)


def bad(digits, row, column, value):
    data = digits[:20].copy()
    data[row, column] = value
    return data


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (-0.31, (-0.31, "scale='minmax'")),
        (np.nan, ("NaN", "missing='allow'", "SimpleImputer")),
        (np.inf, ("inf",)),
        (-np.inf, ("-inf",)),
    ],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_a_bad_value_is_named_with_its_place(digits, value, named, container):
    data = container(bad(digits, 3, 4, value))
    model = LRNNAutoencoder(3, max_iter=1).fit(digits[:20])
    for work in (LRNNAutoencoder(3).fit, model.transform):
        with pytest.raises(ValueError, match=naming("row 3", "column 4", *named)):
            work(data)


@pytest.mark.parametrize("method", ["transform", "reconstruct"])
def test_a_value_deep_in_the_data_is_found_on_the_way(digits, method):
    model = LRNNAutoencoder(3, max_iter=2).fit(digits)
    tall = np.tile(digits, (60, 1))
    expected = getattr(model, method)(tall)
    last = len(tall) - 1
    tall[last, 5] = -1
    with pytest.raises(ValueError, match=naming(f"row {last}", "column 5")) as caught:
        getattr(model, method)(tall)
    assert caught.value.__context__ is None
    tall[last] = digits[-1] * 3
    with pytest.warns(SaturationWarning, match=f"row {last}"):
        found = getattr(model, method)(tall)
    np.testing.assert_array_equal(found[:last], expected[:last])
    bright = np.minimum(digits[-1:] * 3, 1)
    np.testing.assert_allclose(found[last:], getattr(model, method)(bright), rtol=1e-12)


def test_a_bad_value_is_named_with_its_column(digits):
    frame = pd.DataFrame(bad(digits, 3, 4, -1.0), columns=[f"pixel{i}" for i in range(64)])
    with pytest.raises(ValueError, match=naming("row 3", "column 'pixel4'")):
        LRNNAutoencoder(3).fit(frame)
    words = frame.abs().astype(object)
    words.iloc[5, 2] = "many"
    with pytest.raises(ValueError, match=naming("many", "row 5", "column 'pixel2'")):
        LRNNAutoencoder(3).fit(words)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (np.empty((0, 3)), ("(0, 3)",)),
        (np.empty((3, 0)), ("(3, 0)",)),
        (np.zeros(3), ("2D", "1D")),
        ([["a", "b"]], ("'a'", "row 0", "column 0")),
        (np.ones((2, 2)) * 1j, ("Complex",)),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(data, named):
    with pytest.raises(ValueError, match=naming(*named)):
        LRNNAutoencoder(3).fit(data)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"hidden_layer_sizes": ()}, ("hidden_layer_sizes", "(100,)")),
        ({"hidden_layer_sizes": 0}, ("hidden_layer_sizes[0]", 0)),
        ({"hidden_layer_sizes": (5, 0)}, ("hidden_layer_sizes[1]", 0)),
        ({"hidden_layer_sizes": (5, -2)}, ("hidden_layer_sizes[1]", -2)),
        ({"hidden_layer_sizes": (5.5,)}, ("hidden_layer_sizes[0]", 5.5)),
        ({"hidden_layer_sizes": "many"}, ("hidden_layer_sizes", "many")),
        ({"solver": "magic"}, ("solver", "magic")),
        ({"rates": "fast"}, ("rates", "fast")),
        ({"stacking": "none"}, ("stacking", "none")),
        ({"init": "zeros"}, ("init", "zeros")),
        ({"batch_size": 0}, ("batch_size", 0)),
        ({"max_iter": 0}, ("max_iter", 0)),
        ({"tol": -1}, ("tol", -1)),
        ({"evaluate_every": 0}, ("evaluate_every", 0)),
        ({"fine_tune": -1}, ("fine_tune", -1)),
        ({"moment": "large"}, ("moment", "large")),
        ({"solver": "minibatch", "init": "anchors"}, ("init='anchors'", "solver='gram'")),
    ],
)
def test_a_bad_option_is_named(digits, parameters, named):
    with pytest.raises((ValueError, TypeError), match=naming(*named)):
        LRNNAutoencoder(**parameters).fit(digits[:20])


def test_codes_of_another_width_are_refused(digits):
    model = LRNNAutoencoder(3, max_iter=1).fit(digits[:20])
    with pytest.raises(ValueError, match=naming("codes", 4, 3)):
        model.inverse_transform(np.zeros((2, 4)))
    with pytest.raises(ValueError, match=naming("codes", -1, "row 0", "column 1")):
        model.inverse_transform([[0, -1, 0]])


def test_an_interrupted_fit_says_so(digits, monkeypatch):
    steps = []

    def interrupted(*args):
        steps.append(None)
        if len(steps) == 40:
            raise KeyboardInterrupt
        return joint_step(*args)

    from lrnn.training import minibatch
    from lrnn.training.minibatch import joint_step

    monkeypatch.setattr(minibatch, "joint_step", interrupted)
    with pytest.warns(UserWarning, match=naming("interrupted", 2)):
        model = LRNNAutoencoder(5, solver="minibatch", random_state=0).fit(digits)
    assert model.n_iter_ == 2
    assert model.reconstruction_err_ == model.history_[0].lowest


def test_the_progress_bar_tells_layers_and_errors(digits, capfd):
    LRNNAutoencoder((6, 3), max_iter=2, tol=0, verbose=1, random_state=0).fit(digits[:300])
    out, err = capfd.readouterr()
    assert out == ""
    assert re.search(naming(64, "dense", "layer 1", "layer 2", "error 0"), err)
    LRNNAutoencoder((6, 3), max_iter=2, random_state=0).fit(digits[:300])
    assert capfd.readouterr() == ("", "")
    settings = {"moment": "implicit", "fine_tune": 1, "verbose": 1, "max_iter": 2}
    LRNNAutoencoder(3, **settings).fit(digits[:300])
    err = capfd.readouterr().err
    assert re.search(naming("implicit", "end to end"), err)


def test_in_a_notebook_without_widgets_bars_are_text(digits, capsys, monkeypatch):
    class ZMQInteractiveShell:  # so Rich knows a notebook
        pass

    monkeypatch.setattr("builtins.get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setattr("lrnn.progress.find_spec", lambda name: None)
    LRNNAutoencoder((6, 3), max_iter=2, tol=0, verbose=1, random_state=0).fit(digits[:300])
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line.split("\r")[-1] for line in err.splitlines()]
    assert any("layer 1" in line and "2/2" in line for line in lines)
    assert any("layer 2" in line and "error 0." in line for line in lines)
    assert "\x1b" not in err  # nothing for a terminal


@settings(max_examples=100)
@given(
    data=st.tuples(st.integers(1, 8), st.integers(1, 6)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1))
    ),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=3),
    rates=st.sampled_from(["free", "unit"]),
    stacking=st.sampled_from(["layerwise", "joint"]),
    solver=st.sampled_from(["gram", "minibatch"]),
    fine_tune=st.integers(0, 2),
)
@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")  # so dim are they
def test_any_data_and_any_shape_give_a_valid_network(data, sizes, **settings):
    model = LRNNAutoencoder(sizes, max_iter=3, batch_size=3, random_state=0, **settings).fit(data)
    assert model.audit(data).valid
    network = model.to_network()
    q = network.steady_state(model.arrivals(data))
    np.testing.assert_allclose(network.split(q)[-1], model.reconstruct(data), rtol=0, atol=1e-12)


def test_warnings_name_the_line_of_the_caller(digits):
    """Not one of ours, nor of scikit-learn's that called us."""
    X = digits[:50] * 2
    model = LRNNAutoencoder(2, max_iter=2).fit(digits[:50])
    pipeline = make_pipeline(FunctionTransformer(), LRNNAutoencoder(2, max_iter=2))
    for work in (LRNNAutoencoder(2, max_iter=2).fit, model.transform, model.score, pipeline.fit):
        with pytest.warns(SaturationWarning) as caught:
            work(X)
        assert {found.filename for found in caught} == {__file__}


@pytest.mark.parametrize("once", [iter, lambda blocks: (block for block in blocks)])
def test_what_can_be_read_only_once_is_refused(digits, once):
    with pytest.raises(TypeError, match=naming("X", "once", "lambda")):
        LRNNAutoencoder(2).fit(once([digits]))


@pytest.mark.parametrize(("attributes", "width"), [(1, 1), (4, 2), (13, 7), (35, 18), (279, 100)])
def test_by_default_there_are_half_as_many_code_neurons_as_attributes(
    rng, tmp_path, attributes, width
):
    X = rng.random((12, attributes))
    model = LRNNAutoencoder(max_iter=2, random_state=0).fit(X)
    assert model.get_params()["hidden_layer_sizes"] is None
    assert model.weights_.sizes == (attributes, width, attributes)
    assert model.to_network().layer_sizes == (attributes, width, attributes)
    assert model.transform(X).shape == (12, width)
    model.save(tmp_path / "m.safetensors")
    found = load(tmp_path / "m.safetensors")
    assert found.hidden_layer_sizes is None
    np.testing.assert_array_equal(found.transform(X), model.transform(X))
    streamed = LRNNAutoencoder(solver="minibatch", random_state=0).partial_fit(X)
    assert streamed.weights_.sizes[1] == width


def test_the_paper_s_hidden_widths_round_halves_up():
    widths = {5: 3, 7: 4, 9: 5, 13: 7, 35: 18, 51: 26, 279: 140, 4: 2, 60: 30}
    assert {n: hidden_width(n) for n in widths} == widths


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_codes_beyond_the_unit_interval_get_advice_for_codes(kind):
    rng = np.random.default_rng(0)
    model = LRNNAutoencoder(2, random_state=0).fit(rng.random((20, 5)))
    codes = np.array([[0.2, 0.3], [1.5, 0.1]])
    with pytest.warns(SaturationWarning, match=naming("codes", 1.5, "row 1", "transform")) as seen:
        got = model.inverse_transform(kind(codes))
    np.testing.assert_allclose(got, model.inverse_transform(np.minimum(codes, 1)), rtol=1e-12)
    assert "scale" not in str(seen[0].message)

    with pytest.raises(ValueError, match=naming("codes", -0.2, "row 0", "transform")) as bad:
        model.inverse_transform(kind(-codes))
    assert "cale" not in str(bad.value)
