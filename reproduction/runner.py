"""Runs experiments one after the other; what is finished is not run again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import lrnn
from lrnn import LRNNAutoencoder, bounds
from lrnn.datasets import DATA_SETS, load
from reproduction.classifiers import classify
from reproduction.experiments import EVENTS_SHOWN, SIMULATED, SPIKING, STRUCTURES, Task, some
from reproduction.inhibition import compete, restore
from reproduction.recognition import recognise
from reproduction.spiking import compared
from reproduction.stalled import outlast
from reproduction.training import train


def run_tasks(
    tasks: Sequence[Task],
    folder: Path,
    progress: Callable[[int, Task | None], None],
    device: str | None = None,
) -> list[dict[str, Any]]:
    """Results of all tasks, each written to a file as soon as it is there.

    ``progress`` gets how many are done, and which is next. Training until it stalls, and
    classifiers made of spikes, may run on a ``device``.
    """
    results = []
    data = Data()
    for done, task in enumerate(tasks):
        progress(done, task)
        path = folder / "results" / f"{task.name}.json"
        result = read_result(path, task)
        if result is None:
            began = perf_counter()
            result = {
                **task.facts(),
                "lrnn_version": lrnn.__version__,
                **_run(task, folder, data, device),
            }
            result["took"] = perf_counter() - began
            write_whole(path, json.dumps(result))
        results.append(result)
    progress(len(tasks), None)
    return results


def read_result(path: Path, task: Task) -> dict[str, Any] | None:
    """What an earlier run has found of this very task, if it did."""
    try:
        result = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    return result if all(result.get(k) == v for k, v in task.facts().items()) else None


def write_whole(path: Path, text: str) -> None:
    """Write a file as a whole, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


class Data:
    """The data set that is in use."""

    def __init__(self) -> None:
        self._held: tuple[Task | None, Any] = (None, None)
        self._bounds: dict[tuple[str, bool, str, int], float] = {}

    def of(self, task: Task) -> Any:
        """Rows as the paper trains on them: levels of images, other attributes in [0, 1]."""
        held, X = self._held
        if held is None or (held.data, held.quick) != (task.data, task.quick):
            self._held = (None, None)  # free its memory first
            X = load(task.data, scaled=DATA_SETS[task.data].white is None).data
            X = some(X, task.quick)
            self._held = (task, X)
        return X

    def bound(self, task: Task) -> float:
        """The lowest error that a task could reach."""
        width = min(STRUCTURES[task.subject].hidden)
        key = (task.data, task.quick, task.rates, width)
        if key not in self._bounds:
            lowest = bounds.unit_rate if task.rates == "unit" else bounds.svd
            self._bounds[key] = lowest(self.of(task), width)
        return self._bounds[key]


def _run(task: Task, folder: Path, data: Data, device: str | None) -> dict[str, Any]:
    if task.kind == "recognition":
        return recognise(task)
    if task.kind == "classifiers":
        return classify(task, device)
    X = data.of(task)
    if task.kind == "stalled":
        return outlast(task, X, device)
    if task.kind == "robustness":
        return restore(task, X)
    if task.kind == "inhibition":
        result, network = compete(task, X)
        if network is not None:
            _save(network, _model_path(task, folder))
        return result
    if task.kind == "spiking":
        models = {name: _simulated(name, task, folder, X) for name in SIMULATED}
        rows = load(task.data, split="test", scaled=False).data[: task.images]
        return compared(models, rows, EVENTS_SHOWN, task.images, task.seed)
    result, model = train(task, X)
    result["bound"] = data.bound(task)
    if task.subject == SPIKING and model is not None:
        _save(model, _model_path(task, folder))
    return _plain(result)


def _simulated(name: str, task: Task, folder: Path, X: Any) -> LRNNAutoencoder:
    """A network of Figure 4, trained now if it was not kept."""
    method, rates = SIMULATED[name]
    training = replace(task, kind="training", method=method, rates=rates)
    path = _model_path(training, folder)
    if not path.exists():
        model = train(training, X)[1]
        assert model is not None
        _save(model, path)
    return lrnn.load(path)


def _save(model: LRNNAutoencoder, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)


def _model_path(training: Task, folder: Path) -> Path:
    return folder / "models" / f"{training.name}.safetensors"


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    return {k: v.item() if isinstance(v, np.generic) else v for k, v in value.items()}
