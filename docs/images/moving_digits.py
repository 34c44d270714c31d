"""Draw moving-digits.gif: digits that come out of a network, the sharper the more it has fired.

    python docs/images/moving_digits.py [FILE]

An autoencoder of 24 code neurons learns scikit-learn's digits. Ten of them arrive as spikes, and
each frame shows how often neurons have been excited so far: what came in, the code, what came out.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits

from lrnn import LRNNAutoencoder

FILE = Path(__file__).with_name("moving-digits.gif")
HELD = 2  # seconds that the last frame stays
MOMENTS = np.unique(np.geomspace(20, 100_000, 45).astype(int))
GAP = 1  # pixels on both sides of an image


def beside(rows, shape):
    """Rows as images in a line, dark on white."""
    images = 1 - np.pad(rows.reshape(-1, *shape), ((0, 0), (0, 0), (GAP, GAP)))
    return np.concatenate(list(images), axis=1)


def frame(events, layers, numbers):
    """One picture: each layer's digits in a line, and below these what the numbers say."""
    figure = Figure(figsize=(6.4, 3.2), dpi=100, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    lines = [*zip(("in", "code", "out"), layers, strict=True), ("numeric", numbers)]
    for place, (name, rows) in enumerate(lines):
        shape = (8, 8) if rows.shape[1] == 64 else (4, 6)
        ax = figure.add_axes((0.11, 0.72 - 0.215 * place - 0.02 * (place == 3), 0.88, 0.19))
        ax.imshow(beside(rows, shape), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        ax.set_axis_off()
        figure.text(0.1, 0.80 - 0.215 * place - 0.02 * (place == 3), name, ha="right", fontsize=10)
    figure.text(0.11, 0.93, f"after {events:,} events each", fontsize=11)
    canvas.draw()
    return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., 0])


def main(path=FILE):
    """Train, simulate, draw."""
    digits = load_digits()
    X = digits.data / 16
    model = LRNNAutoencoder(24, fine_tune=10, random_state=0).fit(X)
    chosen = [int(np.flatnonzero(digits.target == digit)[2]) for digit in range(10)]
    network = model.to_network()
    result = network.simulate(
        model.arrivals(X[chosen]), events=MOMENTS[-1], snapshots=MOMENTS, random_state=0
    )
    numbers = model.reconstruct(X[chosen])
    frames = []
    for events in MOMENTS:
        layers = network.split(result.at(events).activation("arrivals"))
        frames.append(frame(events, layers, numbers))
    palette = [image.quantize(16) for image in frames]
    times = [120] * (len(frames) - 1) + [1_000 * HELD]
    palette[0].save(path, save_all=True, append_images=palette[1:], duration=times, loop=0)
    print(f"{path}: {Path(path).stat().st_size / 1e3:,.0f} kB, {len(frames)} frames")


if __name__ == "__main__":
    main(*sys.argv[1:2])
