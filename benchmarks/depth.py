"""What layers buy: error against spikes of deep networks with inhibition.

    LRNN_DATA_DIR=... python benchmarks/depth.py [--device cuda] [--what mnist …] [--passes 12]
    LRNN_DATA_DIR=... python benchmarks/depth.py --look
    python benchmarks/depth.py --draw docs/images/depth.png
    LRNN_DATA_DIR=... python benchmarks/depth.py --show docs/images/thirty-codes.png [--device cuda]
    LRNN_DATA_DIR=... python benchmarks/depth.py --parts docs/images/deep-parts.png

mnist: networks with a code of 50 neurons and a wide layer, before and behind the code or only
behind it, at some prices of a spike and free; wide: with twice as many neurons there; quick: with
300, on the first 10,000 images; science: 784→1000→500→250→30, the task that began deep learning
(Hinton & Salakhutdinov, Science, 2006, 3.00 per test image; PCA 13.87), and one with such layers
behind the code alone; free: the first of these trained once, for 160 passes, where spikes are free;
yale and cifar: the same as mnist, with codes of 50 and 150, on all of Yale
and the first 50,000 images of CIFAR-10. Errors are means per attribute, and also squared errors per
image. What is not asked for stays as it was measured before. --output takes the networks.

--look: what the layers of a deep network do. 784→300→50 on the first 10,000 images of MNIST at 10⁻⁶
a spike: what is lost without the saturation or without the inhibition of each layer of weights
alone (a neuron's divisor is its mean then, each row with its excitation as a weight).

--show: test images as such networks reconstruct them, beside as many principal components; those of
--networks, or else some that are trained for it: two with layers behind 30 codes at two prices, 40
passes each, and one with layers on both sides where spikes are free, 60 passes. --parts: what the
code of such a network can say, and with which neurons of the layer behind it; the first of
--networks, or else 784→50→300→784 on the first 10,000 images at 10⁻⁶ a spike.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

import lrnn
from common import Stopwatch, known, load_cifar10, load_mnist, report
from lrnn import LRNNAutoencoder
from lrnn.datasets import DATA_SETS, load
from lrnn.plots import image_grid
from lrnn.plots.axes import COLOURS, key, levels, logarithmic, plain, written_out

PRICES = (3e-6, 1.05e-6, 4e-7, 1e-7, 3e-8, 8e-9)
SCIENCE = (1000, 500, 250)
LONG = 160  # passes


def structures(code: int, *wide: int) -> list[dict[str, Any]]:
    """With such layers before and behind the code, or only behind it."""
    return [
        {"hidden_layer_sizes": (*wide, code)},
        {"hidden_layer_sizes": code, "decoder_layer_sizes": wide[::-1]},
    ]


GROUPS: dict[str, tuple[list[dict[str, Any]], tuple[float, ...] | int]] = {
    "mnist": (structures(50, 1000), PRICES),
    "wide": (structures(50, 2000), PRICES),
    "quick": ([{"hidden_layer_sizes": 50}, *structures(50, 300)], (4e-6, 1e-6, 3e-7, 1e-7)),
    "science": (structures(30, *SCIENCE), (4e-8, 1.5e-8, 5e-9, 1e-10, 1e-13)),
    "free": (structures(30, *SCIENCE)[:1], ()),
    "yale": ([{"hidden_layer_sizes": 50}, *structures(50, 400)], 6),
    "cifar": ([{"hidden_layer_sizes": 150}, *structures(150, 1000)], (1e-6, 1e-7, 1e-8, 1e-9)),
}
DRAWN = ("784→1000→50", "784→50→1000→784", "784→50→2000→784")
QUICK = 10_000  # of MNIST's images
TRAINING = 50_000  # of CIFAR-10's images
LINES, BEHIND, FAINT = 6, 6, (0.02, 0.1, 1.0)  # code neurons, neurons behind each, what they fire


def rows_of(what: str) -> tuple[Any, Any]:
    """Images to learn from, and others."""
    if what == "yale":
        return load("yale").data, None
    if what == "cifar":
        images = load_cifar10()
        return images[:TRAINING], images[TRAINING:]
    train, test = load_mnist(dtype=None), load_mnist("test", dtype=None)
    return train[: QUICK if what == "quick" else None], test


def frontier(
    what: str, layers: dict[str, Any], output: Path | None, **settings: Any
) -> list[dict[str, object]]:
    """One structure's networks, the cheapest first."""
    X, X_new = rows_of(what)
    found = lrnn.frontier(
        X, structures=[layers], X_test=X_new, penalties=GROUPS[what][1], random_state=0,
        stacking="joint", **settings,
    )  # fmt: skip
    name = "→".join(map(str, found.structures[0])) + (" (quick)" if what == "quick" else "")
    print(name, round(found.seconds), "s", flush=True)
    rows: list[dict[str, object]] = []
    for number, p in enumerate(found.points):
        test = None if p.test_error is None else p.test_error * X.shape[1]
        rows.append({
            "what": name, "penalty": p.penalty, "train": p.error, "test": p.test_error,
            "train, per image": p.error * X.shape[1], "test, per image": test, "spikes": p.spikes,
        })  # fmt: skip
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            assert p.model is not None
            p.model.save(output / f"{name.replace('→', '-')}-{number:02}.safetensors")
    return [*rows, {"what": f"{name}, all of it", "svd": found.svd, "seconds": found.seconds}]


def free(
    layers: dict[str, Any], output: Path | None, passes: int | None, **settings: Any
) -> list[dict[str, object]]:
    """One network of this structure, trained once for many passes; its spikes cost nothing."""
    X, X_new = rows_of("free")
    passes = passes or LONG
    with Stopwatch() as watch:
        model = LRNNAutoencoder(
            **layers, inhibition=True, stacking="joint", fine_tune=passes, random_state=0,
            **settings,
        ).fit(X)  # fmt: skip
    name = "→".join(map(str, (X.shape[1], *layers["hidden_layer_sizes"]))) + f", {passes} passes"
    train, test = model.reconstruction_err_, -model.score(X_new)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        model.save(output / "free.safetensors")
    return [{
        "what": name, "penalty": 0.0, "train": train, "test": test,
        "train, per image": train * X.shape[1], "test, per image": test * X.shape[1],
        "spikes": model.spike_cost_, "seconds": watch.seconds,
    }]  # fmt: skip


def looked_at(layers: dict[str, Any]) -> LRNNAutoencoder:
    """A network of which one wants to know what its neurons do."""
    return LRNNAutoencoder(
        **layers, inhibition=True, spike_penalty=1e-6, stacking="joint", fine_tune=15,
        random_state=0,
    )  # fmt: skip


def look() -> None:
    """What each layer of weights does, and what is lost without it."""
    X = load_mnist(dtype=np.float32)[:QUICK]
    model = looked_at(structures(50, 300)[0]).fit(X)
    assert model.weights_.inhibitory is not None
    pairs = list(zip(model.weights_.excitatory, model.weights_.inhibitory, strict=True))
    rates, rows, q = model.firing_rates_, [], X
    for layer, (plus, minus) in enumerate(pairs):
        excitation, inhibition = q @ plus, q @ minus
        ratio = excitation / (1 + inhibition)
        sent = [float((drive * rates[layer + 1]).sum()) for drive in (excitation, inhibition)]
        most = np.sort(plus, axis=0)[::-1].cumsum(axis=0)
        lead = np.argmax(most >= 0.9 * most[-1:], axis=0) + 1  # that give nine tenths of it
        rows.append({
            "weights": "→".join(map(str, plus.shape)),
            "spikes": model.layer_spike_costs_[layer],
            "inhibitory": sent[1] / sum(sent),
            "saturated": float((ratio >= 1).mean()),
            "neurons that excite one": float(np.median(lead[most[-1] > 0])),
            "error without saturation": _error(X, pairs, unsaturated=layer),
            "error without inhibition": _error(X, pairs, uninhibited=layer),
        })  # fmt: skip
        q = np.minimum(ratio, 1)
    whole = {"error": model.reconstruction_err_, "spikes": model.spike_cost_}
    report("depth_look", "What layers do (784→300→50, 10⁻⁶ a spike)", [*rows, whole])


def _error(X: Any, pairs: Any, unsaturated: int = -1, uninhibited: int = -1) -> float:
    """With one layer that does not saturate, or whose neurons are always divided by the same."""
    q = X
    for layer, (plus, minus) in enumerate(pairs):
        excitation, divisor = q @ plus, 1 + q @ minus
        if layer == uninhibited:
            all_of_it = np.maximum(excitation.sum(axis=0), np.finfo(np.float32).tiny)
            divisor = np.maximum((excitation * divisor).sum(axis=0) / all_of_it, 1)
        ratio = excitation / divisor
        q = ratio if layer == unsaturated else np.minimum(ratio, 1)
    return float(((np.minimum(q, 1) - X) ** 2).mean())


def draw(path: Path) -> None:
    """Frontiers of MNIST with a code of 50 neurons, as they were measured on a GPU."""
    figure = Figure(figsize=(5.8, 4.0), dpi=150, layout="constrained")
    ax = figure.add_subplot()
    shallow = [r for r in known("inhibition_cuda") if r["what"].startswith("784→50, a spike costs")]
    deep = [r for r in known("depth_cuda") if r.get("penalty") and r["what"] in DRAWN]
    lines = {"784→50": shallow}
    for r in deep:
        lines.setdefault(r["what"], []).append(r)
    for number, (name, rows) in enumerate(lines.items()):
        colour = COLOURS[number]
        for part, style in (("train", "o-"), ("test", ":")):
            ax.plot(
                [r["spikes"] for r in rows], [r[part] for r in rows], style, color=colour,
                markersize=3, linewidth=1.2, label=name if part == "train" else None,
            )  # fmt: skip
    plain_one = next(r for r in known("inhibition_cuda") if r["what"] == "784→50, excitatory")
    ax.plot([plain_one["spikes"]], [plain_one["train"]], "D", color=COLOURS[5], markersize=5,
            label="784→50, excitatory")  # fmt: skip
    svd = next(r["svd"] for r in known("depth_cuda") if r["what"] == f"{DRAWN[0]}, all of it")
    papers = DATA_SETS["mnist"].errors["50"]
    assert papers is not None
    logarithmic(ax, "x")
    levels(ax, {"no linear map is below": svd, "Yin & Gelenbe 2016": papers}, side="right")
    key(ax)
    plain(ax, "spikes per unit time", "mean squared error (dotted: on test images)")
    figure.savefig(path)


def thirty_codes(device: str | None) -> list[LRNNAutoencoder]:
    """Networks of the task that began deep learning: dear spikes, cheap ones, free ones."""
    both, behind = structures(30, *SCIENCE)
    plans = ((behind, 1.5e-8, 40), (behind, 1e-10, 40), (both, 0.0, 60))
    return [
        LRNNAutoencoder(
            **layers, inhibition=True, spike_penalty=price, stacking="joint", fine_tune=passes,
            random_state=0, device=device,
        ).fit(load_mnist(dtype=None))
        for layers, price, passes in plans
    ]  # fmt: skip


def show(path: Path, networks: list[Path], device: str | None) -> None:
    """Ten test images, their principal components, and what each network makes of them."""
    train, test = load_mnist(dtype=np.float32), load_mnist("test", dtype=np.float32)
    models = [lrnn.load(one) for one in networks] or thirty_codes(device)
    codes = models[0].components_.shape[0]
    pca = PCA(codes, random_state=0).fit(train)
    chosen = test[:10]
    lines = {"test images": (chosen, test)}
    lines[f"{codes} principal components"] = tuple(
        pca.inverse_transform(pca.transform(rows)) for rows in (chosen, test)
    )
    for model in models:
        spikes = written_out(float(f"{model.spike_cost_:.2g}"))
        name = f"{spikes} spikes" if model.spike_penalty else "spikes are free"
        lines[name] = tuple(model.reconstruct(rows) for rows in (chosen, test))
    figure = Figure(figsize=(5.8, 0.52 * len(lines)), dpi=150, layout="constrained")
    ax = figure.add_subplot()
    images = np.concatenate([np.clip(few, 0, 1) for few, _ in lines.values()])
    image_grid(images, (28, 28), columns=len(chosen), own_scale=False, ax=ax)
    height = np.asarray(ax.get_images()[0].get_array()).shape[0] / len(lines)
    for number, (name, (_, rows)) in enumerate(lines.items()):
        error = f"\n{((rows - test) ** 2).sum(axis=1).mean():.2f}" if number else ""
        ax.text(-4, (number + 0.5) * height, name + error, ha="right", va="center", fontsize=7)
    figure.savefig(path)


def show_parts(path: Path, networks: list[Path]) -> None:
    """Each line a code neuron: what it makes alone, faint and strong, and the neurons behind it.

    Behind it are those that it excites most of all, the strongest first: what they excite (dark),
    less what they inhibit (white).
    """
    if networks:
        model = lrnn.load(networks[0])
    else:
        model = looked_at(structures(50, 300)[1]).fit(load_mnist(dtype=np.float32)[:QUICK])
    weights = model.weights_
    assert weights.inhibitory is not None
    inhibitory = weights.inhibitory[len(weights.encoders) :]
    first, *_, last = zip(weights.decoders, inhibitory, strict=True)
    own = first[0].argmax(axis=0)
    drive = (first[0] * (last[0] + last[1]).sum(axis=1)).sum(axis=1)
    lines = []
    for code in np.argsort(-drive)[: 3 * LINES : 3]:
        excites = np.where(own == code, first[0][code] * last[0].sum(axis=1), 0)
        behind = [n for n in np.argsort(-excites) if excites[n] > 1e-3 * excites.max()]
        alone = np.zeros((len(FAINT), first[0].shape[0]))
        alone[:, code] = FAINT
        for plus, minus in zip(weights.decoders, inhibitory, strict=True):
            alone = np.minimum(alone @ plus / (1 + alone @ minus), 1)
        shapes = np.zeros((BEHIND, last[0].shape[1]))
        found = np.maximum((last[0] - last[1])[behind[:BEHIND]], 0)
        shapes[: len(found)] = found / found.max(axis=1, keepdims=True)
        lines.append(np.concatenate([alone, shapes]))
    figure = Figure(figsize=(5.8, 0.5 * LINES), dpi=150, layout="constrained")
    image_grid(np.concatenate(lines), (28, 28), columns=len(FAINT) + BEHIND, own_scale=False,
               ax=figure.add_subplot())  # fmt: skip
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default=None)
    parser.add_argument("--passes", type=int, default=None, help="at each penalty, on each way")
    parser.add_argument("--output", type=Path, default=None, help="folder for the networks")
    parser.add_argument("--what", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--look", action="store_true", help="what the layers of a network do")
    parser.add_argument("--draw", type=Path, default=None, help="only the plot of what is known")
    parser.add_argument("--show", type=Path, default=None, help="only the plot of test images")
    parser.add_argument("--parts", type=Path, default=None, help="only the plot of neurons")
    parser.add_argument(
        "--networks", type=Path, nargs="+", default=(), help="for --show and --parts"
    )
    wanted = parser.parse_args()
    if wanted.show is not None:
        return show(wanted.show, wanted.networks, wanted.device)
    if wanted.parts is not None:
        return show_parts(wanted.parts, wanted.networks)
    if wanted.draw is not None or wanted.look:
        return look() if wanted.look else draw(wanted.draw)
    name = f"depth_{wanted.device or 'cpu'}"
    for what, layers in ((w, one) for w in wanted.what for one in GROUPS[w][0]):
        settings = {"device": wanted.device, "passes": wanted.passes}
        if what == "free":
            new = free(layers, wanted.output, **settings)
        else:
            new = frontier(what, layers, wanted.output, **settings)
        measured = {row["what"] for row in new}
        rows = [row for row in known(name) if row["what"] not in measured]
        report(name, "Error against spikes of deep networks", [*rows, *new])


if __name__ == "__main__":
    main()
