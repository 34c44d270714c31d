"""The trial itself: it finds what fails, says how to try it again, and knows whose errors are."""

import numpy as np
import pytest

from lrnn import LRNNAutoencoder
from trial.harness import Refusal, Trial, Untried, answer


def test_it_counts_and_tells_how_to_try_again(tmp_path, call):
    told = {}
    trial = Trial("kind", 7, range(6), tmp_path, "pytest -k this", call, told.__setitem__)

    def check(case):
        number = case.pick(range(6, 12))
        if case.folder.name == "1":
            raise Untried
        assert case.folder.name != "4", f"{number} is wrong"

    with pytest.raises(pytest.fail.Exception, match=r"1 of 5 fail:(.|\n)*CASE=7:4 pytest -k this"):
        trial(check)
    assert told == {"trial": ("kind", 5, 1)}
    assert not list(tmp_path.iterdir())


def test_errors_of_libraries_are_not_ours():
    model = LRNNAutoencoder()
    assert isinstance(answer(model.fit, [[-1.0]]), Refusal)  # of lrnn
    assert isinstance(answer(model.fit, [1.0]), Refusal)  # of scikit-learn
    with pytest.raises(ValueError, match="shapes"):
        answer(np.dot, np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(IndexError):
        answer(list.pop, [])
