"""The frontier of error against spikes."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

import lrnn
from lrnn import LRNNAutoencoder, bounds, checkpoints, frontier
from lrnn.analysis.frontiers import Frontier
from naming import naming

SETTINGS = {"penalties": 5, "passes": 80, "random_state": 0, "max_iter": 50}


@pytest.fixture(scope="module")
def found(digits):
    return frontier(digits[:600], 12, X_test=digits[1500:], **SETTINGS)


def test_more_spikes_buy_lower_errors(digits, found):
    spikes = [p.spikes for p in found.points]
    assert spikes == sorted(spikes)
    others = [p.error for p in found.points if p.penalty is not None]
    assert others == sorted(others, reverse=True)
    assert len(others) >= 4
    assert found.points[-1].penalty == 0
    assert found.points[-1].error < 0.9 * found.excitatory.error
    assert found.structures == ((64, 12),)
    assert found.svd == bounds.svd(digits[:600], 12)


def test_its_points_are_models(digits, found):
    for point in found.points:
        model = point.model
        assert model.reconstruction_err_ == point.error
        assert -model.score(digits[:600]) == pytest.approx(point.error, rel=1e-9)
        assert -model.score(digits[1500:]) == pytest.approx(point.test_error, rel=1e-9)
        assert model.spike_cost_ == point.spikes
        assert model.inhibition == (point.penalty is not None)
        assert model.spike_penalty == (point.penalty or 0)
        assert (model.inhibitory_encoders_ is None) == (point.penalty is None)
        assert model.audit().valid
        assert model.to_network().routed.max() <= 1 + 1e-12


def test_no_network_is_bettered_by_another(found):
    for point in found.points:
        if point.penalty is not None:
            assert not any(
                other.error <= point.error and other.spikes < point.spikes for other in found.points
            )


def test_networks_of_one_penalty_are_told_apart_by_the_way_to_them(found):
    for point, line in zip(found.points, found.lines(), strict=True):
        told = dict(zip(found.header, line, strict=True))["way"]
        assert told == (point.way or "–")
        assert (point.way is None) == (point.penalty is None)
    ways = [(p.penalty, p.way) for p in found.points]
    assert {way for _, way in ways} <= {None, "down", "up", "from scratch"}
    assert len(set(ways)) == len(ways)
    again = Frontier.from_json(json.loads(json.dumps(found.to_json())))
    assert [p.way for p in again.points] == [p.way for p in found.points]


def test_the_neighbours_help(digits, found):
    """At a price in the middle some network is no worse than a single fit as long."""
    penalty = found.points[len(found.points) // 2].penalty
    alone = LRNNAutoencoder(
        12, inhibition=True, spike_penalty=penalty, fine_tune=80, random_state=0, max_iter=50
    ).fit(digits[:600])
    price = min(p.error + penalty * p.spikes for p in found.points)
    assert price <= alone.reconstruction_err_ + penalty * alone.spike_cost_


def test_a_budget_finds_its_network(found):
    cheapest = found.points[0]
    assert found.within(cheapest.spikes) is cheapest
    assert found.within(np.inf) is found.points[-1]
    middle = found.within(2 * found.excitatory.spikes)
    assert middle.spikes <= 2 * found.excitatory.spikes
    with pytest.raises(ValueError, match=naming(1, f"{cheapest.spikes:.3g}")):
        found.within(1)


def test_it_is_a_table_in_a_notebook(found):
    text = found._repr_html_()
    assert text.count("<tr>") == 1 + len(found.points)
    assert "<td>excitatory</td>" in text
    assert f"<td>{found.points[-1].error:.5f}</td>" in text


def test_it_is_kept_as_text(found):
    again = Frontier.from_json(json.loads(json.dumps(found.to_json())))
    assert again.svd == found.svd
    assert [(p.penalty, p.error, p.spikes) for p in again.points] == [
        (p.penalty, p.error, p.spikes) for p in found.points
    ]
    for damaged in ({}, {**found.to_json(), "points": []}, {**found.to_json(), "svd": None}):
        with pytest.raises(ValueError, match=naming("frontier")):
            Frontier.from_json(damaged)


def test_prices_of_ones_own(digits):
    found = frontier(digits[:200], 4, penalties=[1e-6, 1e-4], passes=5, random_state=0, max_iter=9)
    assert {p.penalty for p in found.points} <= {None, 0.0, 1e-6, 1e-4}


def test_deep_networks_and_names(digits):
    pandas = pytest.importorskip("pandas", reason="pip install 'lrnn[test]'")
    table = pandas.DataFrame(digits[:200], columns=[f"pixel {i}" for i in range(64)])
    found = frontier(table, (10, 4), penalties=2, passes=4, random_state=0, max_iter=9)
    assert found.structures == ((64, 10, 4),)
    assert found.points[-1].model.feature_names_in_[1] == "pixel 1"
    assert found.points[-1].model.transform(table).shape == (200, 4)


def test_the_best_network_of_several_structures(digits, tmp_path):
    settings = {"penalties": 3, "passes": 8, "random_state": 0, "max_iter": 30}
    X, path = digits[:300], tmp_path / "c"
    written = {"checkpoint": path, "every": 0, "structures": [8, (40, 8)]}
    both = frontier(X, X_test=digits[300:400], **written, **settings)
    alone = frontier(X, 8, **settings)
    assert both.structures == ((64, 8), (64, 40, 8))
    assert {p.sizes for p in both.points} == set(both.structures)
    for point in both.points:
        assert point.model.weights_.sizes[: len(point.sizes)] == point.sizes
        assert -point.model.score(X) == pytest.approx(point.error, rel=1e-9)
        assert point.test_error == pytest.approx(-point.model.score(digits[300:400]), rel=1e-9)
    for point in alone.points:  # the first structure is trained as it is alone
        assert both.within(point.spikes).error <= point.error * (1 + 1e-12)
    assert sum(p.penalty is None for p in both.points) == 1
    assert [len(line) for line in both.lines()] == [len(both.header)] * len(both.points)
    again = frontier(X, **written, **settings)
    assert [p.error for p in again.points] == [p.error for p in both.points]
    kept = Frontier.from_json(json.loads(json.dumps(both.to_json())))
    assert [p.sizes for p in kept.points] == [p.sizes for p in both.points]
    with pytest.raises(lrnn.checkpoints.CheckpointError, match=naming("structures", 50)):
        frontier(X, **written | {"structures": [8, (50, 8)]}, **settings)


def test_frontiers_of_older_files_are_read(found):
    document = found.to_json()
    document["sizes"] = document.pop("structures")[0]
    for point in document["points"]:
        del point["sizes"]
    again = Frontier.from_json(document)
    assert again.structures == found.structures
    assert {p.sizes for p in again.points} == {(64, 12)}


def test_a_deep_frontier_begins_with_as_few_spikes_as_there_can_be(digits):
    """Where spikes are dear a deep network costs one firing in each layer per output spike."""
    found = frontier(digits[:400], (60, 12), penalties=3, passes=5, random_state=0, max_iter=50)
    outputs = found.excitatory.model.reconstruct(digits[:400]).sum(axis=1).mean()
    assert found.excitatory.spikes == pytest.approx(4 * outputs, rel=0.02)


@pytest.mark.parametrize(
    ("settings", "error", "named"),
    [
        (
            {"structures": [4, (9, 4)]},
            TypeError,
            ("hidden_layer_sizes=4", "structures"),
        ),
        ({"inhibition": False}, TypeError, ("frontier()", "inhibition")),
        ({"penalties": [0.0]}, ValueError, ("penalties", [0.0])),
        ({"penalties": 1}, ValueError, ("penalties", 2, 1)),
        ({"passes": 0}, ValueError, ("passes", 0)),
        ({"rates": "unit"}, ValueError, ("rates", "free", "unit")),
        ({"batch_size": 0}, ValueError, ("batch_size", 0)),
    ],
)
def test_settings_that_make_no_sense(digits, settings, error, named):
    with pytest.raises(error, match=naming(*named)):
        frontier(digits[:50], 4, **settings)


def test_a_frontier_of_one_network_says_why():
    X = minmax_scale(load_iris().data)
    with pytest.warns(UserWarning, match=naming("inhibition", "1 pass", "passes=5")):
        found = frontier(X, 2, penalties=2, passes=1, random_state=0)
    assert [point.penalty for point in found.points] == [None]


def test_data_without_a_spike():
    found = frontier(np.zeros((20, 5)), 2, penalties=2, passes=2, random_state=0)
    assert all(p.error == 0 for p in found.points)


def test_what_was_interrupted_is_kept(digits, ctrl_c, tmp_path):
    ctrl_c(2.0)
    settings = {"penalties": 4, "passes": 20_000, "random_state": 0, "max_iter": 9}
    with pytest.warns(UserWarning, match=naming("interrupted")):
        found = frontier(digits, 12, checkpoint=tmp_path / "c", **settings)
    assert found.interrupted
    assert (tmp_path / "c").exists()  # long before it was time for one
    assert found.points[0].model.transform(digits[:3]).shape == (3, 12)


def test_an_interruption_after_the_training_keeps_a_checkpoint(digits, monkeypatch, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bounds, "svd", interrupted)
    with pytest.raises(KeyboardInterrupt):
        frontier(digits[:50], 2, checkpoint=tmp_path / "c", penalties=2, passes=1, max_iter=2)
    assert (tmp_path / "c").exists()


def test_a_run_that_was_killed_goes_on(digits, tmp_path, monkeypatch):
    X, path = digits[:300], tmp_path / "checkpoint"
    settings = {"penalties": 3, "passes": 3, "random_state": 0, "max_iter": 9}
    expected = frontier(X, 6, **settings)
    plain, count = checkpoints.Checkpoint.checkpoint, 0

    class KilledError(Exception):
        pass

    def until(self, state, finished=False):
        nonlocal count
        new = not self._known
        plain(self, state, finished)
        count += new
        if new and count % 9 == 0:
            raise KilledError

    monkeypatch.setattr(checkpoints.Checkpoint, "checkpoint", until)
    killed, again = 0, None
    while again is None:
        try:
            again = frontier(X, 6, checkpoint=path, every=0, **settings)
        except KilledError:
            killed += 1
    assert killed >= 2
    assert [(p.error, p.spikes) for p in again.points] == [
        (p.error, p.spikes) for p in expected.points
    ]
    monkeypatch.undo()
    with pytest.raises(lrnn.checkpoints.CheckpointError, match=naming("frontier", 3, 4)):
        frontier(X, 6, checkpoint=path, **settings | {"penalties": 4})
