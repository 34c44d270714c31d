"""Compiling with numba."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any], **options: Any) -> Any:
    """Machine code without Python's lock, kept on disk where there is a place to write to."""
    try:
        return njit(function, cache=True, nogil=True, **options)
    except RuntimeError:  # neither the package's folder nor the user's can be written to
        return njit(function, nogil=True, **options)
