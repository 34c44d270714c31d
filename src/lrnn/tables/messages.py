"""What errors and warnings say: sentences with fields, which Python and the command line word."""

import functools
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import log2
from pathlib import Path
from typing import Any, Self

__all__ = [
    "FILLS",
    "PYTHON",
    "Message",
    "Place",
    "RowNumbers",
    "Setting",
    "SettingError",
    "SettingWarning",
    "Surface",
    "TableError",
    "TableWarning",
    "Text",
    "UnfitNumbersError",
    "columns_listed",
    "in_bytes",
    "joined",
    "short",
    "warn",
]

FILLS = (  # remedies for missing cells
    "{missing=allow} fills such cells with what is probable, {missing=median} with the middle of "
    "their column, {missing=drop} leaves their rows out"
)
FIELD = re.compile(r"\{(\w+)(?:=([^{}]*)|:([^{}]*))?\}")
NUMBER = re.compile(r"-?[\d.]+(e-?\d+)?|\(.*\)")  # or a tuple of them: not a text
SWITCHES = {"True": True, "False": False}
SHOWN = 10  # names in a message
SHOWN_ROWS = 3  # numbers of rows in a message
INSIDE = str(Path(__file__).parents[1])


@dataclass(frozen=True)
class Setting:
    """A parameter in Python, an option on the command line; named only, if it has no value.

    A value may be a number, unless it is ``text``: the name of a column is text, also 7. A column
    is given as its `Place`.
    """

    name: str
    value: Any = None
    text: bool = True

    def worded(self, surface: "Surface") -> str:
        """As users write it."""
        return surface.setting(self)


@dataclass(frozen=True)
class Place:
    """A cell of a table, or a column, by indices from 0 and by the column's name, if it has one."""

    row: int | None = None
    column: int | None = None
    name: str | None = None
    of: str = ""  # whose row it is, if it is not one of all

    @classmethod
    def at(cls, row: Any, column: Any, names: Sequence[Any] | None = None) -> "Place":
        """A cell, or a column if ``row`` is None, of a table with such names."""
        known = names is not None and column is not None and column < len(names)
        name = names[column] if known else None  # type: ignore[index]
        number = None if row is None else int(row)
        return cls(number, None if column is None else int(column), _own(name))

    def moved(self, row: int | None, column: int | None) -> "Place":
        """The same by other numbers."""
        return Place(row, column, self.name, self.of)

    def worded(self, surface: "Surface") -> str:
        """As users count."""
        return surface.place(self)


@dataclass(frozen=True)
class RowNumbers:
    """Rows by their indices, of which the first are named."""

    numbers: Sequence[int]

    def worded(self, surface: "Surface") -> str:
        """As users count."""
        shown = (f"{int(row) + surface.first:,}" for row in self.numbers[:SHOWN_ROWS])
        return ", ".join(shown) + ", …" * (len(self.numbers) > SHOWN_ROWS) + surface.counted


class Surface:
    """How Python words what a message has as fields; the command line has a class of its own."""

    first = 0  # the number of the first row and of the first column
    counted = " (counted from 0)"

    def setting(self, setting: Setting) -> str:
        """A parameter, with the value that it should get."""
        if setting.value is None:
            return setting.name
        value = str(self.meant(setting))
        number = isinstance(setting.value, Place) and setting.value.name is None
        plain = number or value in SWITCHES or (not setting.text and NUMBER.fullmatch(value))
        return f"{setting.name}={value if plain else repr(value)}"

    def meant(self, setting: Setting) -> Any:
        """The value of a setting; of a column without a name, the number that users count."""
        value = setting.value
        if not isinstance(value, Place):
            return value
        return value.name if value.name is not None else (value.column or 0) + self.first

    def place(self, place: Place) -> str:
        """A cell: by the name of its column, where it has one."""
        parts, numbers = [], place.row is not None
        if place.row is not None:
            parts.append(f"row {place.row}{place.of}")
        if place.name is not None:
            parts.append(f"column {short(place.name)!r}")
        elif place.column is not None:
            parts.append(f"column {place.column}")
            numbers = True
        return ", ".join(parts) + self.counted * numbers

    def source(self, name: str) -> str:
        """The data that are meant."""
        return name if name in ("X", "y", "the codes") else repr(name)


PYTHON = Surface()


class Text:
    """A sentence with fields: values, places, settings, or further sentences.

    ``{value:g}`` is a field in a format, ``{missing=median}`` a setting with a value that may be
    given, ``{missing}`` a field of that name, or else the setting itself.

    Examples
    --------
    >>> sentence = Text("{at} is {value:g}; give {scale=minmax}", at=Place(2, 1), value=-0.5)
    >>> sentence.worded(PYTHON)
    "row 2, column 1 (counted from 0) is -0.5; give scale='minmax'"
    """

    def __init__(self, template: str, *, numbers: bool = False, **fields: Any) -> None:
        self.template, self.numbers, self.fields = template, numbers, fields

    def worded(self, surface: Surface) -> str:
        """The sentence, as a surface words it."""
        return FIELD.sub(lambda found: self._word(found, surface), self.template)

    def __str__(self) -> str:
        return self.worded(PYTHON)

    @property
    def settings(self) -> Iterator[Setting]:
        """The settings that it names."""
        for found in FIELD.finditer(self.template):
            field = self._field(found)
            if isinstance(field, Setting):
                yield field
            else:
                yield from getattr(field, "settings", ())

    def _field(self, found: re.Match[str]) -> Any:
        name, value = found[1], found[2]
        if value is None and name in self.fields:
            return self.fields[name]
        return Setting(name, value, text=not self.numbers)

    def _word(self, found: re.Match[str], surface: Surface) -> str:
        field = self._field(found)
        if hasattr(field, "worded"):
            return str(field.worded(surface))
        return format(field, found[3] or "")


class Message(Exception):  # noqa: N818
    """What an error or a warning says, by its fields; their words are those of a surface.

    Parameters
    ----------
    problem : str
        What is wrong, as the template of a `Text`.
    remedy : str, optional
        What helps, as another such template; both have the same fields.
    source : str, optional
        What the data are called.
    **fields
        What the templates name: ``at`` is the place, ``value`` what stands there.
    """

    numbers = False  # whether values of settings may be numbers

    def __init__(self, problem: str, *, remedy: str = "", source: str = "", **fields: Any) -> None:
        self.problem, self.remedy, self.source, self.fields = problem, remedy, source, fields
        super().__init__(self.worded(PYTHON))

    def __reduce__(self) -> tuple[Any, ...]:
        given = {"remedy": self.remedy, "source": self.source, **self.fields}
        return functools.partial(type(self), self.problem, **given), ()

    @property
    def at(self) -> Place | None:
        """Where it is."""
        return self.fields.get("at")

    @property
    def value(self) -> Any:
        """What stands there."""
        return self.fields.get("value")

    @property
    def settings(self) -> list[Setting]:
        """The settings that the remedy, and the problem, name."""
        return [setting for text in self._texts for setting in text.settings]

    def worded(self, surface: Surface) -> str:
        """All of it."""
        said = "; ".join(text.worded(surface) for text in self._texts)
        return f"{surface.source(self.source)}: {said}" if self.source else said

    def but(self, **changes: Any) -> Self:
        """The same with another remedy or source, or with other fields."""
        given = {"remedy": self.remedy, "source": self.source, **self.fields, **changes}
        return type(self)(given.pop("problem", self.problem), **given)

    @property
    def _texts(self) -> list[Text]:
        templates = filter(None, (self.problem, self.remedy))
        return [Text(each, numbers=self.numbers, **self.fields) for each in templates]


class TableError(Message, ValueError):
    """A table that cannot be taken as it is.

    Examples
    --------
    >>> at = Place(0, 2, "ash")
    >>> print(TableError("{at} is missing", remedy="give {missing=median}", at=at))
    row 0, column 'ash' (counted from 0) is missing; give missing='median'
    """


class UnfitNumbersError(TableError):
    """Data have numbers that no neuron takes; ``kind`` is missing, infinite, below or above."""

    @property
    def kind(self) -> str:
        """What is wrong with the numbers."""
        return str(self.fields["kind"])


class TableWarning(Message, UserWarning):
    """Something about a table that its user should know."""


class SettingError(Message, ValueError):
    """Settings of a model that do not go together.

    Examples
    --------
    >>> error = SettingError("{spike_penalty=0.1} needs {inhibition=True}, and a low {tol}")
    >>> print(error)
    spike_penalty=0.1 needs inhibition=True, and a low tol
    """

    numbers = True


class SettingWarning(Message, UserWarning):
    """Settings with which little is gained."""

    numbers = True


def joined(texts: Sequence[Text], mark: str = "; ") -> Text:
    """Several sentences as one."""
    template = mark.join(f"{{text{i}}}" for i in range(len(texts)))
    fields: dict[str, Any] = {f"text{i}": text for i, text in enumerate(texts)}
    return Text(template, **fields)


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn of the line that called lrnn (or scikit-learn, that called it), however deep inside."""
    level, frame = 2, sys._getframe(1)
    sklearn = sys.modules.get("sklearn")
    own = (INSIDE, functools.__file__)  # cached properties
    inside = (*own, *(() if sklearn is None else (str(Path(sklearn.__file__ or "").parent),)))
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def short(text: str) -> str:
    """A text, or its beginning."""
    return text if len(text) <= 40 else text[:37] + "…"


def columns_listed(names: Sequence[str], wanted: object = "") -> str:
    """Columns of a table, for a message: those near to what was wanted first, then others.

    Of many only some are named, and the last, which often is the class.

    >>> columns_listed(["ash", "alcohol", "kind"], "Kin")
    "'kind', 'ash', 'alcohol'"
    >>> columns_listed([f"x{i}" for i in range(12)])
    "'x0', 'x1', 'x2', 'x3', 'x4', 'x5', 'x6', 'x7', 'x8' and 3 more, the last of them 'x11'"
    """
    alike = get_close_matches(str(wanted).lower(), dict.fromkeys(map(str.lower, names)))
    near = [name for name in names if name.lower() in alike]
    near.sort(key=lambda name: alike.index(name.lower()))
    found = [*near[:SHOWN], *(name for name in names if name not in near[:SHOWN])]
    if len(found) <= SHOWN:
        return ", ".join(map(repr, found))
    first, left = found[: SHOWN - 1], len(found) - SHOWN + 1
    return f"{', '.join(map(repr, first))} and {left:,} more, the last of them {found[-1]!r}"


def in_bytes(count: float) -> str:
    """A number of bytes.

    >>> in_bytes(8 * 10**12), in_bytes(300)
    ('7.3 TiB', '300 bytes')
    """
    power = min(int(log2(max(count, 1))) // 10, 6)
    unit = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power]
    return f"{count / 1024**power:,.{min(power, 1)}f} {unit}"


def _own(name: Any) -> str | None:
    """A column's name, if it is a text; numbers are no names."""
    return name if isinstance(name, str) else None
