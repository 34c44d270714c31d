"""The documentation site, built as readers build it: pytest -m docs."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import lrnn

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = ("_build", "gallery", "generated", "commands", "jupyter_execute", "__pycache__")
REFERENCE = "\n".join(f.read_text(encoding="utf-8") for f in DOCS.glob("reference/*.rst"))


class Page(HTMLParser):
    """Where a page leads to, and what can be led to in it."""

    def __init__(self, file):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.anchors.add(value)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """All of it, examples and notebooks run anew."""
    for package in ("sphinx", "furo", "myst_nb", "sphinx_gallery", "sphinx_design", "numpydoc"):
        pytest.importorskip(package, reason="pip install 'lrnn[docs]'")
    folder = tmp_path_factory.mktemp("site")
    for part in ("docs", "examples"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns(*MADE))
    shutil.copy(ROOT / "CHANGELOG.md", folder)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src")}
    environment.pop("LRNN_DATA_DIR", None)  # data that everyone has
    made = folder / "docs" / "_build"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", folder / "docs", made],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return made


@pytest.mark.docs
def test_every_link_of_the_site_leads_somewhere(site):
    pages = {file: Page(file) for file in site.rglob("*.html")}
    assert len(pages) > 150
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert parts.scheme in ("https", "data", "mailto"), f"{file}: {link}"
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert target.exists(), f"{file}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{file}: {link}"


@pytest.mark.docs
def test_pages_fetch_nothing_from_elsewhere(site):
    fetched = re.compile(r'(?:src|<link[^>]*href)="(?:https?:)?//[^"]*"')
    for file in site.rglob("*.html"):
        found = fetched.findall(file.read_text(encoding="utf-8"))
        assert not found, f"{file}: {found[0]}"


@pytest.mark.docs
def test_the_site_can_be_searched_from_disk(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")  # a script, which browsers load from files, too
    assert "lrnn.frontier" in index


@pytest.mark.docs
def test_every_command_has_a_page(site):
    from lrnn.cli.app import COMMANDS

    for command in COMMANDS:
        page = site / "reference" / "commands" / f"{command.__name__}.html"
        assert "--help" in page.read_text(encoding="utf-8"), page


def public_names():
    """As one writes them."""
    for name in lrnn.__all__:
        thing = getattr(lrnn, name)
        if not inspect.ismodule(thing):
            yield f"lrnn.{name}"
            continue
        own = [n for n, value in vars(thing).items() if _is_own(thing, n, value)]
        yield from (f"lrnn.{name}.{inner}" for inner in getattr(thing, "__all__", own))


def _is_own(module, name, value):
    return not name.startswith("_") and getattr(value, "__module__", None) == module.__name__


@pytest.mark.parametrize("name", sorted(public_names()))
def test_every_public_name_is_in_the_reference(name):
    assert re.search(rf"^   {re.escape(name)}$", REFERENCE, flags=re.MULTILINE)
