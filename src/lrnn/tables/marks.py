"""What lrnn has made says so, such that it may be made again without a question."""

import json
from pathlib import Path
from typing import Any

import lrnn

MARKS = {  # before the version, in pages and pictures
    ".html": b'<meta name="generator" content="lrnn ',
    ".png": b"Software\0lrnn ",
    ".svg": b"<dc:title>lrnn ",
    ".pdf": b"/Creator (lrnn ",
}


def mark() -> str:
    """By what pages and pictures were made."""
    return f"lrnn {lrnn.__version__}"


def figure_metadata(kind: str) -> dict[str, Any]:
    """The mark as Matplotlib writes it into a figure of this kind."""
    if kind == "svg":
        return {"Creator": mark(), "Date": None}
    return {"Software" if kind == "png" else "Creator": mark()}


def is_marked(path: Path) -> bool:
    """Whether a file is a page or a picture that lrnn has made."""
    known = MARKS.get(path.suffix.lower())
    return known is not None and path.is_file() and known in path.read_bytes()


def read_json(path: Path) -> dict[str, Any]:
    """The document in a file; an empty one if there is none."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
