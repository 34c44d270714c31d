"""What a release says of itself, in several places, is the same everywhere."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

import lrnn

ROOT = Path(__file__).parents[1]
REFERENCE = {"type", "title", "authors"}  # what the format wants of each


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def sections():
    """Versions and days of the changelog, the newest first."""
    return re.findall(r"^## \[(\d\S*)\] - (\d{4}-\d\d-\d\d)$", text("CHANGELOG.md"), re.MULTILINE)


def citation():
    yaml = pytest.importorskip("yaml", reason="pip install pyyaml")
    return yaml.safe_load(text("CITATION.cff"))


def test_the_version_stands_in_one_place_of_the_package():
    project = tomllib.loads(text("pyproject.toml"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/lrnn/__init__.py"
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", lrnn.__version__)


def test_the_changelog_tells_of_this_version():
    """A version under development is told of as unreleased, and follows the newest release."""
    assert "\n## [Unreleased]\n" in text("CHANGELOG.md")
    versions = [version for version, _ in sections()]
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    assert numbers == sorted(set(numbers), reverse=True)
    released, dot, _ = lrnn.__version__.partition(".dev")
    own = tuple(map(int, released.split(".")))
    assert own > numbers[0] if dot else own == numbers[0]


def test_the_citation_is_of_the_newest_release():
    told = citation()
    assert (told["version"], told["date-released"]) == sections()[0]
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert told["license"] == project["license"]
    assert sorted(told["keywords"]) == sorted(project["keywords"])
    assert [author["name"] for author in told["authors"]] == [a["name"] for a in project["authors"]]


def test_the_citation_is_what_its_format_wants():
    told = citation()
    assert told["cff-version"] == "1.2.0"
    assert told["type"] == "software"
    assert {"message", "title", "authors"} <= told.keys()
    (paper,) = told["references"]
    assert paper.keys() >= REFERENCE
    assert [a["family-names"] for a in paper["authors"]] == ["Yin", "Gelenbe"]
    assert paper["year"] == 2016


def test_types_are_shipped():
    assert files("lrnn").joinpath("py.typed").is_file()


def test_pages_beside_the_readme_point_to_what_is_there():
    for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "README.md"):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text(name).replace("\n", " ")):
            assert link.startswith("https://") or (ROOT / link).exists(), f"{name}: {link}"
