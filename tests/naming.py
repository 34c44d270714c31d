"""What an error, a warning or a line of output has to name, in whatever words and order."""

import re


def naming(*parts: object) -> str:
    """A pattern of a text with all of these in it: parameters, options, places, values, counts.

    Each stands by itself, so that 3 is not found in 13, nor ``row`` in ``rows``. The words between
    them are free: messages can be written anew without any test. Of a tuple one part is enough.
    """
    return "(?s)" + "".join(f"(?=.*(?<!\\w)(?:{_any_of(part)})(?!\\w))" for part in parts)


def _any_of(part: object) -> str:
    ways = part if isinstance(part, tuple) else (part,)
    return "|".join(re.escape(str(way)) for way in ways)
