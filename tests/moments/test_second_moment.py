"""Both second moments say the same of the data, however the data are stored or cut."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from lrnn.functional import activations
from lrnn.moments import DenseMoment, ImplicitMoment, SparseMoment, second_moment
from lrnn.moments import sparse as sparse_moment
from lrnn.moments.sparse import gram
from lrnn.rows import HostRows, WeightedRows, encoded, held, memory
from lrnn.rows.memory import ROWS_TO_SUM
from lrnn.training.evaluation import largest_drives
from nearness import assert_near

KINDS = [DenseMoment, ImplicitMoment]


@pytest.fixture
def data(rng):
    return rng.random((70, 9)) * (rng.random((70, 9)) < 0.5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("block", [1, 64, 1 << 21])
def test_a_second_moment_is_that_of_the_data(data, rng, monkeypatch, kind, storage, block):
    monkeypatch.setattr(memory, "CELLS_AT_ONCE", block)
    rows = held(storage(data))
    moment = kind(rows)
    G = data.T @ data / 70
    E = rng.random((9, 4))
    assert (moment.n_rows, moment.n_attributes) == (70, 9)
    assert moment.trace == pytest.approx(np.trace(G), rel=1e-13)
    np.testing.assert_allclose(moment.diagonal, np.diag(G), rtol=1e-13)
    np.testing.assert_allclose(moment.dot(E), G @ E, rtol=1e-12)
    np.testing.assert_allclose(moment.columns(np.array([3, 7])), G[:, [3, 7]], rtol=1e-12)
    np.testing.assert_allclose(largest_drives(rows, E), (data @ E).max(axis=0), rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_does_not_matter(data, rng, kind):
    E = rng.random((9, 4))
    rows, shuffled = held(data), held(data[rng.permutation(70)])
    np.testing.assert_allclose(kind(shuffled).dot(E), kind(rows).dot(E), rtol=1e-12)
    assert_near(largest_drives(shuffled, E), largest_drives(rows, E), 9)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_data_keep_their_accuracy(rng, kind):
    # Sums are taken in float32 over few rows only, and a sum of n terms is wrong by a share of at
    # most n half units in the last place (2⁻²⁴); over all these rows that would be a fiftieth.
    bound = (ROWS_TO_SUM + 2) * 2**-24
    data = np.full((300_000, 3), 0.1, dtype=np.float32) + np.float32([0, 0.2, 0.4])
    moment = kind(held(data))
    exact = np.outer(data[0], data[0].astype(np.float64))
    assert moment.dot(np.eye(3, dtype=np.float32)).dtype == np.float32
    np.testing.assert_allclose(moment.dot(np.eye(3, dtype=np.float32)), exact, rtol=bound)
    assert moment.trace == pytest.approx(np.trace(exact), rel=bound)


@pytest.mark.parametrize("kind", KINDS)
def test_levels_are_scaled_block_by_block_and_never_as_a_whole(rng, kind):
    levels = rng.integers(0, 256, (600_000, 30), dtype=np.uint8)
    tracemalloc.start()
    rows = HostRows(levels, white=255)
    moment = kind(rows)
    largest_drives(rows, np.ones((30, 2), dtype=np.float32))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * levels.nbytes / 1.5  # a float32 copy of the data would be 4 times as large
    np.testing.assert_allclose(moment.diagonal, ((levels / 255) ** 2).mean(axis=0), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("threads", [1, 3])
def test_sparse_rows_are_multiplied_both_ways(data, rng, monkeypatch, dtype, threads):
    monkeypatch.setattr(sparse_moment, "threads_for", lambda work: threads)
    X, weights = data.astype(dtype), rng.random(70)
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    for given in (None, weights):
        rows = held(sparse.csr_array(X))
        moment = SparseMoment(rows if given is None else WeightedRows(rows, given))
        root = np.ones(70) if given is None else np.sqrt(weights)
        wide = X.astype(np.float64) * root[:, None]
        G = wide.T @ wide / (root @ root)
        E = rng.random((9, 4)).astype(dtype)
        Q = rng.random((70, 4)).astype(dtype)
        assert moment.dot(E).dtype == moment.columns(np.array([3])).dtype == dtype
        np.testing.assert_allclose(moment.dot(E), G @ E, rtol=tolerance)
        np.testing.assert_allclose(moment.columns(np.array([3, 7])), G[:, [3, 7]], rtol=tolerance)
        np.testing.assert_allclose(moment.forth(E), wide @ E, rtol=tolerance)
        np.testing.assert_allclose(moment.back(Q), wide.T @ Q, rtol=tolerance)
        np.testing.assert_allclose(moment.chosen(np.array([3, 7])), wide[:, [3, 7]], rtol=tolerance)
        np.testing.assert_allclose(gram(Q), Q.T.astype(float) @ Q, rtol=tolerance)


def test_sparse_rows_of_float32_keep_their_accuracy():
    bound = (ROWS_TO_SUM + 2) * 2**-24  # as above: 300,000 terms would be wrong by far more
    moment = SparseMoment(held(sparse.csr_array(np.full((300_000, 1), 0.1, dtype=np.float32))))
    one, tenth = np.ones((300_000, 1), dtype=np.float32), float(np.float32(0.1))
    np.testing.assert_allclose(moment.back(one), 300_000 * tenth, rtol=bound)
    np.testing.assert_allclose(gram(one * np.float32(0.1)), 300_000 * tenth**2, rtol=bound)


def test_encoded_rows_are_the_activations_of_a_layer(data, rng):
    encoders = [rng.random((9, 5)) * 0.4, rng.random((5, 3))]
    codes = encoded(held(data), encoders)
    expected = activations(data, encoders)[-1]
    assert codes.shape == (70, 3)
    assert_near(codes.take(slice(10, 20)), expected[10:20], 9 + 5)
    np.testing.assert_allclose(DenseMoment(codes).gram, expected.T @ expected / 70, rtol=1e-12)


@pytest.mark.parametrize(
    ("shape", "density", "kind"),
    [
        ((60_000, 784), 1, DenseMoment),
        ((100, 5_000), 1, ImplicitMoment),  # wide, few rows
        ((20_000, 20_000), 1e-4, SparseMoment),  # sparse
        ((200, 2_000), 1e-3, ImplicitMoment),  # sparse, but small
        ((50_000, 50), 0.1, DenseMoment),  # sparse, but narrow
    ],
)
def test_the_cheaper_one_is_chosen(monkeypatch, shape, density, kind):
    for name in ("DenseMoment", "ImplicitMoment", "SparseMoment"):
        monkeypatch.setattr(f"lrnn.moments.{name}", lambda rows, fold, name=name: name)
    if density < 1:
        data = sparse.random_array(shape, density=density, format="csr", rng=0)
    else:
        data = np.broadcast_to(np.float32(0.5), shape)  # only its shape is looked at
    rows = held(data)
    assert second_moment(rows, 50) == kind.__name__
    assert second_moment(rows, 50, "dense") == "DenseMoment"
    assert second_moment(rows, 50, "implicit") == "ImplicitMoment"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_columns_without_content_do_not_change_the_products(rng, dtype):
    """Many columns are 0, not the same ones in all blocks."""
    X = np.zeros((9_000, 300))
    X[:4_000, 100:200] = rng.random((4_000, 100))
    X[6_000:, 150:290:3] = rng.random((3_000, 47))
    X = (X * 255).astype(dtype) if dtype == np.uint8 else X.astype(dtype)
    plain = X.astype(np.float64) / (255 if dtype == np.uint8 else 1)
    found = DenseMoment(HostRows(X, 255.0 if dtype == np.uint8 else None)).gram
    np.testing.assert_allclose(found, plain.T @ plain / len(X), rtol=1e-5, atol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["dense", "implicit"])
def test_what_only_rows_left_out_have_is_not_there(rng, kind):
    from lrnn.moments import MomentWithout

    X = rng.random((40, 6)) * (rng.random((40, 6)) < 0.7)
    X[5:, 2] = 0  # an attribute of the first rows alone
    left = MomentWithout(second_moment(held(X), 2, kind), X[:5])
    exact = X[5:].T @ X[5:] / 35
    np.testing.assert_allclose(left.dot(np.eye(6)), exact, atol=1e-12)
    assert (left.dot(np.eye(6))[2] == 0).all()
    assert left.diagonal[2] == 0
    assert (left.columns(np.array([0, 2]))[:, 1] == 0).all()
