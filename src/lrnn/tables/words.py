"""What is said of tables and settings in the words of whoever asks: parameters, or options."""

import functools
import re
import shlex
import sys
import warnings
from functools import partial
from math import log2
from pathlib import Path

__all__ = [
    "FILLS",
    "SettingError",
    "SettingWarning",
    "TableError",
    "TableWarning",
    "as_options",
    "escaped",
    "in_bytes",
    "options_in",
    "warn",
]

FILLS = (  # remedies for missing cells
    "{missing=allow} fills such cells with what is probable, {missing=median} with the middle of "
    "their column, {missing=drop} leaves their rows out"
)
OPTION = re.compile(r"\{(\w+)(?:=([^{}]*))?\}")
SWITCHES = {"True": True, "False": False}  # on the command line, --header and --no-header
NUMBER = re.compile(r"-?[\d.]+(e-?\d+)?|\(.*\)")  # or a tuple of them: not a text
OTHERWISE = {  # options that are not called as their parameters are
    "hidden_layer_sizes": "--hidden",
    "decoder_layer_sizes": "what stands behind the plus of --hidden",
    "random_state": "--seed",
    "validation_fraction": "the share of rows that is held out",
}
INSIDE = str(Path(__file__).parents[1])


class _Said(Exception):  # noqa: N818
    """What is told in two ways; ``text`` is the one that both are made of."""

    numbers = False  # whether a value may be a number: names of columns are text, also 7

    def __init__(self, text: str) -> None:
        super().__init__(OPTION.sub(partial(_as_parameter, numbers=self.numbers), text))
        self.text = text


class TableError(_Said, ValueError):
    """A table that cannot be taken as it is.

    In its text ``{missing=median}`` stands for what may be given: a parameter in Python, an option
    on the command line. Without a value it is but named.

    Examples
    --------
    >>> error = TableError("a cell is empty; give {missing=median}")
    >>> print(error)
    a cell is empty; give missing='median'
    >>> print(as_options(error))
    a cell is empty; give --missing median
    """


class TableWarning(_Said, UserWarning):
    """Something about a table that its user should know; its text is as that of `TableError`."""


class SettingError(_Said, ValueError):
    """Settings of a model that do not go together; its text is as that of `TableError`.

    Examples
    --------
    >>> error = SettingError("{spike_penalty=0.1} needs {inhibition=True}, and a low {tol}")
    >>> print(error)
    spike_penalty=0.1 needs inhibition=True, and a low tol
    >>> print(as_options(error))
    --spike-penalty 0.1 needs --inhibition, and a low --tol
    """

    numbers = True


class SettingWarning(_Said, UserWarning):
    """Settings with which little is gained; its text is as that of `TableError`."""

    numbers = True


def as_options(said: object) -> str:
    """What an error or a warning says, in the words of the command line."""
    return OPTION.sub(_as_option, said.text) if isinstance(said, _Said) else str(said)


def options_in(said: object) -> list[str]:
    """The options that `as_options` names.

    >>> options_in(TableError("give {missing=median}, or {drop=NAME}"))
    ['--missing', '--drop']
    """
    found = OPTION.finditer(said.text) if isinstance(said, _Said) else ()
    words = (_as_option(match).partition(" ")[0] for match in found)
    return list(dict.fromkeys(word for word in words if word.startswith("--")))


def escaped(value: object) -> str:
    """A value of the user's, inside such a text."""
    return str(value).replace("{", "\\x7b").replace("}", "\\x7d")


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn of the line that called lrnn (or scikit-learn, that called it), however deep inside."""
    level, frame = 2, sys._getframe(1)
    sklearn = sys.modules.get("sklearn")
    own = (INSIDE, functools.__file__)  # cached properties
    inside = (*own, *(() if sklearn is None else (str(Path(sklearn.__file__ or "").parent),)))
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _as_option(found: re.Match[str]) -> str:
    name, value = found[1], found[2]
    option = OTHERWISE.get(name, f"--{name.replace('_', '-')}")
    if value is None or name in OTHERWISE:
        return option
    if value in SWITCHES:
        return option if SWITCHES[value] else option.replace("--", "--no-", 1)
    return f"{option} {shlex.quote(_meant(value))}"


def _as_parameter(found: re.Match[str], numbers: bool) -> str:
    name, value = found[1], found[2]
    if value is None:
        return name
    plain = value in SWITCHES or (numbers and NUMBER.fullmatch(value))
    return f"{name}={value if plain else repr(_meant(value))}"


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
