"""What several commands are given: data, models, sizes of layers, and other options."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from lrnn.cli.tables import TableOptions, attributes_of, with_gaps
from lrnn.cli.voice import Voice
from lrnn.tables.reading import ENDINGS

IN_MEMORY = 1 << 24  # numbers of a table that are rather held than streamed


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
    """Data for a model, in [0, 1], with what goes along.

    Attributes
    ----------
    data : ndarray, csr_array or Source
        Rows as the model takes them.
    names, image_shape, labels : as those of a Table
        What is known of them.
    scaling : Scaling
        By which they got into [0, 1].
    ledger : Ledger
        What was cut off, so far as they have been read.
    carried : deque or None
        Index and label of the blocks that have been read.
    along : tuple of str
        The names of these, so far as the data have them.
    """

    data: Any
    names: Any
    image_shape: tuple[int, ...] | None
    labels: tuple[str | None, ...] | None
    scaling: Any
    ledger: Any
    carried: Any
    along: tuple[str, ...] = ()

    def beside(self) -> dict[str, Any]:
        """Index and label, all of them, of data in memory."""
        blocks = [dict(block) for block in self.carried or ()]
        names = blocks[0] if blocks else ()
        return {name: np.concatenate([block[name] for block in blocks]) for name in names}

    @property
    def classes(self) -> Any:
        """The class of each row, if there is one."""
        recipe = self.scaling.recipe
        if recipe is None or recipe.label not in self.along:
            return self.labels
        return self.beside().get(recipe.label)

    def row(self, number: int, source: str) -> int:
        """Where a row of the file, counted from 1, is among these; from 0."""
        dropped = self.ledger.dropped
        total = self.data.shape[0] + len(dropped)
        if number > total:
            raise typer.BadParameter(f"{source!r} has {total:,} rows", param_hint="--row")
        if number - 1 in dropped:
            raise typer.BadParameter(
                f"row {number:,} of {source!r} has a missing cell, and is left out",
                param_hint="--row",
            )
        return number - 1 - int(np.count_nonzero(dropped < number - 1))

    def without_gaps(self, model: Any) -> "Given":
        """Data in memory whose missing cells are filled as the model does, and counted."""
        floats = isinstance(self.data, np.ndarray) and self.data.dtype.kind == "f"
        refused = getattr(model, "missing", "refuse") == "refuse"
        if refused or not floats or not (gaps := np.isnan(self.data)).any():
            return self
        self.ledger.add_gaps(gaps, self.scaling.recipe)
        return replace(self, data=model.impute(self.data))

    def tell(self, voice: Voice) -> dict[str, Any]:
        """Say what was cut off or filled; and as a document."""
        return tell(self.ledger, voice)


@dataclass(frozen=True)
class ToTrainOn:
    """A table of attributes in the units of the data, and how these get into [0, 1].

    Attributes
    ----------
    table : Table
        The attributes.
    scaling : Scaling
        The way into [0, 1].
    ledger : Ledger
        What was left out or filled.
    source : str
        What the user calls the data.
    """

    table: Any
    scaling: Any
    ledger: Any
    source: str

    @classmethod
    def of(cls, source: str, options: TableOptions, voice: Voice) -> "ToTrainOn":
        """Data as a user wants them taken; numbers that cannot be are refused."""
        from lrnn.tables.ledger import Ledger
        from lrnn.tables.sources import Source
        from lrnn.tables.table import whole

        check_rows(source)
        table = options.open(source, voice)
        scaling, gaps = options.scaling(table, source, voice), options.gaps
        with voice.working(f"reading {source}"):
            table = attributes_of(table, scaling, ledger := Ledger())
            if gaps and isinstance(table.data, Source):
                table = replace(table, data=whole(table.data).data)
            if gaps and isinstance(table.data, np.ndarray) and table.data.dtype.kind == "f":
                ledger.add_gaps(np.isnan(table.data), scaling.recipe)
        if scaling.kind == "none" and not isinstance(table.data, Source):  # checked as it is read
            check_range(table, source, ledger, gaps)
        return cls(table, scaling, ledger, source)

    def explained(self) -> AbstractContextManager[None]:
        """What is found wrong with numbers as they are read is said of the user's file."""
        if self.scaling.kind != "none":
            return nullcontext()
        return numbers_explained(self.source, self.ledger)


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


def check_range(table: Any, source: str, ledger: Any, gaps: bool = False) -> None:
    """Without scaling, numbers to train on beyond [0, 1] are a mistake; levels are not.

    With ``gaps`` cells may be missing.
    """
    from lrnn.arrays import are_levels
    from lrnn.tables.offences import first_offending, unfit

    data = table.data
    if are_levels(data.dtype):
        return
    allowed = np.isnan if gaps else np.zeros_like
    found = first_offending(
        [data], lambda x: ~((x >= 0) & (x <= 1) | allowed(x).astype(bool)), table.names
    )
    if found is not None:
        raise _in_file(unfit(found, "", (0, 1)), source, ledger, fitting=True)


@contextmanager
def numbers_explained(
    source: str, ledger: Any, fitting: bool = True, first: int = 0
) -> Iterator[None]:
    """Say of the user's file what is found wrong with numbers as they are read.

    While a model is fitted, numbers above 1 are wrong, too. The ``first`` row is not that of all.
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
            raise _in_file(error, source, ledger, fitting, first) from None


def _in_file(error: Any, source: str, ledger: Any, fitting: bool, first: int = 0) -> Any:
    """An error about a number of some rows, by its place in the file that these are of."""
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
    fields = {
        **error.fields,
        "kind": kind,
        "passed": "",
        "takes": "",
        "at": ledger.origin(error.at.moved((error.at.row or 0) + first, error.at.column)),
    }
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
    model: Any, source: str, voice: Voice, stream: bool = False, split: str | None = None
) -> Given:
    """Data for a model: a table that is read, taken and scaled as the model remembers.

    The model itself then takes them as they are, in [0, 1]. With ``stream``, large ones are left
    where they are. Of a data set that comes in parts, ``split`` is one.
    """
    from lrnn.datasets import open_table
    from lrnn.tables.read import Reading, taken
    from lrnn.tables.scaling import Scaling

    scaling = model.scaling_ or Scaling("none")
    model.scaling_ = scaling.coding
    path = Path(source)
    reading = taken(path, scaling.reading) if path.exists() else Reading()
    with voice.working(f"reading {source}"):
        table = open_table(source, True, reading, split)
        table = with_gaps(table, getattr(model, "missing", "refuse"), source)
        return given_of(table, scaling, model, source, stream)


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


def given_of(table: Any, scaling: Any, model: Any, source: str, stream: bool = False) -> Given:
    """A table that is taken and scaled so; for a ``model`` it must have the right attributes."""
    from lrnn.tables.frame import Columns
    from lrnn.tables.ledger import Ledger
    from lrnn.tables.recipe import TableSource
    from lrnn.tables.sources import Source

    ledger = Ledger()
    data, names = table.data, table.names
    known = getattr(model, "feature_names_in_", None)
    wanted = None if known is None else list(map(str, known))
    columns, recipe = scaling.columns_of(data, names, wanted)
    if recipe is not None:
        if not isinstance(table.data, Columns | Source):
            columns.name = source  # what messages call it
        data = TableSource(columns, recipe, ledger, carries=True)
        names = recipe.names if recipe.named else None
    width = data.shape[1] if recipe is None else len(data.columns)
    if model is not None:
        _check_attributes(model, width, names, source)
    ledger.names = names
    carried, along = getattr(data, "carried", None), getattr(data, "carried_names", ())
    data = _held(data, IN_MEMORY if stream else None)
    labels = table.labels
    if labels is not None and len(ledger.dropped):
        labels = tuple(np.delete(labels, ledger.dropped).tolist())
    given = Given(data, names, table.image_shape, labels, scaling, ledger, carried, along)
    return replace(given, data=scaling.scaled(data, ledger))


def _held(data: Any, most: int | None) -> Any:
    """Data in memory, if they have no more than ``most`` cells."""
    from lrnn.tables.recipe import TableSource
    from lrnn.tables.sources import Source
    from lrnn.tables.table import whole

    if isinstance(data, TableSource):
        held = data.held(most)
        return data if held is None else held
    small = most is None or data.shape[0] * data.shape[1] <= most
    return whole(data).data if small and isinstance(data, Source) else data


def _check_attributes(model: Any, width: int, names: Any, source: str) -> None:
    """Complain of other attributes than those that a model was trained on."""
    if width != model.n_features_in_:
        raise ValueError(
            f"{source!r} has {width} attributes, but the model is for {model.n_features_in_}"
        )
    expected = getattr(model, "feature_names_in_", None)
    if names is not None and expected is not None:
        for i, (name, known) in enumerate(zip(names, expected, strict=True)):
            if name != known:
                raise ValueError(
                    f"column {i + 1} of {source!r} is {name!r}, but the model was trained with "
                    f"{known!r} there"
                )


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
