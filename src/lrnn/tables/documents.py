"""Documents as JSON."""

import json
from math import isfinite
from typing import Any

__all__ = ["json_text"]


def json_text(document: Any, **layout: Any) -> str:
    """The document as JSON, with null for numbers that JSON does not have: NaN and infinities.

    >>> json_text({"covered": float("nan"), "rates": (0.5, float("inf"))})
    '{"covered": null, "rates": [0.5, null]}'
    """
    return json.dumps(_finite(document), allow_nan=False, **layout)


def _finite(value: Any) -> Any:
    """The same, with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value
