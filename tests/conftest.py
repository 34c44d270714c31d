import importlib
import os
import re
import shutil
import signal
import sys
import threading
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn checks more with it; before SciPy

import numpy as np
import pytest
from hypothesis import settings
from markupsafe import Markup
from numba.core import config
from sklearn.datasets import load_digits

from lrnn import RandomNeuralNetwork
from naming import naming
from trial.harness import pytest_terminal_summary  # noqa: F401

settings.register_profile("lrnn", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lrnn")

if config.ENABLE_CUDASIM:
    # Threads of the simulator walk through the names of a kernel's module. The first warning of a
    # module (numbers overflow, as drawing does) would add a name meanwhile: it is there before.
    for name in ("functional.cuda_adam", "functional.cuda_descent", "functional.cuda_pivots",
                 "spiking.cuda_kernel", "spiking.neuron_cuda_kernel", "spiking.draws"):  # fmt: skip
        vars(importlib.import_module(f"lrnn.{name}")).setdefault("__warningregistry__", {})

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as shells set it for what they run behind
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def digits():
    """scikit-learn's 1,797 digits of 64 pixels in [0, 1]; not to be written to."""
    data = load_digits().data / 16
    data.flags.writeable = False
    return data


@pytest.fixture(scope="module")
def browser():
    """Chromium, as Debian packages it, without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install '.[browser]')"
    )
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no Chromium (apt install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def dask_here():
    """Dask, if it is installed, works in this very thread."""
    try:
        import dask
    except ImportError:
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20161)


@pytest.fixture(scope="session")
def random_network():
    """Recurrent, inhibitory, with self-loops; and arrivals under which it is stable."""

    def make(seed, n=5):
        rng = np.random.default_rng(seed)
        routes = rng.dirichlet(np.ones(2 * n + 1) * 0.5, size=n)
        network = RandomNeuralNetwork(rng.uniform(0.5, 2, n), routes[:, :n], routes[:, n : 2 * n])
        return network, rng.uniform(0, 0.5, n), rng.uniform(0, 0.5, n)

    return make


@pytest.fixture
def unrendered(monkeypatch):
    """Figures of reports are drawn, but not laid out and written: most of the time of a report.

    For tests of what the page says; tests/report and several commands see it rendered.
    """

    def markup(figure, name, label):
        return Markup(f'<svg role="img" aria-label="{Markup.escape(label)}"></svg>')

    monkeypatch.setattr("lrnn.report.pictures.markup", markup)


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


@dataclass
class Done:
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def said(self):
        """Its errors as one line, without frames."""
        return " ".join(self.stderr.replace("│", " ").split())

    def names(self, *parts):
        """Whether its errors and warnings name all of these (see `naming`)."""
        return re.search(naming(*parts), self.said) is not None

    def shows(self, *parts):
        """Whether its output has all of these, however it is laid out."""
        shown = " ".join(self.stdout.replace("│", " ").split())
        return re.search(naming(*parts), shown) is not None


@pytest.fixture(scope="session")
def call():
    """Run the ``lrnn`` command with these arguments, in this process: that is quick."""

    from lrnn.cli import main

    def run(*arguments, cwd=".", columns=100):
        out, err, argv, before = StringIO(), StringIO(), sys.argv, dict(os.environ)
        sys.argv = ["lrnn", *map(str, arguments)]
        os.environ |= {"COLUMNS": str(columns), "NO_COLOR": "1"}
        try:
            with chdir(cwd), redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
                main()
        except SystemExit as end:
            return Done(int(end.code or 0), out.getvalue(), err.getvalue())
        finally:
            sys.argv = argv
            os.environ.clear()
            os.environ |= before
        raise AssertionError("main always exits")

    return run
