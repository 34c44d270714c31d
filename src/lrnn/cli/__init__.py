"""The command line: one file per command."""

from lrnn.cli.app import main

__all__ = ["main"]
