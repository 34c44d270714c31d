"""A trial: many cases of one kind, each with random numbers of its own, of which none may fail.

A test is a function of one `Case`, and `cases` says how many there are. The few of the seed 0 run
with all other tests; the many of the seeds from 1 on with ``pytest -m trial``. What fails is told
with the command that tries this one case again.
"""

import linecache
import shutil
import signal
import traceback
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import sklearn

import lrnn

SEEDS = 20  # into which the many cases are divided
PATIENCE = 120.0  # seconds for a case
SHOWN = 10  # failures of a test
FORESEEN = (ValueError, TypeError, OSError, MemoryError)
OURS = tuple(str(Path(package.__file__).parent) for package in (lrnn, sklearn))


def cases(*, short: int, full: int) -> Callable:
    """So many cases with all other tests, and so many with ``pytest -m trial``."""

    def made(check: Callable[[Case], None]) -> Callable:
        def test(trial: Trial) -> None:
            trial(check)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        test.__module__, test.__qualname__ = check.__module__, check.__qualname__
        test.cases = (short, full)
        return test

    return made


@dataclass
class Case:
    """One case: its random numbers, a folder for its files, and what it is about."""

    rng: np.random.Generator
    folder: Path
    call: Callable  # runs the command in this process
    short: bool  # it is one of the few
    about: list[str] = field(default_factory=list)

    def pick(self, among):
        """One of several; of those in a dictionary, the value. Its name is noted."""
        names = list(among)
        name = names[self.rng.integers(len(names))]
        found = among[name] if isinstance(among, dict) else name
        self.about.append(f"{getattr(name, '__name__', name)!s:.100}")
        return found

    def any_of(self, among):
        """One of several, of which nothing is noted."""
        return among[self.rng.integers(len(among))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)


class Untried(Exception):  # noqa: N818
    """What a case needs cannot be made: it is not counted."""


class Hangs(BaseException):
    """A case takes too long."""


@dataclass
class Trial:
    """Cases of one kind under one seed, and what came of them."""

    kind: str
    seed: int
    numbers: Sequence[int]
    folder: Path
    command: str
    call: Callable
    record: Callable[[str, object], None]
    tried: int = 0
    failures: list[str] = field(default_factory=list)

    def __call__(self, check: Callable[[Case], None]) -> None:
        """Try all cases; the test fails at the end, if one has."""
        for number in self.numbers:
            folder = self.folder / str(number)
            folder.mkdir()
            rng = np.random.default_rng([zlib.crc32(self.kind.encode()), self.seed, number])
            case = Case(rng, folder, self.call, short=not self.seed)
            try:
                with patience(), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    warnings.simplefilter("error", RuntimeWarning)  # NumPy's: never meant
                    check(case)
            except (Untried, pytest.skip.Exception):  # a library is not there
                self.tried -= 1
            except (Exception, Hangs) as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                said = " ".join(f"{type(error).__name__}: {error}".split())
                self.failures.append(
                    f"{', '.join(case.about)}\n    {said:.400} ({Path(where.filename).name}:"
                    f"{where.lineno})\n    CASE={self.seed}:{number} {self.command}"
                )
            self.tried += 1
            shutil.rmtree(folder, ignore_errors=True)
        self.record("trial", (self.kind, self.tried, len(self.failures)))
        if self.failures:
            told = "\n".join(self.failures[:SHOWN])
            pytest.fail(f"{len(self.failures)} of {self.tried} fail:\n{told}", pytrace=False)


@contextmanager
def patience(seconds: float = PATIENCE):
    """Whatever takes longer hangs."""

    def give_up(*_):
        raise Hangs(f"takes more than {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_ours(error: BaseException) -> bool:
    """Whether an error was foreseen: raised in words by lrnn, or by scikit-learn on its behalf."""
    if not isinstance(error, FORESEEN) or len(str(error)) < 20:
        return False
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    file = frame.f_code.co_filename
    return file.startswith(OURS) and linecache.getline(file, line).strip().startswith("raise ")


@dataclass
class Refusal:
    """An error of ours instead of an answer."""

    error: BaseException


def answer(call: Callable, *arguments):
    """What a call gives, or the `Refusal` that it is answered with; other errors are raised."""
    try:
        return call(*arguments)
    except Exception as error:
        if is_ours(error):
            return Refusal(error)
        raise


def check_said(done, *, may_fail: bool = True) -> None:
    """A command that has ended has done its work, or tells in one line why not."""
    said = done.stderr
    assert "Traceback" not in said, said[-600:]
    assert "--debug" not in said, said[-400:]
    assert done.returncode in ((0, 1) if may_fail else (0,)), f"status {done.returncode}: {said}"
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(errors) == done.returncode, said
    assert not errors or len(errors[0]) > 30, said


def left_in(folder: Path) -> set[str]:
    """Names of all files and folders, hidden ones too."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


DAMAGE = ["flip", "other", "insert", "delete", "cut", "copy", "zero"]


def damaged(case: Case, content: bytes) -> bytes:
    """Bytes of a file with something wrong in a place or two, often near its beginning."""
    found, rng = bytearray(content), case.rng
    for _ in range(rng.integers(1, 4)):
        size = min(len(found), case.any_of([200, len(found)]))
        at, length, kind = int(rng.integers(size + 1)), int(rng.integers(1, 65)), case.pick(DAMAGE)
        last = {"flip": at + 1, "insert": at, "copy": at, "cut": len(found)}.get(kind, at + length)
        found[at:last] = {
            "flip": bytes(byte ^ 1 << int(rng.integers(8)) for byte in found[at:last]),
            "other": rng.bytes(length),
            "insert": rng.bytes(length),
            "copy": found[at : at + length],
            "zero": bytes(len(found[at:last])),
        }.get(kind, b"")
    return bytes(found)


def pytest_terminal_summary(terminalreporter):
    """The table of what was tried; `tests/conftest.py` hands it to pytest."""
    counts = defaultdict(lambda: [0, 0])
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for name, value in getattr(report, "user_properties", ()):
                if name == "trial" and report.when == "call":
                    counts[value[0]][0] += value[1]
                    counts[value[0]][1] += value[2]
    if not counts:
        return
    terminalreporter.section("trial: tried and failed")
    counts["all"] = [sum(numbers) for numbers in zip(*counts.values(), strict=True)]
    width = max(map(len, counts))
    for kind in sorted(counts, key=lambda kind: (kind == "all", kind)):
        tried, failed = counts[kind]
        terminalreporter.write_line(f"{kind:<{width}} {tried:>8,} {failed:>6,}")
