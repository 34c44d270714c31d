"""Pictures that a page can hold in itself: images as PNG, figures as SVG."""

import base64
import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from lrnn.arrays import Floats
from lrnn.plots.images import as_images

INK = 0.2  # data whose median is below: images of something dark on white paper


def is_ink(values: Floats) -> bool:
    """Whether 1 is to be black: most of the picture is background."""
    return bool(np.median(values) < INK)


def image(values: Floats, shape: tuple[int, ...], ink: bool) -> str:
    """Values in [0, 1] as an image, pixel for pixel, in a data address."""
    return png(as_images(np.atleast_2d(values), shape)[0], ink)


def square(values: Floats, ink: bool) -> str:
    """Activations of a layer whose neurons have no places of their own, as square as can be."""
    width = max(1, int(np.ceil(np.sqrt(len(values)))))
    height = -(-len(values) // width)
    canvas = np.full(height * width, 0.0 if ink else 1.0)
    canvas[: len(values)] = values
    return png(canvas.reshape(height, width), ink)


def pair(above: Floats, below: Floats, shape: tuple[int, ...], ink: bool) -> str:
    """Two images on top of each other."""
    both = as_images(np.stack([above, below]), shape)
    line = np.full((1, *both.shape[2:]), 0.0 if ink else 1.0)
    return png(np.concatenate([both[0], line, both[1]]), ink)


def png(pixels: Floats, ink: bool) -> str:
    """Pixels (height × width, or × 3) as a data address."""
    values = np.clip(np.nan_to_num(pixels), 0, 1)
    if ink and values.ndim == 2:
        values = 1 - values
    content = io.BytesIO()
    Image.fromarray(np.round(255 * values).astype(np.uint8)).save(content, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()


def figure(
    draw: Callable[[Axes], Any], name: str, label: str, size: tuple[float, float] = (4.4, 2.9)
) -> Markup:
    """What ``draw`` draws, as markup whose black is the colour of the text around it.

    ``name`` is unique on the page; ``label`` is what those hear who cannot see it.
    """
    canvas = Figure(figsize=size, layout="constrained")
    draw(canvas.subplots())
    return markup(canvas, name, label)


def markup(figure: Figure, name: str, label: str) -> Markup:
    """A figure as such markup."""
    content = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(content, format="svg", transparent=True, metadata={"Date": None})
    return Markup(_adapted(content.getvalue(), label))


def _adapted(svg: str, label: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # the same in all figures
    for side in ("width", "height"):
        svg = re.sub(rf'(<svg [^>]*?)\s{side}="[^"]*"', r"\1", svg)
    svg = svg.replace("#000000", "currentColor").replace("#4c4c4c", "currentColor")
    title = Markup.escape(label)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
