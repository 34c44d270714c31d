"""The report of an outlier detector: which rows are strange, and why."""

import re
from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lrnn import LRNNOutlierDetector
from lrnn.report import Findings, Subject, write_report
from lrnn.report.detection import detected, strangest
from naming import naming
from report.test_report import HOSTILE, Markup


def subject_of(model, X, **more):
    """A page on rows, as `lrnn detect` makes it."""
    told = model.explain(X)
    order = np.argsort(-told.strangeness, kind="stable")[:24]
    first = model.explain(X[order] if isinstance(X, np.ndarray) else X.iloc[order])
    first = replace(first, rows=order)
    scaled = model.scaling_.apply(X)
    network = copy(model.autoencoder_)
    vars(network).pop("feature_names_in_", None)  # rows are an array now
    network.scaling_ = model.scaling_.coding
    findings = Findings(
        model, told.strangeness, told.outliers, first, order, more.pop("names", None)
    )
    return Subject(network, scaled, command="lrnn detect …", findings=findings, **more)


@pytest.fixture(scope="module")
def of_table():
    rng = np.random.default_rng(0)
    X = rng.random((150, 1)) * [1.0, 20.0, 300.0, 4.0]
    names = ["flow", "heat", HOSTILE, "$a$"]
    frame = pd.DataFrame(X, columns=names)
    model = LRNNOutlierDetector(2, random_state=0).fit(frame)
    dirty = frame.copy()
    dirty.loc[42, HOSTILE] = 9_000.0
    called = [HOSTILE] * 24
    return subject_of(model, dirty, name=f"{HOSTILE}.csv", attributes=tuple(names), names=called)


@pytest.fixture(scope="module")
def of_digits(digits):
    X = digits[:300].copy()
    model = LRNNOutlierDetector(8, max_iter=5, random_state=0).fit(X)
    X[17] = 1.0  # all ink
    return subject_of(model, X, name="digits", image_shape=(8, 8))


def test_numbers_in_it_are_those_of_the_model(of_table, tmp_path):
    content = write_report(of_table, tmp_path).read_text(encoding="utf-8")
    page, found = Markup(content), of_table.findings
    text, model = " ".join(page.text.split()), found.detector
    count = int(found.outliers.sum())
    assert found.places[0] == 42
    shares = (100 * count / 150, 100 * model.flagged_share_)
    told = (count, "150 rows", *(f"{share:.3g} %" for share in shares), f"{-model.offset_:.4g}")
    assert re.search(naming(*told), text)
    assert f"43: {HOSTILE} {found.strangeness[42]:.3g}" in text  # as text, not as markup
    for attributes in page.all("img"):
        assert attributes["src"].startswith("data:image/png")


def test_nothing_in_it_is_markup_or_from_elsewhere(of_table, tmp_path):
    content = write_report(of_table, tmp_path).read_text(encoding="utf-8")
    page = Markup(content)
    assert HOSTILE not in content
    assert len(page.all("script")) == 1
    assert not page.all("link")[1:]
    assert not re.search(r'(src|href)="(?!data:|#)', content)


def test_the_strangest_row_is_told_first_with_its_reason(of_table):
    found = strangest(of_table)
    row = found["table"].rows[0]
    assert row[0].startswith("43: ")
    assert row[3:5] == [HOSTILE, "9000"]
    assert len(found["figures"]) == 3
    assert found["images"] is None


def test_limits_are_those_of_rows_held_out(of_table):
    model = of_table.findings.detector
    held = -model.held_out_scores_
    for share, limit, _ in detected(of_table)["levels"].rows:
        beyond = np.mean(held > float(limit) * 1.001)
        assert beyond == pytest.approx(float(share.removesuffix(" %")) / 100, abs=0.02)


def test_images_are_shown_as_such(of_digits, tmp_path):
    content = write_report(of_digits, tmp_path).read_text(encoding="utf-8")
    page = Markup(content)
    assert of_digits.findings.places[0] == 17
    pictures = strangest(of_digits)["images"]
    assert len(pictures) == 24
    assert pictures[0][1].startswith("Row 18")
    assert sum(a.get("alt", "").startswith("Row ") for a in page.all("img")) == 24
