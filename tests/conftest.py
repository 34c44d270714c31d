import os
import signal
import threading

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn checks more with it; before SciPy

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import load_digits

settings.register_profile("lrnn", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lrnn")


@pytest.fixture(scope="session")
def digits():
    """scikit-learn's 1,797 digits of 64 pixels in [0, 1]; not to be written to."""
    data = load_digits().data / 16
    data.flags.writeable = False
    return data


@pytest.fixture
def rng():
    return np.random.default_rng(20161)


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C after so many seconds, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timers = []

    def press(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield press
    for timer in timers:
        timer.cancel()
    signal.signal(signal.SIGINT, before)
