"""What README.md and docs/ tell one to type is run.

A block that is not run says why, in a comment before it that readers do not see:
``<!-- not run: needs a GPU -->``.
"""

import ast
import importlib
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from lrnn import LRNNAutoencoder, load
from lrnn.cli.app import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*DOCS.glob("*.md"), *DOCS.glob("results/*.md"), *DOCS.glob("tutorials/*.md")]
NOTEBOOKS = {page for page in PAGES if page.read_text(encoding="utf-8").startswith("---")}
FILES = [ROOT / "README.md", *sorted(set(PAGES) - NOTEBOOKS)]  # tests/test_site.py runs notebooks
TOO_LONG = ("lrnn frontier",)  # of README's commands; what runs, takes seconds


@dataclass(frozen=True)
class Block:
    """Code of a Markdown file."""

    file: Path
    line: int
    language: str
    code: str
    not_run: str | None  # the reason

    def __str__(self):
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def blocks(file):
    """Fenced blocks; each must name its language."""
    found, before, start, language = [], "", None, ""
    lines = file.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("```") and start is None:
            start, language = number, line[3:].strip()
        elif line.startswith("```"):
            comment = re.fullmatch(r"<!-- not run:(.*)-->", before.strip())
            reason = comment[1].strip() if comment else None
            code = "\n".join(lines[start : number - 1])
            found.append(Block(file, start, language, code, reason))
            before, start = "", None
        elif start is None and line.strip():
            before = line
    assert start is None, f"{file}: the block from line {start} on has no end"
    return found


BLOCKS = {file: blocks(file) for file in FILES}


def in_language(language):
    return [b for found in BLOCKS.values() for b in found if b.language == language]


def commands(block):
    """What a shell block does with ``lrnn``, without comments; … stands for arguments."""
    for line in block.code.splitlines():
        for part in line.partition("#")[0].split("&&"):
            words = [word for word in shlex.split(part) if word != "…"]
            if words[:1] == ["lrnn"]:
                yield words


@pytest.mark.parametrize(
    "file",
    [f for f in FILES if any(b.language == "python" for b in BLOCKS[f])],
    ids=lambda f: f.name,
)
def test_python_blocks_run_one_after_the_other(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "documentation"}
    for block in BLOCKS[file]:
        if block.language == "python" and block.not_run is None:
            run(block, names)
    plt.close("all")  # what they have drawn


def run(block, names):
    """Run code, and hold what it tells in comments of its results against these."""
    for node in ast.parse("\n" * block.line + block.code).body:
        if (told := told_result(block, node)) is None:
            exec(compile(ast.Module([node], []), str(block.file), "exec"), names)
        else:
            value = eval(compile(ast.Expression(node.value), str(block.file), "eval"), names)
            place = f"{block.file.name}:{node.end_lineno}: {value!r}, not {told}"
            assert agree(value, told), place


def told_result(block, node):
    """What a comment beside an expression says that its value is: alone, or before a colon."""
    if not isinstance(node, ast.Expr):
        return None
    line = block.code.splitlines()[node.end_lineno - block.line - 1]
    comment = line.encode()[node.end_col_offset :].decode().partition("#")[2].strip()
    for end in (len(comment), *(match.start() for match in re.finditer(": ", comment))):
        told = comment[:end]
        if re.fullmatch(r"[A-Z]\w*\(.*\)", told) or is_literal(told):
            return told
    return None


def is_literal(text):
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def agree(value, told):
    """Whether a value is what is told; what has decimals may be off by one in the last of them."""
    if not is_literal(told):
        return repr(value) == told
    wanted, decimals = ast.literal_eval(told), re.findall(r"\.(\d+)", told)
    if not decimals:
        return np.array_equal(value, wanted)
    step = 10.0 ** -max(map(len, decimals))
    return np.allclose(value, wanted, rtol=0, atol=1.001 * step)


def test_results_that_are_told_are_compared():
    told = {
        str(block): [t for node in ast.parse("\n" * block.line + block.code).body
                     if (t := told_result(block, node)) is not None]
        for block in in_language("python")
    }  # fmt: skip
    found = [t for block, results in told.items() if "time.md" in block for t in results]
    assert found[:2] == ["[True, True, True]", "68"]
    assert sum(map(len, told.values())) >= 12
    assert agree(np.array([1, 2]), "[1, 2]")
    assert not agree(np.array([1, 2]), "[1, 3]")
    assert agree({"a": 2}, "{'a': 2}")
    assert agree(0.148, "0.2")
    assert not agree(0.148, "0.3")


@pytest.mark.parametrize("block", in_language("python"), ids=str)
def test_python_blocks_are_python_and_say_why_they_are_not_run(block):
    compile(block.code, str(block), "exec")
    assert block.not_run != ""


def test_blocks_say_what_they_are():
    languages = {block.language for found in BLOCKS.values() for block in found}
    ours = {"python", "sh", "text"}
    assert languages <= ours | {"{toctree}", "{raw} html", "{include} ../CHANGELOG.md"}
    assert any(block.not_run is None for block in in_language("python"))


@pytest.mark.parametrize("block", in_language("sh"), ids=str)
def test_commands_and_their_options_exist(block):
    for words in commands(block):
        done = CliRunner().invoke(app, [*words[1:], "--help"])
        assert done.exit_code == 0, f"{block}: {shlex.join(words)}\n{done.output}"


def test_commands_of_the_readme_run(call, tmp_path):
    """The first in a process of its own, the others in this one; with fewer events."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    first = text[: text.index("## From the command line")].count("\n")
    block = next(b for b in in_language("sh") if b.file == ROOT / "README.md" and b.line > first)
    ran = 0
    for words in commands(block):
        command = shlex.join(words)
        if command.startswith(TOO_LONG):
            continue
        if words[1] == "export":
            pytest.importorskip("onnx", reason="pip install 'lrnn[onnx]'")
        words = ["1e6" if word == "1e8" else word for word in words]
        if ran:
            done = call(*words[1:], cwd=tmp_path)
        else:
            words = [sys.executable, "-m", *words]
            done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        ran += 1
    assert ran >= 5
    model, own = load(tmp_path / "wine.safetensors"), LRNNAutoencoder(7, scale="minmax")
    assert model.n_features_in_ == 13  # its class is no attribute
    own.fit(load_wine().data)
    assert model.reconstruction_err_ == pytest.approx(own.reconstruction_err_, rel=1e-3)


def test_the_readme_counts_verdicts_as_the_results_do():
    text = (DOCS / "results" / "README.md").read_text(encoding="utf-8")
    lines = text[text.index("**Claims of the paper") :].splitlines()
    table = takewhile(lambda line: line.startswith("|"), lines[4:])
    found = Counter(line.split("|")[3].strip() for line in table)
    words = {"bounded": "within limits", "literature": "on others' work"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    line = next(line for line in readme.splitlines() if line.startswith("| claims of the paper"))
    assert f"| {found.total()} |" in line
    for verdict, count in found.items():
        assert f"{count} {words.get(verdict, verdict)}" in line


def test_measured_tables_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tables = importlib.import_module("measured_tables")
    marks = {name for page in PAGES for name in re.findall(r"measured: (\w+)", page.read_text())}
    assert marks == set(tables.TABLES)
    assert not tables.stale(), "python benchmarks/measured_tables.py renews them"
    page = (DOCS / "live.md").read_text(encoding="utf-8")
    line = tables.MARK.search(page)[0].splitlines()[-1]
    assert tables.renewed(page.replace(line, "| by hand |" + " |" * 6)) == page


def test_every_picture_is_shown_and_can_be_drawn_anew(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "images"))
    pictures = importlib.import_module("pictures")
    known = {**pictures.COMMANDS, **pictures.MEASURED, **pictures.FUNCTIONS}
    there = {path.name for path in (DOCS / "images").iterdir() if path.suffix in (".png", ".gif")}
    assert there == set(known)
    pages = "".join(page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "README.md"])
    assert all(f"images/{name}" in pages for name in there)
    for command in (pictures.COMMANDS | pictures.MEASURED).values():
        assert (ROOT / command.split()[0]).exists(), command


def anchors(file):
    """Of a page's headings, as repository browsers and the site make them."""
    lines = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL).splitlines()
    titles = [line.lstrip("#").strip() for line in lines if re.match("#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("file", [ROOT / "README.md", *sorted(PAGES)], ids=lambda f: f.name)
def test_links_lead_somewhere(file):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http://", "https://")):
            continue
        place, _, anchor = link.partition("#")
        target = file.parent / place if place else file
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target), link
