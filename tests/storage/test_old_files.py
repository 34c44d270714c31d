"""Files that earlier versions wrote are read, and give the answers that they gave then.

``python tests/storage/test_old_files.py`` writes those of this version to a folder of its own in
tests/data/released; what is there is never written again. Beside NAME.safetensors is NAME.npz: the
rows (X, or X.COLUMN for each column of a table; the command line's are in people.csv) and all
answers. NAME.npy, with codes or probabilities alone, was written while 0.1.0 was made.
"""

import subprocess
import sys
import warnings
from collections import Counter
from functools import partial
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file
from scipy.sparse import csr_array, issparse

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, LRNNOutlierDetector, Moment, Scaling

DATA = Path(__file__).parents[1] / "data" / "released"
PEOPLE = "people.csv"
ASKED = 9  # rows
X = np.random.RandomState(0).uniform(size=(40, 5)) ** 2
RAW = 9 * X - 2
SINGLE = X.astype(np.float32)
FRAME = pd.DataFrame(RAW, columns=list("abcde"))
GREY, GREY_16 = (255 * X).astype(np.uint8), (65_535 * X).astype(np.uint16)
BITS = (X > 0.3).astype(np.uint8)
GAPS = np.where(np.random.RandomState(1).uniform(size=X.shape) < 0.1, np.nan, X)
RAW_GAPS = 9 * GAPS - 2
RATED = csr_array(np.nan_to_num(GAPS))
TABLE = pd.DataFrame(
    {
        "age": np.round(20 + 60 * X[:, 0]),
        "weight": 50 + 40 * X[:, 1],
        "sex": np.where(X[:, 2] > 0.3, "f", "m"),
        "ill": np.where(X[:, 3] > 0.3, "yes", "no"),
    }
)
WEIGHT = TABLE["weight"].round(1).where(GAPS[:, 1] >= 0)
WHOLE = TABLE.assign(weight=WEIGHT, name=[f"p{i}" for i in range(len(X))])
ILL = TABLE.pop("ill").to_numpy(dtype=str)
HOLES = TABLE.assign(weight=WEIGHT)
START = (np.full((5, 2), 0.2) + np.eye(5, 2), np.full((2, 5), 0.2) + np.eye(2, 5))
SETTINGS = {"max_iter": 5, "tol": 0, "random_state": 0}


def autoencoder(rows=X, sizes=2, **settings):
    return LRNNAutoencoder(sizes, **SETTINGS | settings).fit(rows)


def printed(rows=X, **settings):
    return autoencoder(rows, solver="minibatch", batch_size=10, **settings)


def inhibited(rows=X, **settings):
    return autoencoder(rows, inhibition=True, fine_tune=3, **settings)


def unit(rows=X, **settings):
    return autoencoder(rows, rates="unit", **settings)


def classifier(rows=X, classes=ILL, **settings):
    settings = {"hidden_layer_sizes": 3, "max_iter": 10} | settings
    return LRNNClassifier(random_state=0, **settings).fit(rows, classes)


def detector(rows=X, **settings):
    settings = {"hidden_layer_sizes": 2, "max_iter": 5} | settings
    return LRNNOutlierDetector(random_state=0, **settings).fit(rows)


def stream(rows=X, sizes=2, **settings):
    model = LRNNAutoencoder(sizes, moment="dense", **SETTINGS | settings)
    return model.partial_fit(rows[:20]).partial_fit(rows[20:])


def printed_stream(rows, **settings):
    return stream(rows, solver="minibatch", batch_size=10, **settings)


def classifier_stream(rows, **settings):
    model = LRNNClassifier(3, random_state=0, **settings)
    return model.partial_fit(rows[:20], ILL[:20], ["no", "yes"]).partial_fit(rows[20:], ILL[20:])


def detector_stream(rows=X, **settings):
    model = LRNNOutlierDetector(2, max_iter=5, random_state=0, **settings)
    return model.partial_fit(rows[:20]).partial_fit(rows[20:])


def of_table(**settings):
    return Scaling.fit(TABLE, categories="onehot", **settings)


def of_holes(missing):
    return Scaling.fit(HOLES, categories="onehot", missing=missing)


def kept(rows):
    """A model that was fitted on a moment, which is in its file."""
    return autoencoder(Moment.of(rows))


SCALES = {  # rows, and `scale` for them
    "none": (X, "none"),
    "auto": (RAW, "auto"),
    "minmax": (RAW, "minmax"),
    "max": (9 * X, "max"),
    "sparse": (csr_array(9 * X * BITS), "max"),
    "levels": (GREY, "levels"),
    "levels-16": (GREY_16, "levels"),
    "levels-as-floats": (GREY.astype(float), "levels"),
    "uint8": (GREY, None),
    "uint16": (GREY_16, None),
    "bits": (BITS, None),
    "given": (RAW, Scaling.fit(RAW, "minmax")),
    "recipe": (TABLE, of_table()),
    "both": (RAW, Scaling.fit(RAW, "minmax", complement=True)),
}


def only(*names):
    return {name: SCALES[name] for name in names}


PARTS = ("none", "uint8", "uint16", "bits", "given", "recipe", "both")  # what streams may have
GRID = [  # each of these on each kind of rows
    ("autoencoder", autoencoder, SCALES),
    ("printed", printed, SCALES),
    ("classifier", classifier, SCALES),
    ("detector", detector, SCALES | {"open": (RAW, "open")}),
    ("inhibition", inhibited, only("uint8", "uint16", "levels", "given", "recipe", "both")),
    ("unit", unit, only("uint8", "levels", "given", "recipe")),
    ("stream", stream, only(*PARTS)),
    ("printed-stream", printed_stream, only(*PARTS)),
    ("inhibition-stream", partial(stream, inhibition=True), only("uint8", "given")),
    ("unit-stream", partial(stream, rates="unit"), only("uint8", "given")),
    ("classifier-stream", classifier_stream, only(*PARTS)),
    (
        "detector-stream",
        detector_stream,
        only(*PARTS, "auto", "minmax", "max", "levels", "levels-16", "levels-as-floats"),
    ),
]
KINDS = {  # what to write, and rows to ask it of
    "shallow": (autoencoder, X),
    "single": (lambda: autoencoder(SINGLE), SINGLE),
    "deep": (lambda: autoencoder(sizes=(4, 2), fine_tune=2), X),
    "decoders": (
        lambda: autoencoder(decoder_layer_sizes=(3,), inhibition=True, fine_tune=3),
        X,
    ),
    "unit": (unit, X),
    "printed": (printed, X),
    "inhibition": (inhibited, X),
    "start": (lambda: autoencoder(init=START), X),
    "corrupted": (lambda: autoencoder(corruption=("mask", 0.3)), X),
    "missing": (lambda: autoencoder(GAPS, missing="allow"), GAPS),
    "scaled": (lambda: autoencoder(9 * X, scale="minmax"), 9 * X),
    "table": (lambda: autoencoder(TABLE, scale=of_table()), TABLE),
    "complement": (lambda: autoencoder(TABLE, scale=of_table(complement=True)), TABLE),
    "stream": (stream, X),
    "forgetful": (lambda: stream(forget=10), X),
    "classes": (classifier, X),
    "numbers": (lambda: classifier(classes=(ILL == "yes") * 7), X),
    "truths": (lambda: classifier(classes=ILL == "yes", inhibition=False), X),
    "weighted": (lambda: classifier(class_weight={"yes": 2.0, "no": 1.0}), X),
    "table-classes": (lambda: classifier(TABLE, scale=of_table()), TABLE),
    "moment": (lambda: Moment.of(X), X),
    "moment-table": (lambda: Moment.of(TABLE, scale=of_table()), TABLE),
    "moment-single": (lambda: Moment.of(SINGLE), SINGLE),
    "moment-uint8": (lambda: Moment.of(GREY), GREY),
    "moment-bits": (lambda: Moment.of(BITS), BITS),
    "moment-weights": (lambda: Moment.of(X, sample_weight=1 + X[:, 0]), X),
    "kept": (lambda: kept(X), X),
    "kept-uint8": (lambda: kept(GREY), GREY),
    "printed-deep": (lambda: printed(sizes=(4, 2)), X),
    "deep-inhibition": (lambda: autoencoder(sizes=(4, 2), inhibition=True, fine_tune=3), X),
    "deep-complement": (lambda: autoencoder(sizes=(4, 2), complement=True), X),
    "names": (lambda: autoencoder(FRAME, scale="minmax"), FRAME),
    "output": (lambda: autoencoder().set_output(transform="pandas"), X),
    "classifier-output": (lambda: classifier().set_output(transform="pandas"), X),
    "noise": (lambda: autoencoder(corruption=("noise", 0.1)), X),
    "missing-scaled": (lambda: autoencoder(RAW_GAPS, scale="minmax", missing="allow"), RAW_GAPS),
    "missing-table": (lambda: autoencoder(HOLES, scale=of_holes("allow"), missing="allow"), HOLES),
    "missing-median": (lambda: autoencoder(HOLES, scale=of_holes("median")), HOLES),
    "missing-ratings": (lambda: autoencoder(RATED, missing="unstored"), GAPS),
    "stream-deep": (lambda: stream(sizes=(4, 2)), X),
    "stream-single": (lambda: stream(SINGLE), SINGLE),
    "stream-missing": (lambda: stream(GAPS, missing="allow"), GAPS),
    "stream-inhibition": (lambda: stream(inhibition=True), X),
    "classifier-single": (lambda: classifier(SINGLE), SINGLE),
    "classifier-deep": (lambda: classifier(hidden_layer_sizes=(4, 3)), X),
    "classifier-begun": (lambda: classifier(pretrain=autoencoder(), freeze=True), X),
    "classifier-objects": (lambda: classifier(classes=ILL.astype(object)), X),
    "detector-far": (lambda: detector(RAW), np.vstack([RAW[:8], np.full((1, 5), 30.0)])),
    "detector-single": (lambda: detector(SINGLE), SINGLE),
    "detector-deep": (lambda: detector(hidden_layer_sizes=(4, 2)), X),
    "detector-width": (lambda: detector(hidden_layer_sizes=None), X),
    "detector-network": (lambda: detector(n_typical=0), X),
    "detector-share": (lambda: detector(contamination=0.1, n_neighbors=3), X),
    "detector-missing": (lambda: detector(GAPS, missing="allow"), GAPS),
    "detector-missing-table": (
        lambda: detector(HOLES, scale=of_holes("allow"), missing="allow"),
        HOLES,
    ),
    "detector-stream-open": (lambda: detector_stream(RAW, forget=10), RAW),
}
for name, make, scales in GRID:
    for kind, (rows, scale) in scales.items():
        KINDS[f"{name}-{kind}"] = (partial(make, rows, scale=scale), rows)
COMMANDS = {  # the command line's own, of a table in a file
    "command": "fit --hidden 2 --label ill --missing median --max-iter 5 -o",
    "command-classes": "fit --classify --hidden 3 --label ill --missing median --max-iter 20 -o",
    "command-outliers": "detect --hidden 2 --drop ill --missing allow --save",
    "command-moment": "moment --scale minmax --label ill --missing median -o",
}
AS_WRITTEN = "--index name --categories onehot --delimiter ; --decimal , --na ?"


def answers(thing, rows):
    """All that later versions must answer alike; of a moment what it holds."""
    if isinstance(thing, Moment):
        return {"sums": np.vstack([thing.gram, thing.column_sums]), "weight": thing.weight}
    if isinstance(thing, LRNNOutlierDetector):
        return {
            "scores": thing.score_samples(rows),
            "decisions": thing.decision_function(rows),
            "verdicts": thing.predict(rows),
        }
    if isinstance(thing, LRNNClassifier):
        return {
            "probabilities": thing.predict_proba(rows),
            "codes": thing.transform(rows),
            "classes": np.array(thing.predict(rows).tolist()),
            "loss": thing.loss_,
        }
    codes = thing.transform(rows)
    return {
        "codes": codes,
        "decoded": thing.inverse_transform(codes),
        "reconstructed": thing.reconstruct(rows),
        "scores": thing.score_samples(rows),
        "score": thing.score(rows),
        "error": thing.reconstruction_err_,
    }


def rows_beside(path, stored):
    columns = {name[2:]: stored[name] for name in stored if name.startswith("X.")}
    if columns:
        return pd.DataFrame(columns)
    return stored["X"] if "X" in stored else path.with_name(PEOPLE)


def rounding(thing, rows, path):
    """By how much two computations of numbers in [0, 1] may differ.

    A layer of n neurons sums at most 2 n products, and divides: 2 (n + 3) roundings by ε (scaling
    rounds cell by cell, everywhere alike). No number is negative, so relative errors add up. Those
    of a quotient, as inhibition makes, are twice as large; so are those of squares and shares, and
    of two computations. Filled cells differ by the condition of what they solve, and weights
    magnify that by their largest column sums. A score of strangeness sums n squares of evidence
    over what is usual: at t ranges from the middle of an open scale evidence differs by at most
    2 t, and its derivative is 4 t.
    """
    network = getattr(thing, "autoencoder_", thing)
    weights, filling = network.weights_, getattr(network, "filling_", None)
    found = 0
    for n in weights.sizes:
        found = found * (1 if weights.inhibitory is None else 2) + 2 * (n + 3)
    found *= 4 * float(np.finfo(weights.dtype).eps)
    if filling is not None:
        prior = filling.root @ filling.root.T
        most = np.linalg.eigvalsh(prior + filling.decoder @ filling.decoder.T)[-1]
        found *= most / np.linalg.eigvalsh(prior)[0]
        found *= prod(max(1, layer.sum(axis=0).max()) for layer in weights.excitatory)
    if network is thing:
        return found
    farthest = 0.5
    if thing.scaling_.kind == "open":
        if isinstance(rows, Path):
            rows = pd.read_csv(rows, sep=";", decimal=",", na_values="?")
        seen = [thing.scaling_.apply(rows), thing.scaling_.scaled(network.reconstruct(rows))]
        farthest = max(farthest, 1 / (4 - 8 * np.nanmax(np.abs(np.array(seen) - 0.5))))
    usual = np.median(load_file(path)["held_out.parts"], axis=0)
    return found * weights.sizes[0] * 8 * farthest**2 / usual[usual > 0].min()


def check(thing, rows, expected, path):
    """The answers are those expected; classes are, unless they tie."""
    found = answers(thing, rows)
    near = 0 if isinstance(thing, Moment) else rounding(thing, rows, path)
    for name, value in found.items():
        if name == "classes":
            second, first = np.sort(expected["probabilities"], axis=1)[:, -2:].T
            sure = first - second > 2 * near
        elif name == "verdicts":
            sure = np.abs(expected["decisions"]) > near
        else:
            units = 1
            if name in ("decoded", "reconstructed") and thing.scaling_ is not None:
                units = max(thing.white_ or 1, np.abs(thing.scaling_.range).max())
            np.testing.assert_allclose(value, expected[name], rtol=0, atol=near * units)
            continue
        np.testing.assert_array_equal(value[sure], expected[name][sure])


def read(path):
    return (lrnn.load_moment if "moment" in path.name else lrnn.load)(path)


FILES = sorted(DATA.rglob("*.safetensors"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}-{p.stem}")
@pytest.mark.filterwarnings("ignore:.* missing")  # cells that are filled are counted
def test_an_earlier_version_s_file_gives_what_it_gave(path, tmp_path):
    stored = dict(np.load(path.with_suffix(".npz")))
    rows, thing, place = rows_beside(path, stored), read(path), tmp_path / path.name
    if path.with_suffix(".npy").exists():
        stored[next(iter(answers(thing, rows)))] = np.load(path.with_suffix(".npy"))
    for _ in range(3):  # as it is, saved again, and once more
        check(thing, rows, stored, path)
        assert isinstance(thing, Moment) or thing.audit().valid
        thing.save(place)
        thing = read(place)


def test_no_file_is_lost():
    counts = Counter(path.parent.name for path in FILES)
    assert counts >= Counter({"0.1.0": 163})


def test_a_release_has_files_of_every_kind():
    own = {path.stem for path in FILES if path.parent.name == lrnn.__version__}
    assert own == {*KINDS, *COMMANDS} or ".dev" in lrnn.__version__


STREAMS = [p for p in FILES if {"stream", "forgetful", "kept"} & set(p.stem.split("-"))]


@pytest.mark.parametrize("path", STREAMS, ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_a_stream_in_a_file_goes_on(path):
    model, rows = lrnn.load(path), rows_beside(path, np.load(path.with_suffix(".npz")))
    parts, moment = model.n_iter_, getattr(model, "moment_", None)
    labels = (model.predict(rows),) if isinstance(model, LRNNClassifier) else ()
    model.partial_fit(rows, *labels)
    assert model.n_iter_ > parts
    if moment is not None:
        assert model.moment_.n_rows == moment.n_rows + len(rows)


def test_classes_in_files_are_what_they_were():
    def classes(name):
        return lrnn.load(DATA / "0.1.0" / f"{name}.safetensors").classes_

    assert classes("classes").tolist() == ["no", "yes"]
    assert classes("numbers").tolist() == [0, 7]
    assert classes("truths").dtype == bool
    assert classes("classifier-objects").dtype == object


def write_model(name, path):
    if name in KINDS:
        KINDS[name][0]().save(path, **{"moment": True} if name.startswith("kept") else {})
        return
    command, *options = COMMANDS[name].split()
    words = [command, str(path.with_name(PEOPLE)), *AS_WRITTEN.split(), *options, str(path)]
    with TemporaryDirectory() as place:  # of the scores
        subprocess.run([sys.executable, "-m", "lrnn", *words], check=True, cwd=place)


def rows_to_store(rows):
    if isinstance(rows, pd.DataFrame):
        return {
            f"X.{name}": column.to_numpy(None if column.dtype.kind == "f" else str)
            for name, column in rows[:ASKED].items()
        }
    return {"X": (rows.toarray() if issparse(rows) else rows)[:ASKED]}


def write():
    """Files of this version that are not there yet."""
    if ".dev" in lrnn.__version__:
        sys.exit(f"{lrnn.__version__} is no release: later versions are not held to its files")
    folder = DATA / lrnn.__version__
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / PEOPLE).exists():
        WHOLE.to_csv(folder / PEOPLE, index=False, sep=";", decimal=",", na_rep="?")
    warnings.simplefilter("ignore")  # of small data, and few steps
    for name in (*KINDS, *COMMANDS):
        path = folder / f"{name}.safetensors"
        if not path.exists():
            write_model(name, path)
        if not path.with_suffix(".npz").exists():
            stored = rows_to_store(KINDS[name][1]) if name in KINDS else {}
            found = answers(read(path), rows_beside(path, stored))
            np.savez_compressed(path.with_suffix(".npz"), **stored, **found)


if __name__ == "__main__":
    write()
