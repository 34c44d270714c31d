"""What each kind of file holds, and since which format.

A schema says of each value its type, shape and range. A name in the shape of an array stands for a
length: the same name is the same length everywhere in a state, but anew in each item of a list.
What a schema does not name is passed over: a later version may know more. Newer versions of lrnn
read older files; older ones refuse newer formats. A file never has a higher format than its content
needs. `lrnn.storage.codec` says which values are in tensors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from sys import float_info
from typing import Any, Protocol, TypeAlias, get_args

import numpy as np

from lrnn.storage.codec import TensorFileError
from lrnn.training import State, StopReason
from lrnn.training.gram import MOMENTUM_LIMIT

LARGEST = float_info.max
POSITIVE = 5e-324
FLOATS = ("float64", "float32")
JSON_TYPES = {dict: "named values", list: "a list", str: "text", bool: "true or false"}

Lengths: TypeAlias = dict[str, int]


class Field(Protocol):
    """What a value must be like."""

    def check(self, value: Any, name: str, lengths: Lengths) -> Any:
        """The value, if it is like that."""


def wrong(name: str, value: Any, wanted: str) -> TensorFileError:
    """An error that says what a value is, and what it should be."""
    shown = " ".join(repr(value).split())
    return TensorFileError(f"{name} is {shown:.40}, and should be {wanted}")


def limits(least: float, most: float) -> str:
    """The limits of numbers, in words."""
    return f"from {least:g} to {most:g}" if most < LARGEST else f"from {least:g} on"


@dataclass(frozen=True)
class Number:
    """A finite number within limits."""

    least: float = -LARGEST
    most: float = LARGEST
    whole: bool = False

    def check(self, value: Any, name: str, lengths: Lengths) -> Any:
        """The value; as a float, unless it must be whole."""
        kinds = (int,) if self.whole else (int, float)
        if type(value) not in kinds or not self.least <= value <= self.most:
            kind = "whole" if self.whole else "finite"
            raise wrong(name, value, f"a {kind} number {limits(self.least, self.most)}")
        return value if self.whole else float(value)


@dataclass(frozen=True)
class OneOf:
    """One of a few numbers or words."""

    options: tuple[Any, ...]

    def check(self, value: Any, name: str, lengths: Lengths) -> Any:
        """The option."""
        if isinstance(value, bool | np.ndarray) or value not in self.options:
            raise wrong(name, value, f"one of {', '.join(map(repr, self.options))}")
        return self.options[self.options.index(value)]


@dataclass(frozen=True)
class Plain:
    """A value of this type of JSON without arrays in it; whoever takes it checks the rest."""

    kind: type

    def check(self, value: Any, name: str, lengths: Lengths) -> Any:
        """The value."""
        if type(value) is not self.kind or _has_arrays(value):
            raise wrong(name, value, JSON_TYPES[self.kind])
        return value


def _has_arrays(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, np.ndarray) or any(map(_has_arrays, inner))


@dataclass(frozen=True)
class Numbers:
    """An array of finite numbers within limits; without limits they may be of any kind."""

    shape: tuple[str | int, ...]
    types: tuple[str, ...] = ("float64",)
    least: float | None = -LARGEST
    most: float = LARGEST
    empty: bool = False

    def check(self, value: Any, name: str, lengths: Lengths) -> Any:
        """The array."""
        if not isinstance(value, np.ndarray):
            raise wrong(name, value, "an array")
        fits = value.ndim == len(self.shape) and value.dtype.name in self.types
        for n, own in zip(self.shape, value.shape, strict=False):
            fits &= own == (lengths.setdefault(n, own) if isinstance(n, str) else n)
        if not fits or (not self.empty and not value.size):
            shape = ", ".join(str(lengths.get(str(n), n)) for n in self.shape)
            raise TensorFileError(
                f"{name} is {value.dtype} of the shape {value.shape}, and should be "
                f"{' or '.join(self.types)} of the shape ({shape})"
            )
        if self.least is None or not value.size:
            return value
        lowest, highest = float(value.min()), float(value.max())  # NaN, if there is one
        if not self.least <= lowest <= highest <= self.most:
            raise TensorFileError(
                f"{name} has numbers that are not finite, or not {limits(self.least, self.most)}"
            )
        return value


@dataclass(frozen=True)
class Each:
    """A list of values that are alike."""

    field: Field
    least: int = 0

    def check(self, value: Any, name: str, lengths: Lengths) -> list[Any]:
        """The list."""
        if not isinstance(value, list) or len(value) < self.least:
            raise wrong(name, value, f"a list of {self.least} or more")
        return [self.field.check(v, f"{name}.{i}", {**lengths}) for i, v in enumerate(value)]


@dataclass(frozen=True)
class Null:
    """What may be null."""

    field: Field

    def check(self, value: Any, name: str, lengths: Lengths) -> Any:
        """The value, or None."""
        return None if value is None else self.field.check(value, name, lengths)


class Maybe(Null):
    """What need not be there; then it is None."""


@dataclass(frozen=True)
class Since(Null):
    """What is there from a format on; before, it is None."""

    format: int = 1


@dataclass(frozen=True)
class Record:
    """Named values. Those without a field are passed over: later versions may know more."""

    fields: Mapping[str, Field]

    def check(self, value: Any, name: str = "", lengths: Lengths | None = None) -> State:
        """The values that have fields."""
        if not isinstance(value, dict):
            raise wrong(name, value, "named values")
        lengths = {} if lengths is None else lengths
        found: State = {}
        for key, field in self.fields.items():
            own = f"{name}.{key}" if name else key
            if isinstance(field, Since) and found["format"] < field.format:
                found[key] = None
            elif key in value:
                found[key] = field.check(value[key], own, lengths)
            elif isinstance(field, Maybe):
                found[key] = None
            else:
                raise TensorFileError(f"it has no {own}")
        return found


# Kinds of files


FORMAT = 4  # of models: 1 is an autoencoder, 2 one with inhibition, 3 a classifier, 4 a detector
FORMAT_OF_MOMENTS = 1

WHITES = (1.0, 255.0, 65_535.0)  # levels that may stand for 1
COUNT = Number(0, 2**63 - 1, whole=True)
WEIGHTS = Numbers(("from", "to"), FLOATS, least=0)
COUNTED = (*FLOATS, "int64")
LABELS = ("bool", "float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8",
          "uint16", "uint32", "uint64")  # fmt: skip

CURVE = Record(
    {
        "layer": Null(COUNT),
        "passes": COUNT,
        "stopped": OneOf(get_args(StopReason)),
        "stage": Plain(str),
        "batch_errors": Numbers(("batches",), COUNTED, least=None, empty=True),
        "iterations": Numbers(("times",), COUNTED, least=None, empty=True),
        "errors": Numbers(("times",), COUNTED, least=None, empty=True),
        "seconds": Numbers(("times",), COUNTED, least=None, empty=True),
    }
)
"""How a training went."""

TRAINED: dict[str, Field] = {
    "parameters": Plain(dict),
    "history": Each(CURVE),
    "n_iter": COUNT,
    "feature_names": Null(Each(Plain(str))),
    "scaling": Null(Plain(dict)),
    "white": Null(OneOf(WHITES)),
    "output": Maybe(OneOf(("default", "pandas", "polars"))),  # if `set_output` was called
    "layer_spike_costs": Each(Number()),
    "firing_rates": Each(Numbers(("neurons",), FLOATS, least=0)),
}
"""Of an autoencoder or a classifier."""

SUMS: dict[str, Field] = {
    "gram": Numbers(("inputs", "inputs"), least=0),
    "column_sums": Numbers(("inputs",), least=0),
    "low": Maybe(Numbers(("inputs",), least=0, most=1)),
    "high": Maybe(Numbers(("inputs",), least=0, most=1)),
}
ABOUT_SUMS: dict[str, Field] = {
    "moment": OneOf((FORMAT_OF_MOMENTS,)),
    "weight": Number(least=0),
    "rows": COUNT,
    "rounding": Number(least=0),
    "type": OneOf(FLOATS),
    "names": Null(Each(Plain(str))),
    "scaling": Null(Plain(dict)),
    "white": Null(OneOf(WHITES)),
}

MOMENT = Record(ABOUT_SUMS | SUMS)

STREAM = Record(
    {
        "moment": Record(ABOUT_SUMS),
        **SUMS,
        "error": Number(0, 2),
        "momentum": Number(0, MOMENTUM_LIMIT),
        "waiting": COUNT,
        "rows": COUNT,
        "begun": COUNT,
        "seed": Number(0, 2**32 - 1, whole=True),
        "before": Maybe(Numbers(("inputs", "codes"), FLOATS, least=0)),
        "encoder": Maybe(Numbers(("inputs", "codes"), FLOATS, least=0)),  # of a deep network:
        "decoder": Maybe(Numbers(("codes", "inputs"), FLOATS, least=0)),  # the shallow one
    }
)
"""What a stream goes on from: its moment, and where the descent is."""

FILLING = Record(
    {
        "decoder": Numbers(("parts", "attributes"), least=0),
        "codes": Numbers(("parts",)),
        "root": Numbers(("parts", "parts")),
    }
)
"""What fills missing cells."""

AUTOENCODER = Record(
    {
        "format": OneOf((1, 2)),
        **TRAINED,
        "reconstruction_err": Number(),
        "spike_cost": Number(),
        "error_is_bound": Maybe(Plain(bool)),  # if it is one
        "corrupted_err": Maybe(Number()),  # if rows were corrupted
        "stream": Maybe(STREAM),  # if a stream can go on
        "filling": Maybe(FILLING),  # if cells were missing
        "encoder": Each(WEIGHTS, least=1),
        "decoder": Each(WEIGHTS, least=1),
        "inhibitory_encoder": Since(Each(WEIGHTS, least=1), format=2),
        "inhibitory_decoder": Since(Each(WEIGHTS, least=1), format=2),
        "init_encoder": Maybe(Each(WEIGHTS, least=1)),  # if the parameter `init` gave weights
        "init_decoder": Maybe(Each(WEIGHTS, least=1)),
    }
)

CLASS_WEIGHT = Number()
START = Null(Plain(str))  # the parameter `init`, whose weights are beside it

CLASSIFIER = Record(
    {
        "format": OneOf((3,)),
        **TRAINED,
        "classes": Numbers(("classes",), LABELS),
        "inhibition": Plain(bool),
        "frozen": COUNT,  # layers
        "class_weight": Null(Each(Plain(list))),  # pairs of a label and its weight
        "loss": Number(),
        "layer_spike_costs": Each(Number(least=0)),
        "excitatory": Each(WEIGHTS, least=2),
        "inhibitory": Maybe(Each(WEIGHTS, least=2)),
    }
)

TEXT_CLASSES = Record(
    {
        "labels": Each(Plain(str)),
        "held": OneOf(("str", "object")),  # how they were held
        "type": Plain(str),
    }
)
"""In the place of classes that are numbers."""

CLASSIFIER_OF_TEXT = Record({**CLASSIFIER.fields, "classes": TEXT_CLASSES})

DETECTOR = Record(
    {
        "format": OneOf((4,)),
        "network": AUTOENCODER,
        "detector": Record(
            {
                "parameters": Plain(dict),
                "neighbours": Number(least=POSITIVE),
                "offset": Number(),
                "flagged_share": Number(0, 1),
                "width_path": Null(Plain(dict)),
            }
        ),
        "typical": Maybe(
            Record(
                {
                    "centres": Numbers(("groups", "attributes"), FLOATS),
                    "counts": Numbers(("groups",), FLOATS, least=POSITIVE),
                }
            )
        ),
        "held_out": Record(
            {
                "parts": Numbers(("rows", 2), least=0),
                "weights": Numbers(("rows",), least=POSITIVE),
            }
        ),
    }
)
