"""Is inhibition good for anything else? Held-out rows, damaged images, parts, spikes."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA

from lrnn import LRNNAutoencoder
from lrnn.datasets import DATA_SETS, load
from reproduction.experiments import (
    CONTENDERS,
    EVENTS_SHOWN,
    FOR_DAMAGE,
    STRUCTURES,
    Contender,
    Task,
    some,
)
from reproduction.spiking import simulated
from reproduction.training import fully_trained

MORE_EVENTS = (*EVENTS_SHOWN, 10_000_000, 100_000_000)  # where spikes are many, time is short
QUICK_PASSES = 20  # of few steps each
NOISE = (0.1, 0.2, 0.4)  # standard deviations
MISSING = (0.1, 0.3, 0.5)  # shares of the pixels
SEED = 20161
CORRUPTIONS = {f"noise {level:g}": ("noise", level) for level in NOISE}
CORRUPTIONS |= {f"missing {100 * share:g} %": ("mask", share) for share in MISSING}


class PrincipalComponents:
    """PCA as an autoencoder; what it gives back may be clipped to [0, 1]."""

    def __init__(self, width: int, clipped: bool) -> None:
        self.pca = PCA(width, random_state=0)
        self.clipped = clipped

    def fit(self, X: Any) -> Self:
        """Learn."""
        self.pca.fit(X)
        return self

    def reconstruct(self, X: Any) -> Any:
        """Give back."""
        found: Any = self.pca.inverse_transform(self.pca.transform(X))
        return np.clip(found, 0, 1) if self.clipped else found


def compete(task: Task, X: Any) -> tuple[dict[str, Any], LRNNAutoencoder | None]:
    """Train one contender; tell how it does on new rows and damaged ones, and what its parts are.

    X are levels of images. The network itself is returned too, if it is one.
    """
    contender = CONTENDERS[task.method]
    white, clean = _test_images(task)
    began = perf_counter()
    model = trained(contender, task, X, white)
    seconds = perf_counter() - began
    found = {
        "test_error": error(model.reconstruct(clean), clean),
        "damaged": {name: error(rows, clean) for name, rows in damaged(clean)},
        "restored": {name: error(model.reconstruct(rows), clean) for name, rows in damaged(clean)},
        "seconds": seconds,
        "rows": len(X),
        "test_rows": len(clean),
    }
    if isinstance(model, LRNNAutoencoder):
        found |= of_network(model, X)
        if contender.simulated:
            moments = EVENTS_SHOWN if task.quick else MORE_EVENTS
            found["spiking"] = simulated(model, X[:1], moments, task.seed)
        return found, model
    rows = X / white
    return {**found, "error": error(model.reconstruct(rows), rows)}, None


def restore(task: Task, X: Any) -> dict[str, Any]:
    """Train a contender for each damage; tell how well it gives back the clean rows from such."""
    contender = FOR_DAMAGE[task.method]
    white, clean = _test_images(task)
    began = perf_counter()
    restored, undamaged = {}, {}
    for name, rows in damaged(clean):
        model = trained(contender, task, X, white, CORRUPTIONS[name])
        restored[name] = error(model.reconstruct(rows), clean)
        undamaged[name] = error(model.reconstruct(clean), clean)
    seconds = perf_counter() - began
    return {"restored": restored, "undamaged": undamaged, "seconds": seconds}


def _test_images(task: Task) -> tuple[Any, Any]:
    """The level of white, and images for testing in [0, 1]."""
    white = np.float32(DATA_SETS[task.data].white)
    new = load(task.data, split="test", scaled=False).data
    return white, some(new, task.quick) / white


def trained(
    contender: Contender,
    task: Task,
    X: Any,
    white: np.float32,
    corruption: tuple[str, float] | None = None,
) -> Any:
    """A contender that has learnt from levels of images, corrupted ones perhaps."""
    (width,) = STRUCTURES[task.subject].hidden
    if not contender.network:
        return PrincipalComponents(width, contender.clipped).fit(X / white)
    passes = contender.passes
    if task.quick:
        passes = QUICK_PASSES if corruption is None else QUICK_PASSES // 5
    model = LRNNAutoencoder(
        width,
        max_iter=30 if task.quick else 200,
        corruption=corruption,
        random_state=task.seed,
    )
    if contender.share is None:
        return fully_trained(model.set_params(fine_tune=passes), X)
    return fully_trained(inhibitory(fully_trained(model, X), contender.share, passes), X)


def inhibitory(excitatory: LRNNAutoencoder, share: float, passes: int) -> LRNNAutoencoder:
    """A network with inhibition, to be trained on the rows that an excitatory one has learnt.

    A spike costs it ``share`` of the excitatory network's error per spike: a penalty that is
    neither high nor low for any data.
    """
    penalty = share * excitatory.reconstruction_err_ / excitatory.spike_cost_
    model: LRNNAutoencoder = clone(excitatory)
    model.set_params(inhibition=True, spike_penalty=penalty, fine_tune=passes)
    return model


def damaged(clean: Any) -> Iterator[tuple[str, Any]]:
    """All kinds of damage, by name: the same at every call.

    >>> [name for name, _ in damaged(np.ones((1, 2)))][::5]
    ['noise 0.1', 'missing 50 %']
    """
    for deviation in NOISE:
        yield f"noise {deviation:g}", noisy(clean, deviation, _random())
    for share in MISSING:
        yield f"missing {100 * share:g} %", holed(clean, share, _random())


def noisy(clean: Any, deviation: float, random: np.random.Generator) -> Any:
    """With Gaussian noise, clipped to [0, 1]."""
    noise = random.standard_normal(clean.shape, dtype=np.float32)
    return np.clip(clean + np.float32(deviation) * noise, 0, 1)


def holed(clean: Any, share: float, random: np.random.Generator) -> Any:
    """With a share of the pixels set to 0."""
    return np.where(random.random(clean.shape, dtype=np.float32) < share, 0, clean)


def _random() -> np.random.Generator:
    return np.random.default_rng(SEED)


def of_network(model: LRNNAutoencoder, X: Any) -> dict[str, Any]:
    """What only a network has: spikes, and parts that are never negative."""
    components = np.asarray(model.components_, dtype=np.float64)
    used = np.asarray(model.transform(X)).mean(axis=0) * components.sum(axis=1)
    order = np.argsort(-used, kind="stable")
    alone = np.asarray(model.inverse_transform(np.eye(len(components))))
    return {
        "error": model.reconstruction_err_,
        "spike_penalty": model.spike_penalty if model.inhibition else None,
        "spike_cost": model.spike_cost_,
        "highest_rate": float(max(rates.max() for rates in model.firing_rates_)),
        "largest_routed": model.audit().largest_routed,
        "valid": model.audit().valid,
        "parts": _to_own_maximum(components[order]),
        "alone": _to_own_maximum(alone[order]),
    }


def error(found: Any, wanted: Any) -> float:
    """Mean squared, per attribute."""
    return float(np.mean((np.asarray(found) - wanted) ** 2, dtype=np.float64))


def _to_own_maximum(rows: Any) -> list[list[float]]:
    """Each row from 0 to 1, to four digits: for pictures."""
    largest = rows.max(axis=1, keepdims=True)
    return np.round(rows / np.where(largest > 0, largest, 1), 4).tolist()  # type: ignore[no-any-return]
