"""The live page: one file with the networks, the script that runs them, and nothing to fetch."""

import json
import re
import tempfile
import webbrowser
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from markupsafe import Markup

from lrnn.live.packing import Scene, rows_of
from lrnn.report.page import asset, render
from lrnn.tables.atomic import write_atomically
from lrnn.tables.messages import warn

SCRIPTS = (  # each needs only those before it
    "random", "alias", "engine", "runner", "forward", "drawing", "layers", "plot", "tour", "page",
    "main",
)  # fmt: skip
IMPORT = re.compile(r"^import\b.*?;\n", re.DOTALL | re.MULTILINE)
EXPORT = re.compile(r"^export ", re.MULTILINE)
TALL = 900  # pixels of a notebook


@dataclass(frozen=True)
class LivePage:
    """A page that runs networks, which a notebook shows.

    Attributes
    ----------
    html : str
        The page.
    """

    html: str = field(repr=False)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write it to a file, as a whole or not at all.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced.

        Returns
        -------
        path : Path
            The file.
        """
        write_atomically(Path(path), self.html.encode())
        return Path(path)

    def show(self) -> Path:
        """Open it in a browser, from a file in a folder for temporary ones.

        Returns
        -------
        path : Path
            The file.
        """
        path = self.save(Path(tempfile.mkdtemp(prefix="lrnn-live-")) / "live.html")
        if not webbrowser.open(path.resolve().as_uri()):
            warn(f"there is no browser to open the page in; it is {str(path)!r}")
        return path

    def _repr_html_(self) -> str:
        frame = f'width="100%" height="{TALL}" style="border: none" title="lrnn live"'
        return f'<iframe srcdoc="{escape(self.html)}" {frame}></iframe>'


def page_of(
    model: Any, X: Any, rows: int, shape: tuple[int, ...] | None, against: Mapping[str, Any] | None
) -> LivePage:
    """The page of a model with some rows of data, as ``model.live`` gives it."""
    name = type(model).__name__
    names = getattr(model, "feature_names_in_", None)
    scene = Scene(
        {name: model, **(against or {})},
        rows_of(model, X, rows),
        name=name,
        image_shape=shape,
        attributes=None if names is None else tuple(map(str, names)),
        scaling=model.scaling_,
    )
    return LivePage(live_page(scene, title=f"{name}, live"))


def live_page(
    scene: Scene, *, title: str | None = None, report: str | None = None, tour: bool = False
) -> str:
    """The page as text.

    ``report`` is the address of the report on the model, if there is one beside it; with ``tour``
    the page begins with the tour.
    """
    content = json.dumps({**scene.packed(), "tour": tour}, allow_nan=False)
    return render(
        "live.html",
        {
            "title": title or " and ".join(scene.models),
            "report": report,
            "content": Markup(content.replace("<", "\\u003c")),
            "script": Markup(script()),
            "style": Markup(asset("style.css") + asset("live.css", "lrnn.live")),
        },
        package="lrnn.live",
    )


def script() -> str:
    """All modules as one script: browsers refuse to import modules of a page opened from a disk."""
    folder = files("lrnn.live") / "script"
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    bare = "\n".join(EXPORT.sub("", IMPORT.sub("", part)) for part in parts)
    return f'"use strict";\n{{\n{bare}}}\n'
