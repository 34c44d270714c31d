"""The demo's network in a page of the site that runs it: ``live-digits.html``."""

from pathlib import Path

from lrnn.cli.demo import demo_page, train
from lrnn.cli.voice import Voice
from lrnn.datasets import load


def write_page(app, error):
    """Train the demo's networks, and write the page beside the others."""
    if error is None and app.builder.format == "html":
        models = train(
            load("digits").data, hidden=16, seed=0, voice=Voice(quiet=True, as_json=False)
        )
        demo_page(models, seed=0).save(Path(app.outdir) / "live-digits.html")


def setup(app):
    """Register with Sphinx."""
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True}
