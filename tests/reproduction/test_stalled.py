"""The printed algorithms until they stall: what is said of them is what happened."""

import numpy as np
import pytest

from lrnn import LRNNAutoencoder
from reproduction import lowest
from reproduction.experiments import READINGS, STRUCTURES, Task, chosen_tasks
from reproduction.printed import (
    FALL,
    Rows,
    fall,
    first_network,
    keep_absent,
    orders,
    step,
    train,
    train_layerwise,
)
from reproduction.report import write_reproduction
from reproduction.stalled import errors_on_batches, outlast

HIDDEN = (6,)


@pytest.fixture(scope="module")
def rows(digits):
    return Rows(digits[:200])


def begin(rows, hidden=HIDDEN, reading=READINGS[""]):
    random = np.random.RandomState(0)
    return first_network((rows.shape[1], *hidden), rows, random, reading), random


def test_it_falls_from_quarter_to_quarter():
    errors = np.repeat([8.0, 4.0, 2.0, 1.0], 6)  # 8 passes of 3 minibatches
    assert fall(errors, 8) == pytest.approx(0.5)
    assert fall(np.ones(24), 8) == 0


@pytest.mark.parametrize("least", [0, 60])
def test_it_ends_when_it_falls_no_more(rows, least):
    course = train(rows, *begin(rows), batch_size=20, passes=400, least=least)
    passes, errors = course.passes, course.batch_errors
    assert course.stopped == "tol"
    assert 4 <= passes < 400
    assert len(errors) == 10 * passes >= least
    assert fall(errors, passes) < FALL
    earlier = passes - 1
    assert earlier < 4 or earlier * 10 < least or fall(errors[: earlier * 10], earlier) >= FALL


@pytest.mark.parametrize(
    ("hidden", "stacking"), [((6,), "joint"), ((10, 4), "joint"), ((10, 4), "layerwise")]
)
@pytest.mark.parametrize("white", [None, 255.0])
def test_they_train_what_the_estimator_trains(digits, hidden, stacking, white):
    X = digits[:200] if white is None else np.round(255 * digits[:200]).astype(np.uint8)
    rows = Rows(X, white)
    network, random = begin(rows, hidden)
    options = {"batch_size": 30, "passes": 5, "every": 3}
    if stacking == "joint":
        course = train(rows, network, random, **options)
        found, courses = course.best, [course]
    else:
        found, courses = train_layerwise(rows, network, random, of_whole=True, **options)
    model = LRNNAutoencoder(
        hidden, solver="minibatch", stacking=stacking, batch_size=30, max_iter=5, tol=0,
        evaluate_every=3, random_state=0,
    ).fit(X)  # fmt: skip
    rtol = 1e-9 if white is None else 1e-3
    for ours, theirs in zip(found.layers, [*model.encoders_, *model.decoders_], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)
    for course, curve in zip(courses, model.history_, strict=True):
        assert course.iterations == curve.iterations.tolist()
        np.testing.assert_allclose(course.errors, curve.errors, rtol=rtol)
        np.testing.assert_allclose(course.batch_errors, curve.batch_errors, rtol=rtol)
    if stacking == "layerwise":
        assert courses[-1].of_whole[-1] == pytest.approx(model.reconstruction_err_, rel=rtol)


def test_they_work_on_tensors_too(digits):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (pip install torch)")
    rows = Rows(digits[:100])
    expected = train(rows, *begin(rows), batch_size=20, passes=2)
    rows.send = torch.asarray
    rows.X = torch.asarray(digits[:100].copy())
    found = train(rows, *begin(rows), batch_size=20, passes=2)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=1e-9)
    assert isinstance(found.best.encoders[0], torch.Tensor)


@pytest.mark.parametrize("name", ["", "shuffled-once", "not-shuffled"])
def test_rows_come_in_the_order_of_the_reading(name):
    passes = orders(200, np.random.RandomState(0), READINGS[name])
    first, second = next(passes), next(passes)
    np.testing.assert_array_equal(np.sort(first), np.arange(200))
    assert (first == second).all() == (name != "")
    assert (first == np.arange(200)).all() == (name == "not-shuffled")


def test_absent_attributes_keep_their_weights_or_not(digits):
    X = np.array(digits[:20])
    X[:, 30] = 0
    rows = Rows(X)
    before, _ = begin(rows)
    lost, _ = step(X, before)
    kept = keep_absent(X, before, lost)
    for network, some in ((lost, False), (kept, True)):
        assert (network.encoders[0][30] > 0).any() == some
        assert (network.decoders[-1][:, 30] > 0).any() == some
    reading = READINGS["keeps-absent"]
    course = train(rows, *begin(rows), batch_size=20, passes=1, reading=reading)
    np.testing.assert_allclose(course.best.encoders[0], kept.encoders[0], rtol=1e-9)


def test_errors_on_batches_are_those_of_their_rows(rows):
    network, _ = begin(rows)
    found = errors_on_batches(rows, network.layers, 50)
    codes = np.minimum(rows.X @ network.encoders[0], 1)
    back = np.minimum(codes @ network.decoders[0], 1)
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


@pytest.fixture(scope="module")
def faces(digits):
    """Digits as large as the faces of Yale, in levels."""
    levels = np.round(255 * digits[:42]).astype(np.uint8).reshape(-1, 8, 8)
    return levels.repeat(4, axis=1).repeat(4, axis=2).reshape(-1, 1024)


def quick(method, subject="yale-50", seed=0):
    return Task("stalled", subject, True, method, seed=seed)


def test_results_are_those_of_their_tasks(faces, tmp_path):
    tasks = [quick("algorithm1"), quick("algorithm1", seed=1)]
    tasks.append(quick("algorithm2", "yale-500-100-50"))
    results = [task.facts() | outlast(task, faces, None) | {"took": 1.0} for task in tasks]
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
    text = write_reproduction(results, tmp_path, "").read_text(encoding="utf-8")
    for structure, algorithm in (("1024→50", 1), ("1024→500→100→50", 2)):
        assert f"| Yale faces | {structure} | {algorithm} | " in text
    assert len(lowest.courses(results).axes[0].lines) == 3 * 2 + 4


def test_levels_become_numbers(faces):
    np.testing.assert_array_equal(Rows(faces, 255.0).take(slice(0, 9)), faces[:9] / np.float32(255))
