"""Several descents step together as each would by itself."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from lrnn import LRNNAutoencoder
from lrnn.functional import descend_decoder, descend_decoders
from lrnn.moments import DenseMoment
from lrnn.rows import held
from lrnn.training.gram import Company, GramDescent, companies
from lrnn.training.together import can_be_together


def one_by_one(moments, gram, decoder, sweeps, upper):
    decoder = decoder.copy()
    for _ in range(sweeps):
        for h in range(len(gram)):
            if gram[h, h] > 0:
                rest = moments[h] - gram[h] @ decoder + gram[h, h] * decoder[h]
                decoder[h] = np.clip(rest / gram[h, h], 0, upper)
    return decoder


@pytest.mark.parametrize("hidden", [1, 5, 32, 33, 47])
@pytest.mark.parametrize("upper", [np.inf, 0.5])
def test_decoders_are_descended_row_by_row(rng, hidden, upper):
    X, encoders = rng.random((70, 23)), rng.random((3, 23, hidden))
    encoders[1, :, 0] = 0  # a code neuron that is never excited
    codes = X @ encoders
    moments, gram = codes.transpose(0, 2, 1) @ X, codes.transpose(0, 2, 1) @ codes
    decoders = rng.random((3, hidden, 23)) * min(upper, 1)
    kept = decoders.copy()
    found = descend_decoders(moments, gram, decoders, 2, upper)
    for i in range(3):
        given = moments[i], gram[i], decoders[i], 2, upper
        np.testing.assert_allclose(found[i], one_by_one(*given), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(descend_decoder(*given), found[i], rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(decoders, kept)


def descents(rng, moment, hidden, count):
    width = moment.n_attributes
    given = [(rng.random((width, hidden)), rng.random((hidden, width))) for _ in range(count)]
    given[-1][0][:, 0] *= 1e9  # to be scaled down
    return [[GramDescent(moment, *start) for start in given] for _ in range(2)]


@pytest.mark.parametrize(("width", "hidden", "count"), [(12, 3, 4), (40, 35, 2), (6, 1, 1)])
def test_together_is_as_apart(rng, width, hidden, count):
    X = rng.random((200, 5)) @ rng.random((5, width)) / 5
    X[:, 0] = 0  # an attribute without any content
    moment = DenseMoment(held(np.minimum(X, 1)))
    apart, together = descents(rng, moment, hidden, count)
    company = Company(together)
    for _ in range(12):
        for descent in apart:
            descent.step()
        company.step()
        for one, other in zip(apart, together, strict=True):
            assert one.error() == pytest.approx(other.error(), rel=1e-7, abs=1e-12)
    for one, other in zip(apart, together, strict=True):
        assert len(one.errors) == len(other.errors) == 13
        assert one._momentum == other._momentum  # the same steps were taken back
        np.testing.assert_allclose(other.state.product, moment.dot(other.state.encoder), rtol=1e-9)
        assert (np.diff(other.errors) <= 0).all()


def test_descents_are_shared_out_among_threads(rng, monkeypatch):
    moment = DenseMoment(held(rng.random((50, 8))))
    several = descents(rng, moment, 2, 5)[0]
    with threadpool_limits(2, "blas"):
        assert len(companies(several)) == 1  # there is little to do
        monkeypatch.setattr("lrnn.rows.blas.WORTH", 1)
        assert [len(company._descents) for company in companies(several)] == [3, 2]


def test_the_model_does_not_depend_on_threads(rng, monkeypatch):
    X, found = rng.random((300, 10)), []
    monkeypatch.setattr("lrnn.rows.blas.WORTH", 1)
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(LRNNAutoencoder(3, max_iter=20, tol=0.01, random_state=0).fit(X))
    errors = [model.reconstruction_err_ for model in found]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)


def test_what_is_not_of_numpy_steps_by_itself(rng):
    torch = pytest.importorskip("torch", reason="pip install 'lrnn[torch]'")
    assert can_be_together(DenseMoment(held(rng.random((20, 4)))))
    assert not can_be_together(DenseMoment(held(torch.as_tensor(rng.random((20, 4))))))


def test_the_worse_half_of_the_starts_is_given_up_soon(rng, monkeypatch):
    from lrnn.training import Observer, Run, Settings
    from lrnn.training.gram import GramSearch

    moment = DenseMoment(held(rng.random((60, 8))))
    settings = Settings(sizes=(8, 2), max_iter=40, tol=0.0)
    run = Run(settings, np.random.RandomState(0), Observer())
    monkeypatch.setattr("lrnn.training.gram.CHEAP", 24 * 8**2 * 2)  # 24 steps
    search = GramSearch(descents(rng, moment, 2, 5)[0], run)
    left = []
    for _ in range(26):
        search.step(lambda: None)
        left.append(len(search._starts))
        again = GramSearch(descents(rng, moment, 2, 5)[0], run)
        again.restore(search.state())
        assert again.error() == search.error()
        again.step(lambda: None)
        assert len(again._starts) == search._left(search.steps + 1)
    assert left == [5] * 1 + [3] * 22 + [1] * 3
    monkeypatch.setattr("lrnn.training.gram.CHEAP", 6 * 8**2 * 2)
    assert len(GramSearch(descents(rng, moment, 2, 5)[0], run)._starts) == 1  # at once
    monkeypatch.setattr("lrnn.training.gram.CHEAP", 41 * 8**2 * 2)
    assert GramSearch(descents(rng, moment, 2, 5)[0], run)._left(40) == 5  # all to the end


def test_one_that_goes_on_is_not_with_those_that_begin(rng):
    moment = DenseMoment(held(rng.random((50, 8))))
    several = descents(rng, moment, 2, 3)[0]
    several[1].step()
    assert [len(company._descents) for company in companies(several)] == [1, 2]


def test_an_early_start_goes_on_until_it_is_overtaken(rng, monkeypatch):
    from lrnn.training import Observer, Run, Settings
    from lrnn.training.gram import GramSearch

    moment = DenseMoment(held(rng.random((60, 8))))
    settings = Settings(sizes=(8, 2), max_iter=40, tol=0.0)
    run = Run(settings, np.random.RandomState(0), Observer())
    monkeypatch.setattr("lrnn.training.gram.CHEAP", 3 * 8**2 * 2)  # three steps

    def search(lead):
        """One of which an early start is ahead by so much, and makes no progress."""
        several = descents(rng, moment, 2, 4)[0]
        several[1].early = True
        several[1].step = lambda: None
        lowest = min(d.error() for d in several)
        several[1].state = replace(several[1].state, error=lead * lowest)
        return GramSearch(several, run)

    monkeypatch.setattr("lrnn.training.gram.can_be_together", lambda moment: False)
    behind = search(1.5)
    assert not any(start.early for start in behind._starts)
    overtaken = search(0.97)
    assert [start.early for start in overtaken._starts] == [False, True]
    ahead = []
    for _ in range(30):
        overtaken.step(lambda: None)
        ahead.append(any(start.early for start in overtaken._starts))
    assert ahead[0]
    assert not ahead[-1]
    monkeypatch.setattr("lrnn.training.gram.IN_TIME", 10)
    never = search(0.01)
    for _ in range(9):
        never.step(lambda: None)
    assert [start.early for start in never._starts] == [False, True]
    never.step(lambda: None)
    assert [start.early for start in never._starts] == [True]
