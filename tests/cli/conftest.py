import os
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import pytest

from lrnn.cli import main


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


@pytest.fixture(scope="session")
def call():
    """Run the ``lrnn`` command with these arguments, in this process: that is quick."""

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
