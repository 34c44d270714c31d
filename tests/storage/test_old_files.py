"""Files that released versions wrote are read, and give the answers that they gave then.

``python tests/storage/test_old_files.py`` writes those of this version, with their answers, to a
folder of its own in tests/data, once; what is there is never written again.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lrnn
from lrnn import LRNNAutoencoder, LRNNClassifier, Moment, Scaling

DATA = Path(__file__).parents[1] / "data" / "released"
X = np.random.RandomState(0).uniform(size=(40, 5)) ** 2
GAPS = np.where(np.random.RandomState(1).uniform(size=X.shape) < 0.1, np.nan, X)
TABLE = pd.DataFrame(
    {
        "age": np.round(20 + 60 * X[:, 0]),
        "weight": 50 + 40 * X[:, 1],
        "sex": np.where(X[:, 2] > 0.3, "f", "m"),
        "ill": np.where(X[:, 3] > 0.3, "yes", "no"),
    }
)
ILL = TABLE.pop("ill").to_numpy(dtype=str)
START = (np.full((5, 2), 0.2) + np.eye(5, 2), np.full((2, 5), 0.2) + np.eye(2, 5))
SETTINGS = {"max_iter": 5, "tol": 0, "random_state": 0}


def autoencoder(rows=X, sizes=2, **settings):
    return LRNNAutoencoder(sizes, **SETTINGS | settings).fit(rows)


def stream(**settings):
    model = LRNNAutoencoder(2, moment="dense", **SETTINGS | settings)
    return model.partial_fit(X[:20]).partial_fit(X[20:])


def classifier(rows=X, classes=ILL, **settings):
    return LRNNClassifier(3, max_iter=20, random_state=0, **settings).fit(rows, classes)


def of_table(**settings):
    return Scaling.fit(TABLE, categories="onehot", **settings)


KINDS = {  # what to write, and the rows to ask it of
    "shallow": (autoencoder, X),
    "single": (lambda: autoencoder(X.astype(np.float32)), X.astype(np.float32)),
    "deep": (lambda: autoencoder(sizes=(4, 2), fine_tune=2), X),
    "decoders": (
        lambda: autoencoder(decoder_layer_sizes=(3,), inhibition=True, fine_tune=3),
        X,
    ),
    "unit": (lambda: autoencoder(rates="unit"), X),
    "printed": (lambda: autoencoder(solver="minibatch", batch_size=10), X),
    "inhibition": (lambda: autoencoder(inhibition=True, fine_tune=3), X),
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
}


def answers(thing, rows):
    """What can be asked of a file's content, as one matrix."""
    if isinstance(thing, Moment):
        return np.vstack([thing.gram, thing.column_sums])
    if isinstance(thing, LRNNClassifier):
        return thing.predict_proba(rows[:9])
    return np.asarray(thing.transform(rows[:9]), dtype=np.float64)


def read(path):
    return (lrnn.load_moment if path.name.startswith("moment") else lrnn.load)(path)


def test_there_are_files_of_every_kind():
    assert {path.stem for path in DATA.rglob("*.safetensors")} == set(KINDS)
    assert len(list((DATA / "0.1.0").glob("*.safetensors"))) == 22


@pytest.mark.parametrize(
    "path", sorted(DATA.rglob("*.safetensors")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_a_released_version_s_file_gives_what_it_gave(path, tmp_path):
    rows = KINDS[path.stem][1]
    expected = np.load(path.with_suffix(".npy"))
    thing = read(path)
    close = {"rtol": 1e-5, "atol": 1e-6} if path.stem == "single" else {"rtol": 1e-7, "atol": 1e-9}
    np.testing.assert_allclose(answers(thing, rows), expected, **close)
    thing.save(tmp_path / path.name)
    np.testing.assert_allclose(answers(read(tmp_path / path.name), rows), expected, **close)


@pytest.mark.parametrize("name", ["stream", "forgetful"])
def test_a_stream_in_a_file_goes_on(name):
    model = lrnn.load(DATA / "0.1.0" / f"{name}.safetensors")
    rows = model.moment_.n_rows
    model.partial_fit(X)
    assert model.moment_.n_rows == rows + len(X)
    assert model.reconstruction_err_ < np.var(X)


def test_classes_in_files_are_what_they_were():
    def classes(name):
        return lrnn.load(DATA / "0.1.0" / f"{name}.safetensors").classes_

    assert classes("classes").tolist() == ["no", "yes"]
    assert classes("numbers").tolist() == [0, 7]
    assert classes("truths").dtype == bool


def write():
    """Files of this version, which must be a new one."""
    folder = DATA / lrnn.__version__
    if folder.exists():
        sys.exit(f"{folder} is there already: files of a released version stay as they are")
    folder.mkdir(parents=True)
    for name, (make, rows) in KINDS.items():
        thing = make()
        thing.save(folder / f"{name}.safetensors")
        np.save(folder / f"{name}.npy", answers(thing, rows))


if __name__ == "__main__":
    write()
