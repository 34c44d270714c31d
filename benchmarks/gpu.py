"""Training on a GPU: how long to which error, and how near each phase is to what the device can do.

    LRNN_DATA_DIR=... python benchmarks/gpu.py [--cifar] [--synthetic]

Seconds are those of whole fits, after one fit to warm up (kernels are compiled on first use). MNIST
starts from float32 on the device, CIFAR-10 from uint8 in the memory of the host. The phases are
timed on their own, against a large matrix product in float32 and a copy on the same device in the
same run.
"""

import argparse
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import torch

from common import load_cifar10, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.functional import descend_decoder
from lrnn.moments import DenseMoment
from lrnn.rows import held

STEPS = 126  # that CIFAR-10 takes to its error
ENOUGH = {"mnist": 0.0104, "cifar10": 0.0085}


def seconds(work: Callable[[], object], times: int = 5) -> float:
    """The median time of some runs, after one to warm up."""
    work()
    took = []
    for _ in range(times):
        torch.cuda.synchronize()
        began = perf_counter()
        work()
        torch.cuda.synchronize()
        took.append(perf_counter() - began)
    return float(np.median(took))


def device_rates() -> tuple[float, float]:
    """Multiplications and additions a second of a float32 product, and bytes a second of a copy."""
    a = torch.rand(8192, 8192, device="cuda")
    product = 2 * 8192**3 / seconds(lambda: a @ a)
    copy = 2 * a.nbytes / seconds(lambda: a.clone())
    return product, copy


def steps_to(error: float, hidden: int, X: object, **settings: Any) -> int:
    """After how many steps the error is low enough."""
    curve = LRNNAutoencoder(hidden, tol=0, **settings).fit(X).history_[0]
    return int(np.argmax(curve.errors <= error)) or len(curve.errors) - 1


def fit(name: str, what: str, X: object, hidden: int, **settings: Any) -> dict[str, object]:
    """One row of the table: a whole fit that ends when the error is low enough."""
    steps = steps_to(ENOUGH[name], hidden, X, **settings)
    model = LRNNAutoencoder(hidden, max_iter=steps, tol=0, **settings)
    return {
        "what": what,
        "seconds": seconds(lambda: model.fit(X)),
        "steps": steps,
        "error": model.reconstruction_err_,
    }


def synthetic_images() -> np.ndarray:
    """As many rows and levels as CIFAR-10 has: sums of 40 parts, and noise."""
    chance = torch.Generator("cuda").manual_seed(0)

    def random(*shape: int) -> torch.Tensor:
        return torch.rand(shape, device="cuda", generator=chance)

    found = random(60_000, 40) ** 4 @ random(40, 3_072) ** 3 + 0.05 * random(60_000, 3_072)
    return (255 * found / found.amax(dim=1, keepdim=True)).to(torch.uint8).cpu().numpy()


def phases(levels: np.ndarray, hidden: int, limits: tuple[float, float]) -> list[dict[str, object]]:
    """The parts of a fit, each against what the device can do."""
    rows, width = levels.shape
    X = torch.asarray(levels, device="cuda") / 255
    moment = DenseMoment(held(X))
    encoder = torch.rand(width, hidden, device="cuda")
    product = moment.dot(encoder)
    gram, decoder = encoder.T @ product, torch.rand(hidden, width, device="cuda")
    work = {
        "second moment": (lambda: DenseMoment(held(X)), 2 * rows * width**2, X.nbytes),
        "product with G": (lambda: moment.dot(encoder), 2 * width**2 * hidden, 4 * width**2),
        "sweeps over the decoder": (
            lambda: descend_decoder(product.T, gram, decoder, 2),
            4 * hidden**2 * width,
            12 * hidden * width,
        ),
        "codes": (lambda: X @ encoder, 2 * rows * width * hidden, X.nbytes),
    }
    found = []
    for what, (run, operations, moved) in work.items():
        took = seconds(run)
        found.append(
            {
                "what": f"{what}, {rows} × {width} → {hidden}",
                "seconds": took,
                "share of the matrix rate": operations / took / limits[0],
                "share of the bandwidth": moved / took / limits[1],
            }
        )
    return found


def end_to_end(X: torch.Tensor) -> list[dict[str, object]]:
    """Steps on minibatches."""
    deep, shallow = (1000, 500, 250, 50), (100,)
    found = []
    for what, hidden, settings in (
        ("fine-tuning, deep", deep, {"fine_tune": 4, "max_iter": 20, "stacking": "joint"}),
        ("fine-tuning, shallow", shallow, {"fine_tune": 4, "max_iter": 20}),
        ("as printed, batches of 100", shallow, {"solver": "minibatch", "max_iter": 2, "tol": 0}),
        ("unit rates, shallow", shallow, {"rates": "unit", "max_iter": 4}),
    ):
        model = LRNNAutoencoder(hidden, random_state=0, **settings)
        model.fit(X[:2_000])
        model.fit(X)
        curve = model.history_[-1]
        found.append(
            {
                "what": what,
                "steps a second": len(curve.batch_errors) / curve.seconds[-1],
                "ms a step": 1e3 * curve.seconds[-1] / len(curve.batch_errors),
                "error": model.reconstruction_err_,
            }
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cifar", action="store_true", help="CIFAR-10, too")
    parser.add_argument("--synthetic", action="store_true", help="data of its size, in its place")
    wanted = parser.parse_args()
    limits = device_rates()
    levels = load_mnist(dtype=None)
    on_device = torch.asarray(levels, device="cuda") / 255
    rows: list[dict[str, Any]] = [
        {
            "what": f"{torch.cuda.get_device_name()}: {limits[0] / 1e12:.1f} TFLOP/s in float32, "
            f"{limits[1] / 1e12:.2f} TB/s"
        },
        fit("mnist", "MNIST 784→100, torch", on_device, 100),
        fit("mnist", "MNIST 784→100, uint8 of the host", levels, 100, device="cuda"),
    ]
    try:
        import cupy

        rows.append(fit("mnist", "MNIST 784→100, CuPy", cupy.asarray(on_device), 100))
    except ImportError:
        pass
    rows += phases(levels, 100, limits) + end_to_end(on_device)
    if wanted.cifar:
        levels = load_cifar10()
        rows.append(fit("cifar10", "CIFAR-10 3072→150, uint8 of the host", levels, 150,
                        device="cuda"))  # fmt: skip
        rows += phases(levels, 150, limits)
    if wanted.synthetic:
        levels = synthetic_images()
        model = LRNNAutoencoder(150, max_iter=STEPS, tol=0, device="cuda")
        what = "60,000 × 3,072 → 150, synthetic, uint8 of the host"
        took = seconds(lambda: model.fit(levels))
        rows.append({"what": what, "seconds": took, "steps": STEPS})
        rows += phases(levels, 150, limits)
    report("gpu", "Training on a GPU", rows)


if __name__ == "__main__":
    main()
