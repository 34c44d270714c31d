"""Tables of a report."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TableOf:
    """Numbers that can be copied."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def number(value: float | None) -> str:
    """As short as it may be."""
    return "–" if value is None else f"{value:.4g}"
