"""Side by side with other libraries, on the reader's own machine: ``lrnn benchmark``."""

from lrnn.benchmark.peers import chosen
from lrnn.benchmark.result import Result, run

__all__ = ["Result", "chosen", "run"]
