"""Rows that do not belong: `LRNNOutlierDetector` beside other detectors.

    LRNN_DATA_DIR=... python benchmarks/detection.py [--others | --unsupervised] [--splits 5]
    LRNN_DATA_DIR=... python benchmarks/detection.py --seconds [--rounds 1]

Some classes of a data set are normal, the others strange. Detectors learn from half of the normal
rows, and judge the other half and all strange ones: the area under the ROC curve and the average
precision of strange rows, means over several halvings, with their standard deviation. Those of
"mean" are means over data sets, and the deviation is that of these means.

lrnn is given raw data and has its defaults; rows of the table besides are the network's error
alone (n_typical=0), a contamination of 10 %, and the error of rows by an `LRNNAutoencoder`. The
others are given columns scaled to [0, 1] by the range of the rows they learn from (images: by 255),
and have their defaults, too: the mean distance to 5 neighbours, what PCA with half of the
components does not give back, and those of scikit-learn and of PyOD. (PyOD's autoencoder makes 10
passes over full batches of 32, and fails on fewer rows: it has smaller batches there. There is one
of 100 passes over batches of at most a quarter of the rows besides.) PyOD is left out where it is
not installed.

--others: data sets that were not looked at while the detector was made.
--unsupervised: learn from all normal rows and from strange ones, 10 % of all (or as many as there
are), and judge these same rows.
--seconds: how long it takes to learn and to judge, on a quiet machine: the 60,000 images of MNIST,
two tables, sparse data, and streams in parts of 500 rows.
--quick: one halving, and tables of less than 100 columns.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np
from rich.table import Table
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import OneClassSVM

from common import Stopwatch, console, known, report
from lrnn import LRNNAutoencoder, LRNNOutlierDetector
from lrnn.datasets import DATA_SETS, load

Detector = Callable[[Any, Any, int], np.ndarray]  # rows to learn, to judge, seed: strangeness

NEIGHBOURS = 5
SHARE = 0.1  # of all rows are strange, without supervision
ROWS = 2_000  # of theorem_proving
WIDE = 100  # columns from which on data are left out, if it shall be quick
PASSES = 100  # of PyOD's autoencoder, where it may take its time
PART = 500  # rows of a stream
LONG, QUERIES, TRIED = 180.0, 10_000, 1_000  # seconds of neighbours; rows to judge if they are more
TITLE = "Rows that do not belong"


# Data


@dataclass(frozen=True, eq=False)
class Task:
    """Rows, and which of them are strange."""

    name: str
    rows: np.ndarray
    strange: np.ndarray

    @property
    def white(self) -> int | None:
        """The highest level of images."""
        return 255 if self.rows.dtype == np.uint8 else None

    def halved(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of rows to learn from, and to judge."""
        normal = np.random.default_rng(seed).permutation(np.flatnonzero(~self.strange))
        half = len(normal) // 2
        return normal[:half], np.concatenate([normal[half:], np.flatnonzero(self.strange)])

    def mixed(self, seed: int) -> np.ndarray:
        """Numbers of all normal rows, and of some strange ones."""
        rng = np.random.default_rng(seed)
        normal, strange = np.flatnonzero(~self.strange), np.flatnonzero(self.strange)
        count = min(len(strange), max(1, round(len(normal) * SHARE / (1 - SHARE))))
        return rng.permutation(np.concatenate([normal, rng.permutation(strange)[:count]]))


@cache
def labelled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows in their own units, and the names of their classes."""
    found = load(name, scaled=False, **({"split": "test"} if name == "mnist" else {}))
    return found.data, np.array([str(c) for c in found.target_names])[found.target]


def task(name: str, normal: set[str] | None = None, strange: set[str] | None = None) -> Task:
    """A data set some classes of which are normal, or strange: or else all but the largest."""
    rows, classes = labelled(name)
    title = DATA_SETS[name].title
    if name == "theorem_proving":
        chosen = np.random.default_rng(0).permutation(len(rows))[:ROWS]
        rows, classes = rows[chosen], classes[chosen]
    if strange is not None:
        return Task(title, rows, np.isin(classes, list(strange)))
    if normal is None:
        names, counts = np.unique(classes, return_counts=True)
        normal = {str(names[counts.argmax()])}
    if name in ("mnist", "digits"):
        title += f", {'/'.join(sorted(normal))}"
    return Task(title, rows, ~np.isin(classes, list(normal)))


def looked_at() -> Iterator[Task]:
    yield task("ionosphere", {"g"})
    yield task("breast_cancer_wisconsin", {"2"})
    yield task("pima", {"0"})
    yield task("glass", strange={"6"})
    yield task("wine", strange={"1"})
    yield task("parkinsons", {"0"})
    yield task("arrhythmia", strange={"3", "4", "5", "7", "8", "9", "14", "15"})
    for digit in "0148":
        yield task("mnist", {digit})


def others() -> Iterator[Task]:
    yield task("sonar", {"R"})
    yield task("seeds", strange={"3"})
    yield task("iris", strange={"Iris-virginica"})
    yield task("zoo", {"1"})
    for name in ("soybean", "wall_following", "theorem_proving", "teaching_assistant"):
        yield task(name)
    for digit in "369":
        yield task("digits", {digit})
    for digit in "235679":
        yield task("mnist", {digit})


# Detectors: what they have learnt is asked about new rows, or (None) about the same ones


def lrnn(**given: Any) -> Detector:
    def judged(seen: Any, new: Any, seed: int) -> np.ndarray:
        model = LRNNOutlierDetector(random_state=seed, **given).fit(seen)
        return -np.asarray(model.score_samples(seen if new is None else new))

    return judged


def plain_errors(seen: Any, new: Any, seed: int) -> np.ndarray:
    scale = "levels" if seen.dtype == np.uint8 else "minmax"
    model = LRNNAutoencoder(scale=scale, random_state=seed).fit(seen)
    return -np.asarray(model.score_samples(seen if new is None else new))


def neighbours(seen: Any, new: Any, seed: int) -> np.ndarray:
    model = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(seen)
    return np.asarray(model.kneighbors(new)[0].mean(axis=1))  # None: each row but itself


def outlier_factors(seen: Any, new: Any, seed: int) -> np.ndarray:
    model = LocalOutlierFactor(novelty=new is not None).fit(seen)
    return -np.asarray(model.negative_outlier_factor_ if new is None else model.score_samples(new))


def half_of_components(seen: Any, new: Any, seed: int) -> np.ndarray:
    model = PCA(max(1, min(seen.shape) // 2), random_state=seed).fit(seen)
    rows = seen if new is None else new
    error = (model.inverse_transform(model.transform(rows)) - rows) ** 2
    return np.asarray(error.mean(axis=1))


def of_sklearn(kind: Callable[..., Any], *, seeded: bool = False) -> Detector:
    def judged(seen: Any, new: Any, seed: int) -> np.ndarray:
        model = kind(random_state=seed) if seeded else kind()
        return -np.asarray(model.fit(seen).score_samples(seen if new is None else new))

    return judged


def of_pyod(name: str, passes: int | None = None) -> Detector:
    def judged(seen: Any, new: Any, seed: int) -> np.ndarray:
        if name == "AutoEncoder":
            from pyod.models.auto_encoder import AutoEncoder

            more: dict[str, int] = {"batch_size": min(32, len(seen))}  # no fewer rows
            if passes is not None:
                more = {"epoch_num": passes, "batch_size": min(32, max(2, len(seen) // 4))}
            model = AutoEncoder(verbose=0, random_state=seed, **more)
        elif name == "PCA":
            from pyod.models import pca

            model = pca.PCA(random_state=seed)
        else:
            from pyod.models.ecod import ECOD

            model = ECOD()
        model.fit(seen)
        found = model.decision_scores_ if new is None else model.decision_function(new)
        return np.asarray(np.nan_to_num(found))  # PCA: infinite, where columns are constant

    return judged


OURS: dict[str, Detector] = {  # they are given raw data
    "lrnn": lrnn(),
    "lrnn, n_typical=0": lrnn(n_typical=0),
    f"lrnn, contamination={SHARE:g}": lrnn(contamination=SHARE),
    "LRNNAutoencoder's errors": plain_errors,
}


def contenders() -> dict[str, Detector]:
    """Those that are installed."""
    found: dict[str, Detector] = {
        "kNN": neighbours,
        "LOF": outlier_factors,
        "OneClassSVM": of_sklearn(OneClassSVM),
        "IsolationForest": of_sklearn(IsolationForest, seeded=True),
        "PCA": half_of_components,
    }
    if find_spec("pyod") is None:
        console.print("PyOD is not installed: its detectors are left out")
        return found
    found |= {"PyOD PCA": of_pyod("PCA"), "PyOD ECOD": of_pyod("ECOD")}
    if missing := [name for name in ("torch", "tqdm") if find_spec(name) is None]:
        console.print(f"{', '.join(missing)} not installed: PyOD's AutoEncoder is left out")
        return found
    found["PyOD AutoEncoder"] = of_pyod("AutoEncoder")
    found[f"PyOD AutoEncoder, {PASSES} passes"] = of_pyod("AutoEncoder", PASSES)
    return found


def pyod_version() -> str:
    if find_spec("pyod") is None:
        return "without PyOD"
    from importlib.metadata import version

    return f"PyOD {version('pyod')}"


# How well they tell


def scaled(task: Task, seen: np.ndarray, new: np.ndarray | None) -> tuple[Any, Any]:
    """Rows in [0, 1] by the range of those to learn from; new ones may be beyond."""
    if task.white:
        return seen / task.white, None if new is None else new / task.white
    scaler = MinMaxScaler().fit(seen)
    return scaler.transform(seen), None if new is None else scaler.transform(new)


def measured(
    task: Task, splits: int, detectors: dict[str, Detector], *, unsupervised: bool = False
) -> dict[str, np.ndarray]:
    """Of each detector, for each division: area, and average precision."""
    found: dict[str, list[tuple[float, float]]] = {}
    for seed in range(splits):
        if unsupervised:
            learnt, judged, new = task.mixed(seed), task.mixed(seed), None
        else:
            learnt, judged = task.halved(seed)
            new = task.rows[judged]
        seen, truth = task.rows[learnt], task.strange[judged]
        coded = scaled(task, seen, new)
        for name, detector in detectors.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told = detector(*((seen, new) if name in OURS else coded), seed)
            areas = roc_auc_score(truth, told), average_precision_score(truth, told)
            found.setdefault(name, []).append(areas)
    return {name: np.array(values) for name, values in found.items()}


def told(data: str, detector: str, values: np.ndarray) -> dict[str, Any]:
    means = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else (None, None)
    return {
        "data": data,
        "detector": detector,
        "ROC-AUC": float(means[0]),
        "±": None if spread[0] is None else float(spread[0]),
        "average precision": float(means[1]),
        "± of it": None if spread[1] is None else float(spread[1]),
    }


def compare(
    tasks: Iterator[Task], splits: int, *, unsupervised: bool = False, ours: bool = False
) -> list[dict[str, Any]]:
    """Results of each detector (or of ours alone) on each task, and the means over tasks."""
    detectors = OURS if ours else OURS | contenders()
    results = []
    all_of: dict[str, list[np.ndarray]] = {name: [] for name in detectors}
    for each in tasks:
        found = measured(each, splits, detectors, unsupervised=unsupervised)
        for name, values in found.items():
            all_of[name].append(values)
            results.append(told(each.name, name, values))
        line = ", ".join(f"{name} {values[:, 0].mean():.3f}" for name, values in found.items())
        print(f"{each.name} {each.rows.shape}, {each.strange.sum()} strange: {line}", flush=True)
    results += [told("mean", name, np.mean(values, axis=0)) for name, values in all_of.items()]
    return results


def beside_stored(
    results: list[dict[str, Any]], stored: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """What was measured now in the place of what was stored of the same detectors."""
    new = {(row["data"], row["detector"]): row for row in results}
    return [new.get((row["data"], row["detector"]), row) for row in stored]


def by_detector(results: list[dict[str, Any]]) -> None:
    """Print areas, the best detector first."""
    names = list(dict.fromkeys(row["data"] for row in results))
    areas = {(row["detector"], row["data"]): row["ROC-AUC"] for row in results}
    table = Table(title="ROC-AUC")
    for column in ("", *names):
        table.add_column(column, justify="right" if column else "left")
    order = sorted({row["detector"] for row in results}, key=lambda d: -areas[d, "mean"])
    for detector in order:
        table.add_row(detector, *(f"{areas[detector, name]:.3f}" for name in names))
    console.print(table)


# How long they take


def timed(data: str, detector: str, work: Callable[[], object], rounds: int) -> dict[str, Any]:
    least = np.inf
    for _ in range(rounds):
        with warnings.catch_warnings(), Stopwatch() as watch:
            warnings.simplefilter("ignore")
            work()
        least = min(least, watch.seconds)
    row = {"data": data, "detector": detector, "seconds": least}
    print(row, flush=True)
    return row


def of_neighbours(rows: np.ndarray, data: str) -> dict[str, Any]:
    """Neighbours of all rows, or of some if all would take long."""
    tried = timed(data, "kNN, tried", lambda: neighbours(rows, rows[:TRIED], 0), 1)["seconds"]
    if tried * len(rows) / TRIED < LONG:
        return timed(data, "kNN", lambda: neighbours(rows, None, 0), 1)
    queries = min(QUERIES, len(rows))
    row = timed(data, "kNN", lambda: neighbours(rows, rows[:queries], 0), 1)
    row["seconds"] *= len(rows) / queries
    return row | {"note": f"from {queries:,} rows that were judged"}


def with_ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many times as long as lrnn each took."""
    own = {row["data"]: row["seconds"] for row in rows if row["detector"] == "lrnn"}
    for row in rows:
        note = row.pop("note", None)
        row["times lrnn"] = row["seconds"] / own[row["data"]] if row["data"] in own else None
        row["note"] = note
    return rows


def streamed(rows: np.ndarray, data: str) -> list[dict[str, Any]]:
    """The first part, and the mean of each further one; they are judged by the model, too."""
    model, seconds = LRNNOutlierDetector(random_state=0), []
    for first in range(0, len(rows) - PART + 1, PART):
        part = rows[first : first + PART]
        with warnings.catch_warnings(), Stopwatch() as watch:
            warnings.simplefilter("ignore")
            model.partial_fit(part).score_samples(part)
        seconds.append(watch.seconds)
    found = [
        {"data": f"{data}, first {PART} rows", "detector": "lrnn", "seconds": seconds[0]},
        {
            "data": f"{data}, each further {PART} rows",
            "detector": "lrnn",
            "seconds": float(np.mean(seconds[1:])),
        },
    ]
    print(found, flush=True)
    return found


def seconds(rounds: int, *, quick: bool) -> list[dict[str, Any]]:
    """Learn, and judge the same rows; detectors in turn."""
    results: list[dict[str, Any]] = []
    installed = contenders()
    warm = np.random.default_rng(0).random((100, 5))
    for detector in (OURS["lrnn"], *installed.values()):  # what is compiled or loaded once
        detector(warm, None, 0)
    timed_ones = {"lrnn": OURS["lrnn"]} | {
        name: installed[name]
        for name in ("kNN", "LOF", "IsolationForest", "PyOD AutoEncoder")
        if name in installed
    }

    def each(data: str, raw: Any, coded: Any, names: Any) -> None:
        for name in names:
            rows = raw if name in OURS else coded
            work = timed_ones[name]
            results.append(timed(data, name, partial(work, rows, None, 0), rounds))

    for name in ("pima", "arrhythmia"):
        table = labelled(name)[0]
        each(DATA_SETS[name].title, table, MinMaxScaler().fit_transform(table), timed_ones)
    shape, density = ((500, 200), 0.1) if quick else ((5_000, 2_000), 0.01)
    entries = sparse.random_array(shape, density=density, format="csr", rng=0)
    names = ("lrnn", "kNN", "LOF", "IsolationForest")  # these take sparse data
    each(f"sparse, {shape[0]:,} × {shape[1]:,}, {density:.0%}", entries, entries, names)
    results += streamed(labelled("wall_following")[0], DATA_SETS["wall_following"].title)
    if not quick:
        results += streamed(labelled("mnist")[0], "MNIST, test")
        images = load("mnist", split="train", scaled=False).data
        data = f"MNIST, {len(images):,} images"
        several = [n for n in ("lrnn", "IsolationForest", "PyOD AutoEncoder") if n in timed_ones]
        coded = images / np.float32(255)
        each(data, images, coded, several)
        results.append(of_neighbours(coded, data))
    return with_ratios(results)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1, help="of --seconds; the least counts")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--others", action="store_true")
    parser.add_argument(
        "--ours", action="store_true", help="lrnn alone; others (same divisions) stay as stored"
    )
    parser.add_argument("--unsupervised", action="store_true")
    parser.add_argument("--seconds", action="store_true")
    chosen = parser.parse_args()
    began = perf_counter()
    if chosen.seconds:
        title = f"{TITLE}: seconds to learn and to judge ({pyod_version()})"
        report("detection_seconds", title, seconds(chosen.rounds, quick=chosen.quick))
        return
    splits = 1 if chosen.quick else chosen.splits
    tasks = others() if chosen.others else looked_at()
    if chosen.quick:
        tasks = (each for each in tasks if each.rows.shape[1] < WIDE)
    results = compare(tasks, splits, unsupervised=chosen.unsupervised, ours=chosen.ours)
    name = "detection" + "_others" * chosen.others + "_unsupervised" * chosen.unsupervised
    if chosen.ours:
        results = beside_stored(results, known(name))
    by_detector(results)
    what = "judged by those that learnt from them" if chosen.unsupervised else "new rows"
    report(name, f"{TITLE}: {what}, {splits} divisions ({pyod_version()})", results)
    console.print(f"{(perf_counter() - began) / 60:.1f} minutes")


if __name__ == "__main__":
    main()
