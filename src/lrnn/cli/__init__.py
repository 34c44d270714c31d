"""The command line: one file per command."""

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["main"]


def main() -> None:
    """Run the command line, which takes a while to load."""
    _open_streams()
    with _ending_at_once():
        from lrnn.cli.app import main as run

        run()


def _open_streams() -> None:
    """What is said where a standard stream is closed goes nowhere; no file takes its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """Where Ctrl-C ends the process, before a command has begun and after it has ended.

    An import is not to be unwound: some modules turn an exception in their midst into another one.
    """
    main_thread = threading.current_thread() is threading.main_thread()
    if not main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _end)
    atexit.register(signal.signal, signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: object) -> None:
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    os._exit(128 + number)
