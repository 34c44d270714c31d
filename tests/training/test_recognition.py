"""Training for classes, below the estimator: it goes on where it was left, and starts sensibly."""

from copy import deepcopy

import numpy as np
import pytest
from sklearn.datasets import load_digits

from lrnn.moments import Corruption
from lrnn.rows import held
from lrnn.training import Labels, Observer, Run, Settings, first_weights, train_recognition
from lrnn.training.recognition import first_spread, recognise


class Keeper(Observer):
    """Keeps the state after some passes, or gives one to go on from."""

    def __init__(self, left=None):
        self.states, self.left = [], left

    def resume(self):
        return self.left

    def checkpoint(self, state, finished=False):
        self.states.append(deepcopy(state()))


@pytest.mark.parametrize("corruption", [None, Corruption("mask", 0.2)])
def test_what_was_left_goes_on_as_if_nothing_had_happened(digits, corruption):
    y = load_digits().target[:300].astype(np.int64)
    rows = held(digits[:300])
    labels = Labels.of(y, np.linspace(0.5, 2, 300), 10, rows)
    settings = Settings(max_iter=6, spike_penalty=0.01, corruption=corruption, held_out=0.1)

    def train(keeper):
        random = np.random.RandomState(0)
        start = first_weights(rows, (64, 12, 10), random, inhibition=True)
        return train_recognition(rows, labels, start, Run(settings, random, keeper))

    whole = Keeper()
    expected = train(whole)
    found = train(Keeper(left=whole.states[2]))
    for one, other in zip(found.weights.excitatory, expected.weights.excitatory, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.curves[0].errors, expected.curves[0].errors)


def test_first_networks_favour_no_class(digits):
    y = load_digits().target.astype(np.int64)
    rows = held(digits)
    labels = Labels.of(y, np.ones(len(y)), 10, rows)
    for inhibition in (True, False):
        start = first_weights(rows, (64, 100, 10), np.random.RandomState(0), inhibition=inhibition)
        assert recognise(rows, labels, start).error == pytest.approx(np.log(10), rel=0.02)


def test_weights_of_many_senders_differ_less():
    spreads = [first_spread(senders) for senders in (1, 4, 16, 64, 784)]
    assert spreads[:3] == [1, 1, 1]
    assert spreads == sorted(spreads, reverse=True)
    assert spreads[-1] == pytest.approx(1 / 7)


def test_targets_are_what_rows_weigh(digits):
    labels = Labels.of(np.array([2, 0]), np.array([3.0, 1.0]), 3, held(digits))
    np.testing.assert_array_equal(labels.targets(slice(None)), [[0, 0, 3], [1, 0, 0]])
    soft = Labels(labels.numbers, labels.weights, labels.classes, smoothing=0.3)
    np.testing.assert_allclose(soft.targets(np.array([1])), [[0.8, 0.1, 0.1]])
    np.testing.assert_allclose(soft.targets(slice(None)).sum(axis=1), [3, 1])
