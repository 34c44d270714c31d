"""Numbers that are too large, and truth values for counts: each error names what to change."""

import numpy as np
import pandas as pd
import pytest

from lrnn import (
    LRNNAutoencoder,
    LRNNClassifier,
    LRNNOutlierDetector,
    Moment,
    Scaling,
    bounds,
    factorize,
    frontier,
    widths,
)
from naming import naming

HUGE = 10**400  # no float holds it
X = np.random.default_rng(0).random((40, 4))
LABELS = X[:, 0] > 0.5
FEW = {"hidden_layer_sizes": 2, "max_iter": 2, "random_state": 0}
MINIBATCH = {"solver": "minibatch"}
INHIBITION = {"inhibition": True, "fine_tune": 1}


def autoencoder(**parameters):
    return LRNNAutoencoder(**{**FEW, **parameters}).fit(X)


def classifier(**parameters):
    return LRNNClassifier(**{**FEW, **parameters}).fit(X, LABELS)


def detector(**parameters):
    return LRNNOutlierDetector(**{**FEW, **parameters}).fit(X)


COUNTS = [
    *((autoencoder, name, {}) for name in ("hidden_layer_sizes", "decoder_layer_sizes", "max_iter",
                                           "fine_tune")),
    *((autoencoder, name, MINIBATCH) for name in ("batch_size", "evaluate_every")),
    *((classifier, name, {}) for name in ("hidden_layer_sizes", "max_iter", "batch_size")),
    *((detector, name, {}) for name in ("hidden_layer_sizes", "max_iter", "n_typical",
                                        "n_neighbors")),
]  # fmt: skip


@pytest.mark.parametrize("value", [2**70, HUGE, True])
@pytest.mark.parametrize(("make", "name", "others"), COUNTS)
def test_counts_of_estimators(make, name, others, value):
    with pytest.raises((ValueError, TypeError), match=naming(name)):
        make(**{**others, name: value})


@pytest.mark.parametrize("value", [2**70, HUGE, True])
@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("refine", lambda n: autoencoder().transform(X, refine=n)),
        ("rows", lambda n: autoencoder().live(X, rows=n)),
        ("n_hidden", lambda n: bounds.svd(X, n)),
        ("n_hidden", lambda n: bounds.unit_rate(X, n)),
        ("widths", lambda n: widths(X, [n])),
        ("folds", lambda n: widths(X, [1, 2], folds=n)),
        ("max_iter", lambda n: widths(X, [1, 2], max_iter=n)),
        ("penalties", lambda n: frontier(X, 2, penalties=n, passes=1)),
        ("passes", lambda n: frontier(X, 2, penalties=[0.1], passes=n)),
        ("n_components", lambda n: factorize(X, n)),
        ("alternations", lambda n: factorize(X, 2, alternations=n)),
        ("sweeps", lambda n: factorize(X, 2, sweeps=n)),
        ("lead", lambda n: classifier().decide(X, lead=n)),
        *(
            (name, lambda n, name=name: simulated(**{"events": 100, name: n}))
            for name in ("events", "replicas", "observe_every", "threads", "warm_up")
        ),
        ("time", lambda n: simulated(time=n)),
    ],
)
def test_counts_of_functions(name, work, value):
    with pytest.raises((ValueError, TypeError), match=naming(name)):
        work(value)


def simulated(**arguments):
    model = autoencoder(tol=0)
    return model.to_network().simulate(model.arrivals(X[:1]), **arguments)


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("tol", lambda: autoencoder(tol=HUGE)),
        ("spike_penalty", lambda: autoencoder(**INHIBITION, spike_penalty=HUGE)),
        ("forget", lambda: autoencoder(forget=HUGE)),
        ("corruption", lambda: autoencoder(corruption=("noise", HUGE))),
        ("class_weight", lambda: classifier(class_weight={False: HUGE, True: 1})),
        ("forget", lambda: detector(forget=HUGE)),
        ("sample_weight", lambda: LRNNAutoencoder(**FEW).fit(X, None, [HUGE] * len(X))),
        ("sample_weight", lambda: LRNNClassifier(**FEW).fit(X, LABELS, [HUGE] * len(X))),
        ("sample_weight", lambda: LRNNOutlierDetector(**FEW).fit(X, None, [HUGE] * len(X))),
        ("init", lambda: autoencoder(init=([[HUGE, 1]] * 4, np.ones((2, 4))))),
        ("weight", lambda: Moment.of(X) * HUGE),
        ("white", lambda: Scaling.fit(9 * X, "levels", white=HUGE)),
    ],
)
def test_numbers_that_no_float_holds(name, work):
    with pytest.raises((ValueError, TypeError), match=naming(name)):
        work()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, pd.DataFrame])
@pytest.mark.parametrize(
    "work",
    [
        LRNNAutoencoder(**FEW).fit,
        LRNNAutoencoder(**FEW, scale="minmax").fit,
        LRNNAutoencoder(**FEW, scale=Scaling.fit(9 * X, "minmax")).fit,
        LRNNAutoencoder(**FEW, missing="allow").fit,
        lambda cells: LRNNClassifier(**FEW).fit(cells, LABELS),
        LRNNOutlierDetector(**FEW).fit,
        lambda cells: autoencoder(tol=0).transform(cells),
        lambda cells: LRNNAutoencoder(4, max_iter=1, tol=0).fit(X).inverse_transform(cells),
        Moment.of,
        lambda cells: factorize(cells, 2),
    ],
)
def test_cells_that_no_float_holds(work, kind, sign):
    cells = X.astype(object)
    cells[7, 2] = sign * HUGE
    with pytest.raises(ValueError, match=naming("row 7", ("column 2", "column '2'"))):
        work(kind(cells))


def test_raw_cells_that_no_float_holds():
    cells = X.astype(object)
    cells[7, 2] = HUGE
    for work in (Scaling.fit, Scaling.fit(9 * X, "minmax").apply):
        with pytest.raises(ValueError, match=naming("row 7", ("column 2", "column '2'"))):
            work(cells)


def test_numbers_of_half_precision_are_numbers():
    half = np.float16(0.5)
    assert autoencoder(tol=half, corruption=("noise", half)).n_iter_ <= 2
    assert (Moment.of(X) * half).weight == 20
    assert Scaling.fit(1.9 * X, "levels", white=np.float16(2)).span == 2
    simulated(time=np.float16(50))
