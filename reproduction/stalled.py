"""The printed algorithms for as long as it takes, under each reading of what the paper leaves open.

The paper says neither how long it trains, nor how it draws its first weights, nor in which order
minibatches come, nor whether the lowest error is that of a minibatch or of all images.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from lrnn.datasets import DATA_SETS, load
from reproduction.experiments import READINGS, STRUCTURES, Task, some
from reproduction.printed import Course, Rows, error_of, fall, first_network, late, train
from reproduction.printed import train_layerwise as by_pairs

POINTS = 200  # of a curve that are kept
ITERATIONS = (12_000, 120_000)  # the least and the most, for each pair of Algorithm 2
QUICK_ITERATIONS = (40, 80)


def outlast(task: Task, X: Any, device: str | None) -> dict[str, Any]:
    """Train as printed until it stalls; return all that may be called the lowest error."""
    structure, reading = STRUCTURES[task.subject], READINGS[task.reading]
    rows = Rows(X, DATA_SETS[task.data].white, device)
    least, most = QUICK_ITERATIONS if task.quick else ITERATIONS
    random = np.random.RandomState(task.seed)
    network = first_network((rows.shape[1], *structure.hidden), rows, random, reading)
    options: dict[str, Any] = {
        "batch_size": structure.batch_size,
        "passes": max(8, round(most * structure.batch_size / rows.shape[0])),
        "reading": reading,
        "least": least,
    }
    began = perf_counter()
    if task.method == "algorithm2":
        network, courses = by_pairs(rows, network, random, **options)
        on_batches: Any = errors_on_batches(rows, network.layers, structure.batch_size)
        level = np.mean(on_batches)  # its own minibatches are those of inner pairs
    else:
        courses = [train(rows, network, random, **options)]
        network, on_batches = courses[0].best, courses[0].batch_errors
        level = np.mean(late(on_batches, courses[0].passes))
    return {
        "seconds": perf_counter() - began,
        "error": error_of(rows.blocks(), network.layers),
        "test_error": _test_error(task, network.layers, device),
        "lowest_batch": float(np.min(on_batches)),
        "level": float(level),
        "stages": [_stage(course) for course in courses],
        "iterations": sum(len(course.batch_errors) for course in courses),
        "device": device or "cpu",
    }


def errors_on_batches(rows: Rows, layers: Sequence[Any], size: int) -> list[float]:
    """Mean squared errors of minibatches in the order of the rows."""
    starts = range(0, rows.shape[0] - size + 1, size)
    return [error_of([rows.take(slice(i, i + size))], layers) for i in starts]


def _test_error(task: Task, layers: Sequence[Any], device: str | None) -> float | None:
    """On rows that were not trained on, where a data set has such."""
    entry = DATA_SETS[task.data]
    if entry.default_split != "train" or "test" not in entry.splits:
        return None
    X = load(task.data, split="test", scaled=entry.white is None).data
    rows = Rows(some(X, task.quick), entry.white, device)
    return error_of(rows.blocks(), layers)


def _stage(course: Course) -> dict[str, Any]:
    """A curve: the mean and the lowest error on minibatches, between some iterations."""
    errors, passes = np.asarray(course.batch_errors), course.passes
    ends = np.unique(np.linspace(0, len(errors), min(POINTS, len(errors)) + 1).astype(int))
    parts = np.split(errors, ends[1:-1])
    kept = np.unique(np.linspace(0, len(course.errors) - 1, min(POINTS, passes)).astype(int))
    return {
        "passes": passes,
        "fall": fall(errors, passes),
        "unrest": float(np.std(late(errors, passes)) / np.mean(late(errors, passes))),
        "iterations": ends[1:].tolist(),
        "mean": [float(part.mean()) for part in parts],
        "lowest": [float(part.min()) for part in parts],
        "whole_iterations": [course.iterations[i] for i in kept],
        "whole": [course.errors[i] for i in kept],
    }
