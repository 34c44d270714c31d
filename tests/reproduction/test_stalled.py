"""The printed algorithms until they stall: what is said of them is what happened."""

import os
from functools import partial

import numpy as np
import pytest

from lrnn.datasets import DATA_SETS, load
from lrnn.rows import HostRows
from lrnn.training.minibatch import train_layerwise
from lrnn.training.run import Observer, Run
from lrnn.training.settings import Settings
from lrnn.weights import random_weights
from reproduction import lowest
from reproduction.experiments import READINGS, STRUCTURES, Task, chosen_tasks
from reproduction.stalled import (
    InOneOrder,
    UntilItStalls,
    errors_on_batches,
    fall,
    first_weights,
    outlast,
    rows_on,
)


@pytest.fixture
def rows(digits):
    return HostRows(digits[:200].astype(np.float64))


def run_of(rows, hidden=(6,), passes=12, **settings):
    sizes = (rows.shape[1], *hidden)
    chosen = Settings(sizes=sizes, solver="minibatch", batch_size=20, max_iter=passes, tol=0)
    return Run(chosen, np.random.RandomState(0), Observer())


def begin(run, rows, reading=READINGS[""]):
    return random_weights(run.settings.sizes, run.random, partial(first_weights, reading, rows))


def test_it_falls_from_quarter_to_quarter():
    errors = np.repeat([8.0, 4.0, 2.0, 1.0], 6)  # 8 passes of 3 minibatches
    assert fall(errors, 8) == pytest.approx(0.5)
    assert fall(np.ones(24), 8) == 0


@pytest.mark.parametrize("least", [0, 60])
def test_it_ends_when_it_falls_no_more(rows, least):
    run = run_of(rows, passes=400)
    algorithm = UntilItStalls(READINGS[""], least, rows, begin(run, rows), run)
    assert run.train(algorithm, "") == "tol"
    passes, errors = algorithm.history.passes, algorithm.history.batch_errors()
    assert 4 <= passes < 400
    assert len(errors) >= least
    assert fall(errors, passes) < 0.01
    earlier = passes - 1
    assert earlier < 4 or earlier * 10 < least or fall(errors[: earlier * 10], earlier) >= 0.01


def test_the_first_reading_is_what_the_estimator_does(rows):
    found = begin(run_of(rows), rows)
    expected = random_weights((64, 6), np.random.RandomState(0))
    for ours, theirs in zip(found.layers, expected.layers, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("once", "in_order"), [(False, True), (True, False)])
def test_one_order_is_the_same_in_each_pass(rows, once, in_order):
    batches = InOneOrder(rows, 20, np.random.RandomState(0), once)
    first, second = (np.concatenate(list(batches)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(np.sort(first), np.arange(200))
    assert (first == np.arange(200)).all() == in_order


@pytest.mark.parametrize("kept", [True, False])
def test_absent_attributes_keep_their_weights_or_not(rows, kept):
    X = np.array(rows.X)
    X[:20, 30] = 0  # in the first of the minibatches, which are in order
    run = run_of(rows, passes=1)
    reading = READINGS["keeps-absent" if kept else "not-shuffled"]
    weights = begin(run, rows, reading)
    algorithm = UntilItStalls(reading, 0, HostRows(X), weights, run)
    algorithm._on_batch(np.arange(20), 0)
    now = algorithm._now()
    assert (now.encoders[0][30] > 0).any() == kept
    assert (now.decoders[-1][:, 30] > 0).any() == kept


def test_algorithm_2_trains_pair_by_pair(rows):
    run = run_of(rows, hidden=(10, 4))
    stages = []

    def algorithm(*given):
        stages.append(UntilItStalls(READINGS[""], 0, *given))
        return stages[-1]

    found = train_layerwise(rows, begin(run, rows), run, algorithm).weights
    assert [s.batches.rows.shape[1] for s in stages] == [64, 10]
    assert found.sizes == (64, 10, 4, 10, 64)
    np.testing.assert_array_equal(found.encoders[1], stages[1].history.best.encoders[0])


def test_errors_on_batches_are_those_of_their_rows(rows):
    weights = random_weights((64, 6), np.random.RandomState(0))
    found = errors_on_batches(rows, weights, 50)
    codes = np.minimum(rows.X @ weights.encoders[0], 1)
    back = np.minimum(codes @ weights.decoders[0], 1)
    expected = ((rows.X - back) ** 2).reshape(4, -1).mean(axis=1)
    np.testing.assert_allclose(found, expected)


def test_tasks_are_those_of_images_with_readings_where_one_is_open():
    tasks = chosen_tasks(["stalled"])
    assert {t.kind for t in tasks} == {"stalled"}
    assert {t.data for t in tasks} == {"mnist", "yale", "cifar10"}
    deep = {t.method for t in tasks if len(STRUCTURES[t.subject].hidden) > 1}
    assert deep == {"algorithm2", "algorithm3"}
    assert {t.subject for t in tasks if t.reading} == {"mnist-50", "cifar10-150"}
    assert len({t.seed for t in tasks if t.subject == "yale-50"}) == 10
    assert len({t.name for t in tasks}) == len(tasks)
    assert all(t.kind != "stalled" for t in chosen_tasks(["all"]))


@pytest.fixture
def yale():
    if "LRNN_DATA_DIR" not in os.environ:
        pytest.skip("LRNN_DATA_DIR, the folder of the data sets, is not set")
    return load("yale", scaled=False).data


def quick(method, subject="yale-50", seed=0):
    return Task("stalled", subject, True, method, seed=seed)


def test_results_are_told(yale):
    tasks = [quick("algorithm1"), quick("algorithm1", seed=1)]
    tasks.append(quick("algorithm2", "yale-500-100-50"))
    results = [task.facts() | outlast(task, yale[::4], None) for task in tasks]
    for result in results:
        assert 0 < result["lowest_batch"] <= result["level"]
        assert result["error"] < 0.1
        assert len(result["stages"]) == (3 if result["method"] == "algorithm2" else 1)
    shallow, deep = lowest.lowest(results)
    assert shallow["seeds"] == 2
    errors = [r["error"] for r in results[:2]]
    assert shallow["error"] == pytest.approx(np.mean(errors))
    assert shallow["error_spread"] == pytest.approx(np.std(errors, ddof=1))
    assert shallow["unrest"] > 0
    assert deep["unrest"] is None
    first, others = lowest.tables(results)
    assert [row[2] for row in first.rows] == ["1", "2"]
    assert not others.rows
    assert len(lowest.courses(results).axes[0].lines) == 3 * 2 + 4


def test_levels_are_levels(yale):
    rows = rows_on(yale, DATA_SETS["yale"].white, None)
    assert rows.take(slice(0, 9)).max() <= 1
