"""Parameters that must fit each other, the network or the rows: messages name the remedy."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lrnn.arrays import Array, Backend, is_array, to_numpy
from lrnn.network.weights import Weights, over_one
from lrnn.rows import Rows
from lrnn.rows.base import BUFFER_BYTES
from lrnn.rows.buffer import coarse_parts
from lrnn.rows.validation import check_count
from lrnn.tables.messages import SettingError, SettingWarning, warn


def held_out_rows(rows: int, share: float) -> int:
    """How many rows are held out: at least one."""
    return max(1, round(share * rows))


WIDEST = 100  # code neurons, unless more are asked for
MOST_NEURONS = 2**31 - 1  # of a layer


def hidden_width(attributes: int) -> int:
    """The paper's number of hidden neurons for a table: half of the attributes, halves rounded up.

    >>> [hidden_width(n) for n in (4, 5, 7, 279)]
    [2, 3, 4, 140]
    """
    return (attributes + 1) // 2


def check_layer_sizes(sizes: Any, attributes: int) -> tuple[int, ...]:
    """Hidden layer sizes as a tuple of positive integers; a single number is one layer.

    None is the paper's rule for so many attributes, and 100 neurons at most.

    >>> check_layer_sizes(None, 13), check_layer_sizes(None, 784), check_layer_sizes(50, 784)
    ((7,), (100,), (50,))
    """
    if sizes is None:
        return (min(hidden_width(attributes), WIDEST),)
    widths = _widths(sizes, "hidden_layer_sizes")
    if not widths:
        raise ValueError(
            "hidden_layer_sizes is empty; a network needs at least one hidden layer, "
            "for example (100,)"
        )
    return widths


def check_decoding(estimator: Any) -> tuple[int, ...] | None:
    """Widths of the layers between code and output; None if they mirror those before the code."""
    sizes = estimator.decoder_layer_sizes
    if sizes is None:
        return None
    if estimator.solver != "gram" or estimator.rates != "free":
        raise SettingError(
            f"{{decoder_layer_sizes={sizes!r}}} needs {{solver=gram}} and {{rates=free}}: the "
            "printed algorithms train layers in pairs. Leave {decoder_layer_sizes} out, and the "
            "layers before the code are mirrored"
        )
    return _widths(sizes, "decoder_layer_sizes")


def _widths(sizes: Any, name: str) -> tuple[int, ...]:
    listed = (sizes,) if isinstance(sizes, Real) else sizes
    if isinstance(listed, str) or not isinstance(listed, Iterable):
        raise TypeError(f"{name} must be whole numbers such as (100,) or (500, 50), got {sizes!r}")
    widths = tuple(listed)
    for position, width in enumerate(widths):
        if not isinstance(width, Integral) or isinstance(width, bool):
            raise TypeError(f"{name}[{position}] is {width!r}; a layer's width is a whole number")
        if not 1 <= int(width) <= MOST_NEURONS:
            raise ValueError(
                f"{name}[{position}] is {width!r:.100}; a layer's width is ≥ 1, and at most "
                f"{MOST_NEURONS:,}"
            )
    return tuple(int(width) for width in widths)


def check_solver(solver: str, init: Any) -> None:
    """Settings that do not go together are refused."""
    if solver == "minibatch" and isinstance(init, str) and init == "anchors":
        raise ValueError("init='anchors' needs solver='gram'; use init='random' or None")


def check_forget(estimator: Any, on_moment: bool) -> None:
    """What is forgotten is a moment, which not all training on a stream keeps."""
    if estimator.forget is not None and not on_moment:
        raise ValueError(
            f"forget={estimator.forget!r} needs solver='gram', rates='free' and no inhibition, "
            "where a moment of all rows is kept; other training goes by the newest part anyway: "
            "give forget=None"
        )


def check_refine(refine: Any, inhibition: bool) -> None:
    """Sweeps over codes are counted, and need a decoder without inhibition."""
    check_count(refine, "refine", 0)
    if refine and inhibition:
        raise SettingError(
            f"{{refine={refine}}} needs a decoder without inhibition, whose outputs are sums of "
            "what each code neuron adds; take {refine=0}, or train without {inhibition=True}"
        )


def check_start(
    estimator: Any,
    sizes: Sequence[int],
    decoding: Sequence[int] | None,
    backend: Backend,
    dtype: np.dtype[Any],
) -> Weights | None:
    """Weights to start from, for layers of these sizes, if ``init`` gives any."""
    init = estimator.init
    if init is None or isinstance(init, str):
        return None
    if decoding is not None:
        raise ValueError(
            "init=(encoders, decoders) needs decoding layers that mirror the encoding ones; leave "
            "init=None, or decoder_layer_sizes=None"
        )
    if len(init) != 2:
        raise ValueError(
            f"init has {len(init)} parts; it is (encoder, decoder): two matrices, or two lists of "
            f"them for several hidden layers. Here {_start_shapes(sizes)}"
        )
    layers: list[Array] = []
    for part, given, widths in zip(("encoder", "decoder"), init, (sizes, sizes[::-1]), strict=True):
        matrices, count = matrices_of(given), len(sizes) - 1
        if len(matrices) != count:
            raise ValueError(
                f"init has {len(matrices)} {part}{'s' * (len(matrices) != 1)}, and "
                f"{count} hidden layer{'s' * (count != 1)} need {count}; give as many, or another "
                "hidden_layer_sizes"
            )
        for i, (matrix, shape) in enumerate(zip(matrices, pairwise(widths), strict=True)):
            name = part if count == 1 else f"{part} {i}"
            found = _start_matrix(matrix, shape, name, dtype, sizes)
            layers.append(backend.array(found.astype(dtype, copy=False)))
    weights = Weights.of(layers)
    if estimator.rates == "unit" and (over := [*map(over_one, layers)].count(True)):
        raise ValueError(
            f"rates='unit', but rows of {over} of the matrices of init sum to more than 1; divide "
            "such rows by their sum, as lrnn.functional.adjust_rows does, or train with "
            "rates='free'"
        )
    if len(sizes) > 2 and estimator.solver == "gram" and estimator.rates == "free":
        if estimator.inhibition:
            raise ValueError(
                "init=(encoders, decoders) of several hidden layers does not go with "
                "inhibition=True; leave init=None, or give one hidden layer"
            )
        if not estimator.fine_tune:
            raise ValueError(
                "init=(encoders, decoders) of several hidden layers is trained end to end: say for "
                "how many passes, as fine_tune=10 does, or take solver='minibatch'"
            )
    return weights


def matrices_of(given: Any) -> list[Any]:
    """A matrix, or matrices that follow each other, as a list."""
    if is_array(given) or sparse.issparse(given) or hasattr(given, "columns"):
        return [given]
    try:
        listed = list(given)
    except TypeError:
        raise ValueError(f"init has {given!r:.40} where a matrix of weights belongs") from None
    first = listed[0] if listed else ()
    return listed if hasattr(first, "shape") and len(first.shape) == 2 else [given]


def _start_matrix(
    given: Any, shape: tuple[int, int], name: str, dtype: Any, sizes: Sequence[int]
) -> NDArray[Any]:
    """A matrix of ``init``, which must be of this shape, finite, and not negative."""
    plain = given.toarray() if sparse.issparse(given) else given
    try:
        matrix = np.asarray(to_numpy(plain) if is_array(plain) else plain, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the {name} of init is no matrix of numbers: {given!r:.40}") from None
    if matrix.shape != shape:
        turned = matrix.shape == shape[::-1]
        remedy = "give its transpose" if turned else "give such, or another hidden_layer_sizes"
        raise ValueError(
            f"the {name} of init has shape {matrix.shape}, and should have {shape}: "
            f"{_start_shapes(sizes)}; {remedy}"
        )
    most = float(np.finfo(dtype).max) ** 0.5  # no product of two overflows
    wrong = ~((matrix >= 0) & (matrix <= most))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        value = matrix[row, column]
        what = "not a number" if np.isnan(value) else "negative" if value < 0 else "too large"
        raise ValueError(
            f"the {name} of init has {value:g} in row {row}, column {column}, which is {what}; "
            "weights are finite and at least 0"
        )
    if not matrix.any():
        raise ValueError(
            f"the {name} of init has zeros alone, from which no step leads away; give some "
            "positive weights"
        )
    return matrix


def _start_shapes(sizes: Sequence[int]) -> str:
    """What ``init`` looks like for a network with these layers."""
    there, back = list(pairwise(sizes)), list(pairwise(sizes[::-1]))
    if len(sizes) == 2:
        return (
            f"init=(encoder, decoder) has the shapes {there[0]}, attributes × hidden, and "
            f"{back[0]}, hidden × attributes"
        )
    return (
        f"init=(encoders, decoders) has the shapes {', '.join(map(str, there))}, from the "
        f"attributes to the code, and {', '.join(map(str, back))}, from there back"
    )


def check_inhibition(estimator: Any, rows: int) -> None:
    """Inhibition goes with free rates and our solver; penalties and held-out rows go with it."""
    if estimator.spike_penalty and not estimator.inhibition:
        raise SettingError(
            f"{{spike_penalty={estimator.spike_penalty!r}}} needs {{inhibition=True}}: the spikes "
            "of an excitatory network have no price in its training"
        )
    if estimator.early_stopping and not estimator.inhibition:
        raise SettingError("{early_stopping=True} needs {inhibition=True}; otherwise see {tol}")
    for name, needed in (("rates", "free"), ("solver", "gram")):
        value = getattr(estimator, name)
        if estimator.inhibition and value != needed:
            raise SettingError(f"{{inhibition=True}} needs {{{name}={needed}}}, got {value!r}")
    share = estimator.validation_fraction
    if estimator.early_stopping and held_out_rows(rows, share) >= rows:
        raise no_row_left(share, rows)


def no_row_left(share: float, rows: int) -> SettingError:
    """All rows would be held out."""
    return SettingError(
        f"{{validation_fraction={share!r}}} of n_samples={rows} leaves no row to train on; give "
        "more rows, or train without {early_stopping=True}"
    )


def check_corruption(estimator: Any, *, partly: bool = False, rowless: bool = False) -> None:
    """The printed algorithms know no corrupted rows; a part of a stream is trained by these.

    Without rows, masks can be reckoned with, and noise cannot.
    """
    if not estimator.corruption or estimator.corruption[-1] == 0:  # a level of 0 is none
        return
    if estimator.solver == "minibatch":
        raise ValueError(
            f"corruption={estimator.corruption!r} needs solver='gram': the paper's algorithms give "
            "back what they are given"
        )
    if partly and not estimator.inhibition:
        raise ValueError(
            f"corruption={estimator.corruption!r} needs all rows at once, or inhibition=True: use "
            "fit instead of partial_fit"
        )
    if rowless and estimator.corruption[0] == "noise":
        raise ValueError(
            f"corruption={estimator.corruption!r} needs the rows: a Moment does not tell what "
            "noise makes of their cells (it does for masks, such as corruption=('mask', 0.5))"
        )


def check_without_rows(estimator: Any, given: str, moment: str = "auto") -> None:
    """What trains on minibatches of rows takes no moment, and no weights of rows."""
    for name, asked in (
        ("solver=minibatch", estimator.solver == "minibatch"),
        ("rates=unit", estimator.rates == "unit"),
        (f"fine_tune={estimator.fine_tune!r}", estimator.fine_tune > 0),
        ("inhibition=True", estimator.inhibition),
        ("early_stopping=True", estimator.early_stopping),
        ("moment=implicit", moment == "implicit"),
    ):
        if asked:
            how = "goes through the rows" if "implicit" in name else "trains on minibatches of rows"
            raise SettingError(
                f"{{{name}}} {how}, which does not go with {given}: that needs {{solver=gram}} "
                "with {rates=free}, without {fine_tune} and {inhibition}"
            )


def check_order(rows: Rows, **wanted: bool) -> None:
    """Training on minibatches takes rows in random order, which not all data can give.

    Then as many are shuffled at a time as a buffer holds, which is said, unless it holds all. What
    is ``wanted`` of it is named by its setting.
    """
    asked = [name for name, so in wanted.items() if so]
    if not asked or rows.in_any_order or rows.shape[0] <= rows.buffered:
        return
    if "early_stopping" in asked:
        raise SettingError(
            f"{{early_stopping}} needs rows in any order, and X gives its {rows.shape[0]:,} rows "
            f"only from the first to the last (a buffer holds {rows.buffered:,}); train without "
            "{early_stopping=True}, or on an array, a .npy, .zarr or .h5 file"
        )
    count = len(coarse_parts(rows)) - 1
    order = f"in {count:,} parts, in random order" if count > 1 else "from the first to the last"
    setting = SETTINGS.get(asked[0], asked[0])
    warn(
        SettingWarning(
            f"{{{setting}}} takes rows in random order, and X is read {order}. Of "
            f"{rows.shape[0]:,} rows {max(rows.heights):,} are shuffled at a time, as many as a "
            f"buffer of {BUFFER_BYTES >> 20:,} MiB holds. Where X is sorted, the error suffers: "
            "shuffle it, or give a .npy, .zarr or .h5 file (see docs/scaling.md)"
        )
    )


SETTINGS = {"minibatch": "solver=minibatch", "unit": "rates=unit"}
