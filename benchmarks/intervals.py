"""How often 95 % intervals of a simulation hold the steady state, over a grid of networks.

    python benchmarks/intervals.py --most 1e7       # 2e11 events, a process for each core
    python benchmarks/intervals.py --most 5e8 --absent --processes 1    # 8e11 more, beside these

Every cell is a network under a load (the activation of its busiest neuron), a start, an engine, a
length in memories of its slowest neuron (4/((1 − q)² r), longer where its spikes come back to it),
and a number of runs whose spread is used; a single run is divided into parts. Each has 200 seeds,
1,000 at the corners of the grid below 10 million events. The engine "neurons" is left out above a
million events, 20 runs above 20 million in all.

Counted are intervals of neurons that are not marked as `short`. They miss too often where a
binomial law at 5 % gives as many with a probability below 0.05 divided by the number of all shares
in the table. No neuron may be marked after 50 memories in each run and 50 expected busy periods.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, norm

from common import RESULTS, console, known, report, write
from lrnn import RandomNeuralNetwork

LEVEL = 0.95
ESTIMATORS: tuple[Any, ...] = ("potential", "busy", "arrivals")
MEMORIES = (1, 4, 16, 50, 200, 1_000)
RUNS = (1, 20)
KEY = ("network", "load", "start", "engine", "memories", "runs")  # which cell it is
FEW, MANY, LONG = 200, 1_000, 1e7  # seeds, those at corners, and up to which length
BY_NEURON, IN_ALL = 1e6, 2e7  # events up to which that engine, and several runs, are tried
ENOUGH = 50  # memories and busy periods after which nothing is short
LOADS = (0.1, 0.5, 0.9, 0.97, 0.99)
NETWORKS: dict[str, tuple[RandomNeuralNetwork, list[float], tuple[float, ...]]] = {
    "M/M/1": (
        RandomNeuralNetwork([1.0], [[0.0]]), [1.0],
        (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999),
    ),
    "one that feeds itself": (RandomNeuralNetwork([1.0], [[0.9]]), [1.0], LOADS),
    "three in a row": (
        RandomNeuralNetwork([5.0, 1.0, 1.2], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]), [1, 0, 0], LOADS,
    ),
    "ring of three": (
        RandomNeuralNetwork([1.0, 3.0, 10.0], [[0, 0.7, 0], [0, 0, 0.9], [0.8, 0.1, 0]]),
        [0.5, 0.2, 0.1], LOADS,
    ),
    "loop with inhibition": (
        RandomNeuralNetwork(
            [1.0, 2.0, 1.5],
            [[0.2, 0.4, 0.0], [0.1, 0.0, 0.5], [0.0, 0.0, 0.0]],
            [[0.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.4, 0.0, 0.0]],
        ),
        [0.45, 0.3, 0.35], LOADS,
    ),
}  # fmt: skip


def loaded(network: RandomNeuralNetwork, direction: Any, load: float) -> np.ndarray:
    """Arrivals along a direction under which the busiest neuron is excited so often."""
    ray = np.asarray(direction, dtype=float)

    def excess(scale: float) -> float:
        return float(np.max(network.steady_state(scale * ray))) - load

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return np.asarray(brentq(excess, 0, high, xtol=1e-15) * ray)


def slowest(network: RandomNeuralNetwork, arrivals: np.ndarray) -> float:
    """The longest memory of a neuron: 4/(1 − q)² times ∂q/∂Λ, which is 1/r without feedback."""
    q = np.asarray(network.steady_state(arrivals))
    own = [network.gradient(arrivals, of=unit).arrivals[i] for i, unit in enumerate(np.eye(len(q)))]
    return float((4 * np.array(own) / (1 - q) ** 2).max())


def cells(most: float) -> Iterator[dict[str, Any]]:
    """All that are not longer than so many events."""
    for name, (network, direction, loads) in NETWORKS.items():
        for load in loads:
            arrivals = loaded(network, direction, load)
            q = np.asarray(network.steady_state(arrivals))
            pace = float(arrivals.sum() + q @ network.rates)  # events per unit time
            memory = slowest(network, arrivals)
            for start, engine, memories, runs in product(
                ("empty", "stationary"), ("clock", "neurons"), MEMORIES, RUNS
            ):
                events = max(2, round(memories * memory * pace))
                longest = {"clock": most, "neurons": min(most, BY_NEURON)}[engine]
                if events <= longest and (runs == 1 or events * runs <= min(longest, IN_ALL)):
                    corner = (
                        load in loads[:: len(loads) - 1]
                        and memories in MEMORIES[:: len(MEMORIES) - 1]
                    )
                    yield {
                        "network": name, "load": load, "start": start, "engine": engine,
                        "memories": memories, "runs": runs, "events": events,
                        "seeds": MANY if corner and events * runs < LONG else FEW,
                    }  # fmt: skip


def cost(cell: dict[str, Any]) -> int:
    """Events of all runs of a cell."""
    return int(cell["events"] * cell["runs"] * cell["seeds"])


def measure(cell: dict[str, Any], threads: int | None = 1) -> dict[str, Any]:
    """How often intervals miss, of the neuron for which that is least likely to be chance."""
    (network, direction, _), runs = NETWORKS[cell["network"]], cell["runs"]
    arrivals = loaded(network, direction, cell["load"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is short: it is counted
        result = network.simulate(
            np.tile(arrivals, (cell["seeds"], 1)), events=cell["events"], replicas=runs,
            start=cell["start"], engine=cell["engine"], threads=threads, random_state=1,
            progress=False, snapshots=[cell["events"]] if runs > 1 else None,
        )  # fmt: skip
    q, counted = np.asarray(result.steady), ~result.short
    total = network.rates if network.inhibitory is None else (
        network.rates + (q[0] * network.rates) @ network.inhibitory
    )  # fmt: skip
    periods = result.time[:, None] * q * (1 - q) * total
    late = (cell["memories"] >= ENOUGH) & (periods.mean(axis=0) >= ENOUGH)
    found: dict[str, Any] = {
        "short": float((~counted).mean()),
        "short, though long enough": float((~counted)[:, late].mean()) if late.any() else 0.0,
    }
    for estimator in ESTIMATORS:
        low, high = result.confidence_interval(LEVEL, estimator)
        of, missed = counted.sum(axis=0), (((q < low) | (high < q)) & counted).sum(axis=0)
        chance = np.where(of > 0, binom.sf(missed - 1, of, 1 - LEVEL), 1)
        worst = int(chance.argmin())
        spread = result.activation(estimator).std(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            wide = (high - low).mean(axis=0) / (2 * norm.ppf((1 + LEVEL) / 2) * spread)
        found[f"{estimator}: missed"] = float(missed[worst] / max(of[worst], 1))
        found[f"{estimator}: chance"] = float(chance[worst])
        found[f"{estimator}: width"] = float(np.nan_to_num(wide, nan=1.0, posinf=1.0).max())
    return cell | found


def wrong(rows: list[dict[str, Any]]) -> list[str]:
    """Shares of misses that chance does not explain, and marks that should not be there."""
    networks = {name: entry[0].n_neurons for name, entry in NETWORKS.items()}
    count = sum(networks[row["network"]] * len(ESTIMATORS) for row in rows)
    found = []
    for row in rows:
        place = ", ".join(f"{key} {row[key]}" for key in list(row)[:6])
        found += [
            f"{place}: {estimator} misses {row[f'{estimator}: missed']:.1%}"
            for estimator in ESTIMATORS
            if row[f"{estimator}: chance"] < 0.05 / count
        ]
        if row["short, though long enough"]:
            found.append(f"{place}: {row['short, though long enough']:.1%} marked as short")
    return found


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each network and load: how often intervals held, and the worst cell."""
    found = []
    for name, entry in NETWORKS.items():
        for load in entry[2]:
            some = [r for r in rows if (r["network"], r["load"]) == (name, load)]
            if some:
                found.append({"network": name, "load": load, "cells": len(some)} | {
                    f"{e}, worst cell": 1 - max(r[f"{e}: missed"] for r in some) for e in ESTIMATORS
                } | {"marked as short": float(np.mean([r["short"] for r in some]))})  # fmt: skip
    return found


def main() -> None:
    """The whole grid."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=float, default=1e7, help="events of a run")
    parser.add_argument("--least", type=float, default=0, help="leave out shorter runs")
    parser.add_argument("--network", choices=NETWORKS, help="only this one")
    parser.add_argument("--absent", action="store_true", help="only what has no result yet")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--name", default="intervals", help="of the file in results/")
    given = parser.parse_args()
    least, most, network, name = given.least, given.most, given.network, given.name

    def chosen(cell: dict[str, Any]) -> bool:
        return least < cell["events"] <= most and network in (None, cell["network"])

    rows = known(name)
    wanted = [cell for cell in cells(most) if chosen(cell)]
    if given.absent:
        there = [tuple(row[key] for key in KEY) for row in rows]
        wanted = [cell for cell in wanted if tuple(cell[key] for key in KEY) not in there]
    else:
        rows = [row for row in rows if not chosen(row)]
    title = f"Intervals at {LEVEL:.0%}"
    if given.processes == 1:  # long runs: the seeds of each cell by all threads
        for cell in sorted(wanted, key=cost):
            rows.append(measure(cell, None))
            write(RESULTS / f"{name}.json", f"{title} that miss, of the worst neuron", rows)
    else:
        order = np.argsort([-cost(cell) for cell in wanted])
        with ProcessPoolExecutor(given.processes, get_context("spawn")) as pool:
            found = {i: pool.submit(measure, wanted[i]) for i in order}
            rows += [found[i].result() for i in range(len(wanted))]
        write(RESULTS / f"{name}.json", f"{title} that miss, of the worst neuron", rows)
    report(f"{name}_summary", f"{title}: shares that hold", summary(rows))
    for line in wrong(rows) or ["no share is higher than chance explains"]:
        console.print(line)


if __name__ == "__main__":
    main()
