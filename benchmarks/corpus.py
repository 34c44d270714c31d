"""Sparse text to measure with: three real corpora that Debian ships, and synthetic documents.

    python benchmarks/corpus.py FOLDER [--pages 20000]

Writes FOLDER/manual.npz: the manual pages of /usr/share/man (sections 1 to 8, English) that have 40
words or more, as plain text: requests and comments of roff are left out, fonts, sizes and
special characters are stripped, the words that stay are those of the text and of the headings.
Terms occur in three pages or more; they are weighted by tf-idf, rows have length 1, in float32. The
corpus differs from one machine to the next, so all that are compared must be measured on the same.

Writes FOLDER/python.npz: the documentation of Python (the HTML pages of Debian's python3-doc,
without indexes and the log of changes), a row for each section and for each function, class or
method that is described in it, of 20 words or more.

Writes FOLDER/bible.npz: the King James Bible (Debian's bible-kjv), a row for each of its 31,102
verses. Both have terms as above. A corpus whose package is not there is left out, and named.

Writes FOLDER/synthetic.npz: 200,000 documents of 50,000 terms, which no machine differs in: 50
topics of 2,000 terms each whose frequencies fall as Zipf's law says, documents of some 50 words of
which two topics have 85 %, all terms the rest; tf-idf and length 1 as above.
"""

import argparse
import ast
import gzip
import re
import shutil
import subprocess
import sysconfig
import warnings
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

from common import console

MANUAL = Path("/usr/share/man")
PYTHON = Path("/usr/share/doc")  # /python3.*/html
NOT_TEXT = ("genindex", "_", "whatsnew/changelog", "py-modindex", "contents", "search")
VERSES = "gen1:1-rev22:21"
FEWEST_WORDS = 40
FEWEST_WORDS_OF_SECTIONS = 20
SILENT = re.compile(r"^[.'](\\|de|ds|nr|if|ie|el|TH|Dd|Dt|Os|tr|so|ig|am|rr|in|ll|ad|hy|ta|ft)\b")
ESCAPES = (
    (re.compile(r"\\f(\[[^\]]*\]|\(..|.)"), ""),  # fonts
    (re.compile(r"\\s[-+]?\d"), ""),  # sizes
    (re.compile(r"\\-"), "-"),
    (re.compile(r"\\[*n]?(\[[^\]]*\]|\(..)"), " "),  # characters and strings by their names
    (re.compile(r"\\."), " "),
)
TOPICS, TOPIC_TERMS, WORDS = 50, 2_000, 50


NODES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)  # with docstrings


def plain(page: str) -> str:
    """The text of a manual page, without what sets it."""
    lines = []
    for line in page.split("\n"):
        if SILENT.match(line) or line.startswith(('.\\"', "'\\\"")):
            continue
        if line.startswith((".", "'")):
            line = line.partition(" ")[2]
        lines.append(line)
    text = "\n".join(lines)
    for escape, instead in ESCAPES:
        text = escape.sub(instead, text)
    return text


def pages() -> Iterator[str]:
    """Texts of all manual pages, in the order of their names."""
    for path in sorted(MANUAL.glob("man[1-8]/*.gz")):
        if path.is_symlink():
            continue
        text = plain(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
        if len(text.split()) >= FEWEST_WORDS:
            yield text


class Sections(HTMLParser):
    """Texts of a page's sections, and of what is described in them, each without those inside."""

    SILENT = ("script", "style", "head", "nav")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = [""]
        self._silent = 0
        self._inside = False  # of the text of a page, which is one section with others in it
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin another text where a section or a description begins."""
        kinds = (dict(attrs).get("class") or "").split()
        self._silent += tag in self.SILENT
        if tag == "section" or (tag == "dt" and "sig" in kinds):
            self._inside = True
            self.texts.append("")
        if "sphinxsidebar" in kinds or "footer" in kinds:
            self._inside = False

    def handle_endtag(self, tag: str) -> None:
        """Hear again what follows scripts and the like."""
        self._silent -= tag in self.SILENT

    def handle_data(self, data: str) -> None:
        """Take text in."""
        if self._inside and not self._silent:
            self.texts[-1] += data


def sections() -> Iterator[str]:
    """Sections of Python's documentation, in the order of the pages' names."""
    for root in sorted(PYTHON.glob("python3.*/html"))[-1:]:
        for path in sorted(root.rglob("*.html")):
            if path.is_symlink() or str(path.relative_to(root)).startswith(NOT_TEXT):
                continue
            for text in Sections(path.read_text(encoding="utf-8")).texts:
                if len(text.split()) >= FEWEST_WORDS_OF_SECTIONS:
                    yield text


def verses() -> Iterator[str]:
    """Verses of the King James Bible, without their numbers."""
    if shutil.which("bible") is None:
        return
    command = ["bible", "-f", VERSES]
    printed = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    for line in printed.stdout.decode("utf-8", "replace").splitlines():
        yield line.partition(" ")[2]


def docstrings() -> Iterator[str]:
    """Docstrings of the standard library and of all packages that are installed, in order."""
    for folder in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for path in sorted(Path(folder).rglob("*.py")):
            if folder == sysconfig.get_path("stdlib") and "site-packages" in path.parts:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError, ValueError):
                continue
            for node in ast.walk(tree):
                text = ast.get_docstring(node) if isinstance(node, NODES) else None
                if text and len(text.split()) >= 20:
                    yield text


def weighted(texts: list[str]) -> sparse.csr_array:
    """Texts as rows of terms."""
    pattern = r"(?u)\b[a-zA-Z][a-zA-Z]+\b"
    words = TfidfVectorizer(min_df=3, stop_words="english", token_pattern=pattern, dtype=np.float32)
    return sparse.csr_array(words.fit_transform(texts))


def shuffled(texts: Iterator[str], limit: int | None = None) -> list[str]:
    """Different texts in random order, at most so many."""
    different = list(dict.fromkeys(texts))
    order = np.random.default_rng(0).permutation(len(different))
    return [different[i] for i in order[:limit]]


def synthetic(rows: int, terms: int, seed: int = 0, words: int = WORDS) -> sparse.csr_array:
    """Documents of two topics each."""
    rng = np.random.default_rng(seed)
    own = min(TOPIC_TERMS, terms)
    of_topic = np.stack([rng.choice(terms, own, replace=False) for _ in range(TOPICS)])
    shares = np.cumsum(1 / np.arange(1, own + 1))
    everywhere = np.cumsum(1 / np.arange(1, terms + 1))
    counts = rng.poisson(words, rows).clip(min=3)
    total = int(counts.sum())
    document = np.repeat(np.arange(rows), counts)
    topic = rng.integers(0, TOPICS, (rows, 2))
    topic = np.where(rng.random(total) < 0.7, topic[document, 0], topic[document, 1])
    place = np.searchsorted(shares, rng.random(total) * shares[-1])
    term = of_topic[topic, place]
    other = rng.random(total) < 0.15
    anywhere = rng.permutation(terms)
    place = np.searchsorted(everywhere, rng.random(int(other.sum())) * everywhere[-1])
    term[other] = anywhere[place]
    ones = np.ones(total, dtype=np.float32)
    found = sparse.csr_array((ones, (document, term)), shape=(rows, terms))
    found.sum_duplicates()
    return sparse.csr_array(TfidfTransformer().fit_transform(found).astype(np.float32))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=20_000, help="at most so many pages")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    real = {
        "manual": (pages, given.pages, "man-db and manpages"),
        "python": (sections, None, "python3-doc"),
        "bible": (verses, None, "bible-kjv"),
    }
    for name, (read, limit, package) in real.items():
        texts = shuffled(read(), limit)
        if texts:
            write(given.folder / f"{name}.npz", weighted(texts))
        else:
            console.print(f"{name}: there is no such text here; on Debian install {package}")
    write(given.folder / "synthetic.npz", synthetic(200_000, 50_000))


def write(path: Path, X: sparse.csr_array) -> None:
    """Write a matrix, and tell what it is."""
    sparse.save_npz(path, X, compressed=False)
    console.print(f"{path}: {X.shape[0]:,} rows × {X.shape[1]:,} terms, {X.nnz:,} nonzeros")


if __name__ == "__main__":
    main()
