"""What is said of tables, in the words of whoever asks: parameters in Python, or options."""

import re
import shlex
import sys
import warnings
from math import log2
from pathlib import Path

__all__ = ["FILLS", "TableError", "TableWarning", "as_options", "escaped", "in_bytes", "warn"]

FILLS = (  # remedies for missing cells
    "{missing=allow} fills such cells with what is probable, {missing=median} with the middle of "
    "their column, {missing=drop} leaves their rows out"
)
OPTION = re.compile(r"\{(\w+)=([^{}]*)\}")
SWITCHES = {"True": True, "False": False}  # on the command line, --header and --no-header
INSIDE = str(Path(__file__).parents[1])


class TableError(ValueError):
    """A table that cannot be taken as it is.

    In its text ``{missing=median}`` stands for what may be given: a parameter in Python, an option
    on the command line.

    Examples
    --------
    >>> error = TableError("a cell is empty; give {missing=median}")
    >>> print(error)
    a cell is empty; give missing='median'
    >>> print(as_options(error))
    a cell is empty; give --missing median
    """

    def __init__(self, text: str) -> None:
        super().__init__(_as_parameters(text))
        self.text = text


class TableWarning(UserWarning):
    """Something about a table that its user should know; its text is as that of `TableError`."""

    def __init__(self, text: str) -> None:
        super().__init__(_as_parameters(text))
        self.text = text


def as_options(said: object) -> str:
    """What an error or a warning says, in the words of the command line."""
    text = getattr(said, "text", None)
    if not isinstance(said, TableError | TableWarning) or text is None:
        return str(said)
    return OPTION.sub(_as_option, text)


def escaped(value: object) -> str:
    """A value of the user's, inside such a text."""
    return str(value).replace("{", "\\x7b").replace("}", "\\x7d")


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn of the line that called lrnn (or scikit-learn, that called it), however deep inside."""
    level, frame = 2, sys._getframe(1)
    sklearn = sys.modules.get("sklearn")
    inside = (INSIDE, *(() if sklearn is None else (str(Path(sklearn.__file__ or "").parent),)))
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _as_option(found: re.Match[str]) -> str:
    if found[2] in SWITCHES:
        return f"--{'' if SWITCHES[found[2]] else 'no-'}{found[1]}"
    return f"--{found[1]} {shlex.quote(_meant(found[2]))}"


def _as_parameters(text: str) -> str:
    return OPTION.sub(
        lambda found: f"{found[1]}={SWITCHES.get(found[2], _meant(found[2]))!r}", text
    )


def _meant(value: str) -> str:
    return value.replace("\\x7b", "{").replace("\\x7d", "}")


def in_bytes(count: float) -> str:
    """A number of bytes.

    >>> in_bytes(8 * 10**12), in_bytes(300)
    ('7.3 TiB', '300 bytes')
    """
    power = min(int(log2(max(count, 1))) // 10, 6)
    unit = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power]
    return f"{count / 1024**power:,.{min(power, 1)}f} {unit}"
