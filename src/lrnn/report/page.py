"""The report as a page: one file that needs nothing else."""

import base64
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lrnn.report import content as of_autoencoders
from lrnn.report import detection as of_detectors
from lrnn.report import recognition as of_classifiers
from lrnn.report.content import Section
from lrnn.report.subject import Subject
from lrnn.tables.atomic import write_atomically
from lrnn.tables.marks import mark


def write_report(
    subject: Subject,
    folder: str | PathLike[str],
    progress: Callable[[float], None] = lambda done: None,
) -> Path:
    """Write ``index.html`` into a folder, and return its path.

    ``progress`` is told how many sections (`sections_of`) are complete.
    """
    content: dict[str, Any] = {}
    for make in sections_of(subject):
        content[make.__name__] = make(subject)
        progress(len(content))
    model, audit = subject.model, subject.audit
    sizes = model.weights_.sizes
    content |= {
        "subject": subject,
        "model": model,
        "audit": audit,
        "standing": audit.standing,
        "valid": audit.valid,
        "classifies": subject.classifies,
        "inhibits": model.weights_.inhibitory is not None,
        "unit": getattr(model, "rates", "free") == "unit",
        "sizes": sizes if subject.classifies else sizes[: len(model.weights_.encoders) + 1],
    }
    page = Path(folder) / "index.html"
    template = "classifier.html" if subject.classifies else "autoencoder.html"
    template = template if subject.findings is None else "detector.html"
    write_atomically(page, render(template, content).encode())
    return page


def sections_of(subject: Subject) -> tuple[Section, ...]:
    """What the page of such a model shows."""
    if subject.findings is not None:
        return of_detectors.SECTIONS
    return of_classifiers.SECTIONS if subject.classifies else of_autoencoders.SECTIONS


def render(template: str, content: dict[str, Any], package: str = "lrnn.report") -> str:
    """The markup of a page whose template is in a package; what all pages share is in this one.

    All text in it is escaped, but for our own figures, style and script; ``content`` may bring
    others than those of the report.
    """
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("lrnn.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shared = {"style": Markup(asset("style.css")), "script": Markup(asset("script.js"))}
    content = shared | content
    digest = base64.b64encode(hashlib.sha256(content["script"].encode()).digest()).decode()
    page = environment.get_template(template).render(
        generator=mark(),
        date=datetime.now(UTC).date().isoformat(),
        script_digest=digest,
        **content,
    )
    return page.encode(errors="backslashreplace").decode()  # names of files need not be UTF-8


def asset(name: str, package: str = "lrnn.report") -> str:
    """A file beside the templates of a package."""
    return (files(package) / "templates" / name).read_text(encoding="utf-8")
