"""What several commands are given: data, models, sizes of layers, and other options."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lrnn.cli.tables import TableOptions, columns_named, with_gaps
from lrnn.cli.voice import Voice
from lrnn.tables.reading import ENDINGS


def _data_names(incomplete: str) -> list[str]:
    """Names of data sets, for the shell's completion."""
    from lrnn.datasets import DATA_SETS

    return [name for name in DATA_SETS if name.startswith(incomplete)]


DataOf = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"A data set's name, a file of numbers ({', '.join(ENDINGS)}; .csv, .tsv, .idx and "
        "-ubyte also .gz), or a folder of images or Parquet files.",
        autocompletion=_data_names,
    ),
]


def model_file(context: typer.Context, path: Path | None) -> Path | None:
    """What is named as a model, before anything else is asked of it; a folder is none."""
    if path is not None and path.is_dir() and not context.resilient_parsing:
        raise IsADirectoryError(
            f"{str(path)!r} is a folder, not a model file; give the .safetensors file that lrnn "
            "fit has written, before any DATA"
        )
    return path


ModelOf = Annotated[
    Path,
    typer.Argument(metavar="MODEL", callback=model_file, help="A model that lrnn fit has written."),
]


DeviceOf = Annotated[
    str | None,
    typer.Option("--device", help="cuda: work on a GPU, through PyTorch or CuPy."),
]
Hidden = Annotated[
    str | None,
    typer.Option(
        help="Code neurons, or sizes of hidden layers: 1000-500-50. Those behind the code mirror "
        "the ones before it, or stand behind a plus: 50+1000. By default half as many as "
        "attributes, at most 100."
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Rows in a minibatch.")]
Split = StrEnum("Split", ["train", "test", "all"])
SplitOf = Annotated[
    Split | None,
    typer.Option("--split", help="Which rows of a data set; by default those the paper trains on."),
]
SPLITS = {
    "train": "those to train on (--split test has others)",
    "test": "those to test with",
    "all": "all there are (--split test has those to test with)",
}
MOST_NEURONS = 2**31 - 1  # of a layer
HIGHEST_SEED = 2**32 - 1  # scikit-learn's
Seed = Annotated[int, typer.Option(min=0, max=HIGHEST_SEED, help="Seed of the random numbers.")]
Resume = Annotated[
    bool | None,
    typer.Option("--resume/--restart", help="Go on from the checkpoint, or throw it away."),
]


@dataclass(frozen=True)
class Given:
    """Data as a model takes them, with what goes along.

    Attributes
    ----------
    rows : Rows
        As the model sees them.
    table : Table
        The data as they were read, and what happened to them.
    scaling : Scaling
        The way of the model into [0, 1].
    """

    rows: Any
    table: Any
    scaling: Any

    @property
    def ledger(self) -> Any:
        """What was cut off, filled and left out, so far as they have been read."""
        return self.table.ledger

    @property
    def names(self) -> Any:
        """Of the attributes, if they have any."""
        return self.rows.along.names

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """If rows are images."""
        return self.table.image_shape  # type: ignore[no-any-return]

    @property
    def classes(self) -> Any:
        """The class of each row, if there is one."""
        return self.rows.along.classes

    @property
    def label(self) -> str:
        """What the classes are called."""
        return self.rows.along.label or "class"

    @property
    def index(self) -> tuple[str, Any] | None:
        """The column that names the rows, if there is one."""
        name = self.rows.along.index
        return None if name is None else (name, self.rows.along.columns()[name])

    def cells(self, which: Any = slice(None)) -> Any:
        """Attributes in [0, 1] of some rows, before gaps are filled: a matrix in memory."""
        from lrnn.rows import attributes_of

        own = attributes_of(self.rows).in_memory()
        return (own if own.gaps is None else own.gaps).take(which)

    def row(self, number: int, source: str) -> int:
        """Where a row of the file, counted from 1, is among these; from 0."""
        dropped = self.ledger.dropped
        total = self.rows.shape[0] + len(dropped)
        if number > total:
            raise typer.BadParameter(f"{source!r} has {total:,} rows", param_hint="--row")
        if number - 1 in dropped:
            raise typer.BadParameter(
                f"row {number:,} of {source!r} has a missing cell, and is left out",
                param_hint="--row",
            )
        return number - 1 - int(np.count_nonzero(dropped < number - 1))

    def tell(self, voice: Voice) -> dict[str, Any]:
        """Say what was cut off or filled; and as a document."""
        return tell(self.ledger, voice)


@dataclass(frozen=True)
class ToTrainOn:
    """A table as it is, and how a model is to take it.

    Attributes
    ----------
    table : Table
        The data.
    scaling : Scaling
        Which columns become attributes, and their way into [0, 1].
    source : str
        What the user calls the data.
    """

    table: Any
    scaling: Any
    source: str

    @classmethod
    def of(cls, source: str, options: TableOptions, voice: Voice) -> "ToTrainOn":
        """Data as a user wants them taken; numbers that cannot be are refused."""
        check_rows(source)
        table = options.open(source, voice)
        return cls(table, options.scaling(table, source, voice), source)

    @property
    def attributes(self) -> int:
        """How many there are."""
        recipe = self.scaling.recipe
        return int(self.table.data.shape[1]) if recipe is None else len(recipe.names)

    def explained(self) -> AbstractContextManager[None]:
        """What is found wrong with numbers as they are read is said of the user's file."""
        return numbers_explained(self.source, fitting=self.scaling.kind == "none")


def tell(ledger: Any, voice: Voice) -> dict[str, Any]:
    """Say what was cut off, left out or filled; and as a document."""
    if ledger.filling:
        voice.note(ledger.filling)
    if ledger:
        warnings.warn(ledger.warning(), stacklevel=2)
    return {"cut_off": ledger.to_json()}


def hidden_sizes(text: str | None, n_attributes: int) -> tuple[int, ...]:
    """``100`` or ``1000-500-50`` as sizes of hidden layers."""
    if text is None:
        from lrnn.training.parameters import check_layer_sizes

        return check_layer_sizes(None, n_attributes)
    sizes = _sizes(text, text)
    if len(sizes) > 1:
        _beware_of_attributes(text, sizes[0], n_attributes)
    return sizes


def _beware_of_attributes(text: str, outermost: int, n_attributes: int) -> None:
    """Warn of a hidden layer that may be meant as the layer of the attributes."""
    if outermost == n_attributes:
        from lrnn.tables.messages import warn

        warn(
            f"--hidden {text} has a hidden layer as wide as the {n_attributes} attributes: all its "
            f"sizes are of hidden layers; leave {n_attributes} out if it stands for the attributes"
        )


def _sizes(part: str, whole: str) -> tuple[int, ...]:
    """Sizes in a part of what a user gave."""
    words = part.split("-")
    try:
        sizes = tuple(int(word) for word in words if "+" not in word)
    except ValueError:
        sizes = ()
    if len(sizes) < len(words) or min(sizes) < 1 or max(sizes) > MOST_NEURONS:
        raise typer.BadParameter(
            f"{whole!r} should be a number of code neurons, such as 100, or sizes of hidden "
            "layers, such as 1000-500-50, of an autoencoder also with others behind the code, such "
            f"as 50+1000; of at most {MOST_NEURONS:,} neurons",
            param_hint="--hidden",
        )
    return sizes


def layer_sizes(
    text: str | None, n_attributes: int
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Sizes of the encoding layers, and of those behind the code if a plus stands before them.

    ``50+500-1000`` has a code of 50 neurons, and two layers between it and the output.
    """
    before, plus, behind = (text or "").partition("+")
    if not plus:
        return hidden_sizes(text, n_attributes), None
    _sizes(before, str(text))
    sizes = _sizes(behind, str(text))
    if len(sizes) > 1:
        _beware_of_attributes(str(text), sizes[-1], n_attributes)
    return hidden_sizes(before, n_attributes), sizes


def hidden_rule(text: str | None, n_attributes: int) -> str | None:
    """By what rule the number of code neurons was chosen, if nobody gave one."""
    from lrnn.training.parameters import WIDEST, hidden_width

    if text is not None:
        return None
    most = f" but at most {WIDEST}" if hidden_width(n_attributes) > WIDEST else ""
    return f"half of the {n_attributes} attributes{most}"


def hidden_note(rule: str | None, sizes: tuple[int, ...]) -> str:
    """A line on the number of code neurons, if nobody gave one."""
    if rule is None:
        return ""
    return f"{sizes[-1]} code neurons, {rule}; --hidden chooses another number\n"


def wide_note(sizes: tuple[int, ...], attributes: int) -> str:
    """A line on a code that can hold its rows as they are."""
    if sizes[-1] < attributes or attributes < 2:
        return ""
    return (
        f"{sizes[-1]} code neurons for {attributes} attributes: each may have its own, and the "
        "error says little; lrnn width finds how many are needed\n"
    )


@contextmanager
def numbers_explained(source: str, fitting: bool = True) -> Iterator[None]:
    """Say of the user's file what is found wrong with numbers as they are read.

    While a model is fitted, numbers above 1 are wrong, too.
    """
    from lrnn.rows.checks import SaturationWarning
    from lrnn.tables.messages import UnfitNumbersError

    with warnings.catch_warnings():
        if fitting:
            warnings.simplefilter("error", SaturationWarning)
        try:
            yield
        except (SaturationWarning, UnfitNumbersError) as error:
            if error.source not in ("", "X"):  # the place is that of the file already
                raise
            raise _of_file(error, source, fitting) from None


def _of_file(error: Any, source: str, fitting: bool) -> Any:
    """An error about a number of some rows, as one of the file that these are of."""
    from lrnn.tables.messages import UnfitNumbersError

    kind = error.fields.get("kind", "above")
    if kind in ("missing", "infinite"):
        remedy = "fill or drop such cells in the file"
    elif kind == "above":
        remedy = "choose {scale=minmax}" + (", max or levels" if error.value <= 255 else " or max")
    else:
        remedy = "choose {scale=minmax}" if fitting else "the model was fitted to none such"
    problem = (
        error.problem
        if isinstance(error, UnfitNumbersError)
        else "{at} is {value:g}, above 1{more}"
    )
    fields = {**error.fields, "kind": kind, "passed": "", "takes": ""}
    return UnfitNumbersError(problem, remedy=remedy, source=source, **fields)


def model_for(path: Path, data: str, *, autoencoder: bool = True, detector: bool = False) -> Any:
    """The model in a file; complains if data are given for it, and a model for data.

    Unless it must be an ``autoencoder``, it may be a classifier; a ``detector``, if that is taken.
    """
    swapped = "; are MODEL and DATA swapped? The model comes first"
    check_rows(data, "" if path.suffix == ".safetensors" else swapped)
    return load_model(path, autoencoder=autoencoder, detector=detector)


def check_rows(data: str, hint: str = "") -> None:
    """Complain of a moment and of a model, where rows are needed."""
    from lrnn.storage.moment_files import is_moment

    if Path(data).suffix == ".safetensors" and Path(data).exists():
        raise ValueError(
            f"{data!r} is a moment, which holds no rows; give the data that it is of"
            if is_moment(data)
            else f"{data!r} is a model, not data"
            + (hint or f"; lrnn inspect {data} tells what it is")
        )


def load_model(path: Path, *, autoencoder: bool = True, detector: bool = False) -> Any:
    """The model in a file; complains of a moment, and of what is of no use here.

    That is a classifier, if it must be an ``autoencoder``, and an outlier detector, unless a
    ``detector`` is taken.
    """
    import lrnn
    from lrnn.storage.moment_files import is_moment

    if is_moment(path):
        raise ValueError(
            f"{str(path)!r} is a moment, not a model; lrnn fit {path} -o model.safetensors trains "
            "one on it"
        )
    if path.suffix.lower() in ENDINGS and path.exists():
        raise ValueError(
            f"{str(path)!r} is data, not a model; lrnn fit {path} -o model.safetensors trains one "
            "on it"
        )
    found = lrnn.load(path)
    if not detector and is_detector(found):
        raise ValueError(
            f"{str(path)!r} is an outlier detector, which this does not take; lrnn detect DATA "
            f"--model {path} tells which rows are outliers, lrnn inspect and lrnn report what it "
            "is, and lrnn fit trains other models"
        )
    if autoencoder and is_classifier(found):
        raise ValueError(
            f"{str(path)!r} is a classifier, which gives no rows back, and this needs an "
            f"autoencoder; lrnn classify {path} DATA tells the classes of rows, lrnn encode the "
            "activations of the last hidden layer, and lrnn fit without --classify trains an "
            "autoencoder"
        )
    return found


def is_classifier(model: Any) -> bool:
    """Whether a model tells classes; others give rows back."""
    from lrnn.estimators.classifier import LRNNClassifier

    return isinstance(model, LRNNClassifier)


def is_detector(model: Any) -> bool:
    """Whether a model finds outliers."""
    from lrnn.estimators.detector import LRNNOutlierDetector

    return isinstance(model, LRNNOutlierDetector)


def given_for(
    model: Any, source: str, voice: Voice, split: str | None = None, **beside: str | None
) -> Given:
    """Data for a model: a table that is read, taken and scaled as the model remembers.

    Of a data set that comes in parts, ``split`` is one. ``label`` and ``index`` are columns that go
    ``beside`` the rows, where others are meant than the model remembers.
    """
    from lrnn.rows.validation import check_data
    from lrnn.tables.scaling import Scaling

    table = table_for(model, source, voice, split, **beside)
    with voice.working(f"reading {source}"), numbers_explained(source, fitting=False):
        rows = check_data(model, table, reset=False)
    return Given(rows, table, model.scaling_ or Scaling("none"))


def table_for(
    model: Any, source: str, voice: Voice, split: str | None = None, **beside: str | None
) -> Any:
    """The table of a file or data set, read as a model remembers."""
    from lrnn.datasets import open_table
    from lrnn.tables.ledger import Ledger
    from lrnn.tables.read import Reading, taken

    path, scaling = Path(source), model.scaling_
    known = scaling is not None and path.exists()
    reading = taken(path, scaling.reading) if known else Reading()
    with voice.working(f"reading {source}"):
        table = open_table(source, True, reading, split)
        table = with_gaps(table, getattr(model, "missing", "refuse"), source)
    chosen = columns_named(table, source, scaling, **beside)
    return replace(table, source=source, ledger=Ledger(), **chosen)


def part_taken(data: str, split: StrEnum | None) -> str | None:
    """Which part of a data set is meant; None of what has no parts, for which none may be named."""
    from lrnn.datasets import DATA_SETS

    entry = None if Path(data).exists() else DATA_SETS.get(data)
    if entry is None and split is not None:
        raise typer.BadParameter(
            f"{data!r} is no data set, of which there are parts", param_hint="--split"
        )
    if entry is None or "test" not in entry.splits:
        return None if split is None else split.value
    return entry.default_split if split is None else split.value


def rows_of_part(count: int, data: str, part: str | None) -> str:
    """How many rows there are, and which part of a data set they are."""
    whose = "" if part is None else f" of {data}, {SPLITS[part]},"
    return f"{count:,} rows{whose}"


def check_leftover(checkpoint: Path, resume: bool | None, voice: Voice) -> None:
    """Complain of a checkpoint that was left behind, if nobody says what to do with it."""
    if resume and not checkpoint.exists():
        voice.note(f"there is no checkpoint {str(checkpoint)!r}: training from the start")
    if resume is None and checkpoint.exists():
        raise FileExistsError(
            f"{str(checkpoint)!r} is left from a training that did not end; --resume goes on "
            "from it, --restart throws it away"
        )


@contextmanager
def going_on(checkpoint: Path, voice: Voice) -> Iterator[None]:
    """Say how to go on with a training that was interrupted before there was a result."""
    try:
        yield
    except KeyboardInterrupt:
        say_how_to_go_on(checkpoint, voice)
        raise


def say_how_to_go_on(checkpoint: Path, voice: Voice) -> None:
    """If there is something to go on from."""
    if checkpoint.exists():
        voice.note("the same command with --resume goes on where it was interrupted")
