"""Methods × kinds of rows × types × shapes, and streams that do odd things.

The answer is that of NumPy's float64 rows, or one error of ours; where NumPy's rows are refused,
so are all others. (`tests/test_grid.py` holds every cell of one shape.)
"""

from functools import partial
from itertools import repeat

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lrnn import LRNNAutoencoder, bounds, checkpoints, streaming
from test_grid import FLOATS_ONLY, ON_HOST, WHERE_THEY_ARE, host, torch_tensor
from trial.harness import Refusal, Untried, answer, cases

SHAPES = {
    "usual": (12, 5), "tall": (60, 2), "wide": (3, 40), "one row": (1, 5), "one column": (9, 1),
    "one cell": (1, 1), "no rows": (0, 5), "no columns": (5, 0),
}  # fmt: skip
DTYPES = ["f8", "f4", "f2", "g", ">f8", ">f4", "u1", "u2", ">u2", "u4", "u8", "i1", "i2", "i8", "?"]
SINGLE = {"f4", "f2", ">f4", "u1", "u2", ">u2"}  # work in single precision
SPOILT = {
    "NaN": np.nan, "inf": np.inf, "-inf": -np.inf, "negative": -0.25, "above 1": 1.5,
    "huge": 1e300, "tiny": 1e-300, "-0": -0.0, "nothing": None,
}  # fmt: skip


def torch_array(values):
    return torch_tensor(values, None)


TAKEN = {"bsr": sparse.bsr_array, "dia": sparse.dia_array, "lil": sparse.lil_array,
         "dok": sparse.dok_matrix}  # fmt: skip
REFUSED = {  # or taken: each may be either
    "masked array": lambda values: np.ma.masked_array(values, np.zeros(values.shape, bool)),
    "np.matrix": np.asmatrix,
    "objects": lambda values: values.astype(object),
    "sparse tensor": lambda values: torch_array(values).to_sparse(),
    "CSR tensor": lambda values: torch_array(values).to_sparse_csr(),
    "bfloat16": lambda values: torch_array(values).bfloat16(),
    "generator": lambda values: (block for block in np.array_split(values, 3)),
}
KINDS = {kind.__name__: kind for kind in ON_HOST + WHERE_THEY_ARE} | {
    name: lambda values, folder, make=make: make(values) for name, make in (TAKEN | REFUSED).items()
}


def written(write, model, X, folder):
    write(model, X, folder / "written.npy")
    return np.load(folder / "written.npy")


def new(**settings):
    return LRNNAutoencoder(2, max_iter=3, batch_size=4, random_state=0, **settings)


def error_of(model, X, folder, **settings):
    return new(**settings).fit(X).reconstruction_err_


def simulated(model, X, folder):
    network = model.to_network()
    arrivals = model.arrivals(X, network)[0]
    return network.simulate(arrivals, events=2_000, random_state=0).activation()


METHODS = {  # functions of a fitted model m, rows X and a folder
    "fit": error_of,
    "fit, implicit": partial(error_of, moment="implicit"),
    "fit, unit": partial(error_of, rates="unit"),
    "fit, minibatch": partial(error_of, solver="minibatch"),
    "fit, inhibition": partial(error_of, inhibition=True, fine_tune=2),
    "fit, scaled": partial(error_of, scale="max"),
    "fit_transform": lambda m, X, folder: np.shape(host(new().fit_transform(X))),
    "partial_fit": lambda m, X, folder: new().partial_fit(X).partial_fit(X).reconstruction_err_,
    "transform": lambda m, X, folder: m.transform(X),
    "reconstruct": lambda m, X, folder: m.reconstruct(X),
    "score": lambda m, X, folder: m.score(X),
    "arrivals": lambda m, X, folder: m.arrivals(X),
    "audit": lambda m, X, folder: m.audit(X).standing.error,
    "simulate": simulated,
    "checkpoints": lambda m, X, folder: (
        checkpoints.fit(new(), X, folder / "checkpoint", every=0).reconstruction_err_
    ),
    "encode": partial(written, streaming.encode),
    "reconstruct to a file": partial(written, streaming.reconstruct),
    "svd": lambda m, X, folder: bounds.svd(X, 1),
    "variance": lambda m, X, folder: bounds.variance(X),
}


def float64(values):
    """The same rows as NumPy's float64: 255 and 65,535 are 1 where they are levels."""
    levels = values.dtype.kind == "u" and values.dtype.itemsize < 3 and values.size
    white = np.iinfo(values.dtype).max if levels and values.max() > 1 else 1
    return values.astype(np.float64) / white


def values_of(case):
    """Values of some type and shape, one of them perhaps not what is wanted."""
    shape, dtype = case.pick(SHAPES), np.dtype(case.pick(DTYPES))
    values = case.rng.random(shape) * (case.rng.random(shape) > 0.3)
    if dtype.kind in "biu":
        levels = dtype.kind == "u" and dtype.itemsize < 3 and case.chance(0.8)
        values = np.rint(values * (np.iinfo(dtype).max if levels else 1))
        if levels and values.size:
            values.flat[0] = np.iinfo(dtype).max
    elif values.size and case.chance(0.3):
        spoilt = case.pick(SPOILT)
        if spoilt is not None:
            values.flat[case.rng.integers(values.size)] = spoilt
    with np.errstate(all="ignore"):
        return values.astype(dtype)


def fitted(width):
    rows = np.random.default_rng(5).random((30, width))
    return LRNNAutoencoder(2, max_iter=3, random_state=0).fit(rows)


def asked(method, model, X, folder):
    """The answer of a method as an array, computed if it was only promised."""
    return host(method(model, X, folder))


def folder_of(case, name):
    (case.folder / name).mkdir()
    return case.folder / name


def check_same(found, expected, tolerance):
    """One answer is the other, or both are refused."""
    if isinstance(expected, Refusal):
        assert isinstance(found, Refusal), f"gives {found!r:.100}; NumPy's: {expected}"
        return
    if isinstance(found, Refusal):
        return
    assert found.shape == expected.shape, (found.shape, expected.shape)
    apart = np.abs(found - expected).max(initial=0) / max(np.abs(expected).max(initial=0), 1e-6)
    assert apart <= tolerance, f"differs by {apart:.2g}"


@pytest.fixture(autouse=True)
def large_maps(monkeypatch):
    monkeypatch.setattr("lrnn.tables.kinds.SMALL_MAP", 100)  # bytes


@cases(short=50, full=16_000)
def test_methods(case):
    method, make = case.pick(METHODS), case.pick(KINDS)
    kind, values = case.about[-1], values_of(case)
    if make in FLOATS_ONLY or kind == "objects":
        values = float64(values)
    try:
        rows = make(values, case.folder)
        for _ in rows() if callable(rows) else ():
            pass
    except (Exception, pytest.skip.Exception) as error:  # its library cannot hold such rows
        raise Untried from error
    model = fitted(max(values.shape[1], 1))
    expected = answer(asked, method, model, float64(values), folder_of(case, "numpy"))
    found = answer(asked, method, model, rows, folder_of(case, "other"))
    single = values.dtype.str.lstrip("<|=") in SINGLE
    if kind == "bfloat16" or (method is simulated and single):  # numbers that are a little off
        assert isinstance(found, Refusal) or np.isfinite(found).all()
    else:
        check_same(found, expected, 5e-2 if single else 1e-5)
    if isinstance(found, Refusal) and not isinstance(expected, Refusal):
        assert kind in REFUSED, f"refused: {found}"


# Streams: functions that give blocks; what is wrong with some of them


def empty_blocks(blocks):
    return [part for block in blocks for part in (block[:0], block)] + [blocks[0][:0]]


def as_frames(blocks):
    return [pd.DataFrame(block, columns=list("abcde")) for block in blocks]


def reordered_frames(blocks):
    """Columns go by their names."""
    return [frame[list("abcde" if i % 2 else "edcba")] for i, frame in enumerate(as_frames(blocks))]


def spoilt(change):
    """The last block is another."""
    return lambda blocks: [*blocks[:-1], change(blocks[-1])]


GOOD = {
    "plain": list, "empty blocks": empty_blocks,
    "sparse": lambda blocks: [sparse.csr_array(block) for block in blocks], "frames": as_frames,
    "by columns": lambda blocks: [np.asfortranarray(block) for block in blocks],
    "read-only": lambda blocks: [np.broadcast_to(block, block.shape) for block in blocks],
}  # fmt: skip
BAD = {
    "one-dimensional": spoilt(lambda block: block[0]),
    "three-dimensional": spoilt(lambda block: block[None]),
    "wider": spoilt(lambda block: np.hstack([block, block])),
    "narrower": spoilt(lambda block: block[:, :-1]),
    "no columns": spoilt(lambda block: block[:, :0]),
    "text": spoilt(lambda block: block.astype(str)), "complex": spoilt(lambda block: block + 1j),
    "missing": spoilt(lambda block: np.where(block >= 0, np.nan, block)),
    "negative": spoilt(lambda block: -1 - block),
    "levels": spoilt(lambda block: np.full(block.shape, 255, np.uint8)),
    "other names": lambda blocks: [*as_frames(blocks), as_frames(blocks)[0].add_prefix("other")],
    "None": spoilt(lambda block: None), "a number": spoilt(lambda block: 0.5),
    "a word": spoilt(lambda block: "rows"), "no blocks": lambda blocks: [],
    "only empty blocks": lambda blocks: [blocks[0][:0]],
}  # fmt: skip
GIVEN = {
    "function": lambda blocks: lambda: iter(blocks),
    "function of a list": lambda blocks: lambda: blocks,
}
FORGETFUL = {
    "generator": lambda blocks: (block for block in blocks),
    "the same iterator again": lambda blocks: partial(next, repeat(iter(blocks))),
    "fewer each time": lambda blocks: lambda: iter([blocks.pop()] if len(blocks) > 1 else blocks),
    "a number": lambda blocks: lambda: 3,
    "nothing": lambda blocks: lambda: None,
}
ASKED = {name: METHODS[name] for name in (
    "fit", "fit, implicit", "fit, unit", "fit, minibatch", "partial_fit", "transform", "score",
    "encode", "checkpoints", "arrivals", "variance",
)}  # fmt: skip


@cases(short=25, full=8_000)
def test_streams(case):
    """Blocks of any height give what one array gives; what is wrong with them is told."""
    rng, method = case.rng, case.pick(ASKED)
    values = rng.random((int(rng.integers(2, 40)), 5))
    cuts = np.sort(rng.integers(1, len(values), rng.integers(1, 6)))
    blocks = [block for block in np.split(values, cuts) if len(block)]
    model, folder = fitted(5), folder_of(case, "blocks")
    way = case.pick(["good", "good", "reordered", "bad", "forgetful"])
    if way == "good":
        rows = case.pick(GIVEN)(case.pick(GOOD)(blocks))
        expected = asked(method, model, values, folder_of(case, "array"))
        check_same(asked(method, model, rows, folder), expected, 1e-5)
    elif way == "reordered":
        found = answer(asked, method, model, lambda: iter(reordered_frames(blocks)), folder)
        frame = pd.concat(reordered_frames(blocks), ignore_index=True)
        check_same(found, asked(method, model, frame, folder_of(case, "array")), 1e-5)
    else:
        make = {"bad": BAD, "forgetful": FORGETFUL}[way]
        rows = case.pick(make)(blocks)
        rows = case.pick(GIVEN)(rows) if way == "bad" else rows
        found = answer(asked, method, model, rows, folder)
        if way == "bad":
            assert isinstance(found, Refusal), f"gives {found!r:.100}"
