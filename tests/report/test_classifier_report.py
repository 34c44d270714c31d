"""The report of a classifier: what it recognises, where it is mistaken, and what that costs."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import minmax_scale

from lrnn import LRNNClassifier
from lrnn.report import Subject, write_report
from lrnn.report.recognition import decisions, doubtful, recognised
from lrnn.rows import some_of
from lrnn.rows.validation import check_data
from lrnn.tables.ledger import Ledger
from lrnn.tables.table import Table
from naming import naming
from report.test_report import HOSTILE, Markup


@pytest.fixture(scope="module")
def of_digits(digits):
    labels = load_digits().target
    settings = {"max_iter": 8, "spike_penalty": 0.1, "random_state": 0}
    model = LRNNClassifier(10, **settings).fit(digits, labels)
    other = LRNNClassifier(5, **settings).fit(digits, labels)
    return Subject(
        model, digits, name="digits", command="lrnn report …", image_shape=(8, 8), row=6,
        classes=tuple(map(str, labels)),
        against={"narrower": Subject(other, digits, "digits", "", classes=tuple(map(str, labels)))},
    )  # fmt: skip


@pytest.fixture(scope="module")
def of_wine():
    X = minmax_scale(load_wine().data).clip(0, 1)
    names = np.array(["barolo", HOSTILE, "barbera"])
    model = LRNNClassifier(6, max_iter=20, spike_penalty=0.1, random_state=0)
    classes = names[load_wine().target]
    attributes = (*load_wine().feature_names[:12], HOSTILE)
    left_out = Table(X, ledger=Ledger(left_out=[np.array([0, 7])]))
    rows = check_data(model.fit(X, classes), left_out, reset=False)
    return Subject(
        model, rows, name=f"{HOSTILE}.csv", command="lrnn", attributes=attributes,
        classes=classes, label=HOSTILE,
    )  # fmt: skip


READ = {}  # what was written of a subject, for writing takes a second


def read(subject, folder):
    if id(subject) not in READ:
        content = write_report(subject, folder).read_text(encoding="utf-8")
        page = Markup(content)
        READ[id(subject)] = subject, content, page, " ".join(page.text.split())
    return READ[id(subject)][1:]


def test_numbers_in_it_are_those_of_the_model(of_digits, digits, tmp_path):
    content, page, text = read(of_digits, tmp_path)
    model, labels = of_digits.model, load_digits().target
    standing = of_digits.audit.standing
    assert standing.accuracy == model.score(digits, labels)
    assert standing.loss == pytest.approx(model.loss_, rel=1e-9)
    assert standing.spikes == model.spikes_per_decision(digits)
    told = (f"{standing.accuracy:.4f}", "1,797", f"{model.loss_:.4f}", f"{standing.entropy:.4f}")
    assert re.search(naming(*told), text)
    told = recognised(of_digits)
    counts = confusion_matrix(labels, model.predict(digits))
    shown = [[0 if c == "·" else int(c) for c in line[1:]] for line in told["confusions"].rows]
    np.testing.assert_array_equal(shown, counts)
    recall = counts[3, 3] / counts[3].sum()
    assert told["classes"].rows[3][1:3] == [str(counts[3].sum()), f"{100 * recall:.1f} %"]
    other = of_digits.against["narrower"].model
    scores = (f"{other.score(digits, labels):.4f}", f"{other.loss_:.5f}")
    assert re.search(naming("narrower", *scores), text)
    share = model.predict_proba(digits[6:7]).max()
    assert re.search(naming("row 7", f"{100 * share:.1f} %"), text)
    assert len(page.all("img")) == 24 + 3 * 4  # mistakes, and layers as computed and simulated
    assert content.count("<svg") == 7


def test_mistakes_are_shown_the_surest_first(of_digits, digits):
    shown, labels = doubtful(of_digits), load_digits().target
    p = of_digits.model.predict_proba(digits)
    wrong = np.flatnonzero(p.argmax(axis=1) != labels)
    assert shown["mistakes"] == len(wrong) > 24
    own = p[np.arange(len(labels)), labels]
    numbers = [row["number"] - 1 for row in shown["rows"]]
    assert sorted(own[numbers]) == sorted(own[wrong])[:24]
    for row, i in zip(shown["rows"], numbers, strict=True):
        assert (row["true"], row["told"]) == (str(labels[i]), str(p[i].argmax()))
        assert row["mistaken"]
        assert row["image"].startswith("data:image/png")
        assert str(labels[i]) in dict(row["bars"])


def test_everything_is_inside_and_hostile_names_stay_text(of_digits, of_wine, tmp_path):
    for subject in (of_digits, of_wine):
        content, page, _ = read(subject, tmp_path)
        assert all(len(image["alt"]) > 5 for image in page.all("img"))
        assert all(len(svg["aria-label"]) > 20 for svg in page.all("svg"))
        assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', content)
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        assert {a["href"][1:] for a in page.all("a")} <= set(ids)
    assert len(page.all("script")) == 1
    assert HOSTILE not in content
    assert HOSTILE in page.text


def test_rows_of_tables_have_cards(of_wine, tmp_path):
    _, page, text = read(of_wine, tmp_path)
    shown = doubtful(of_wine)
    assert page.all("img") == []
    for row in shown["rows"]:
        assert f"row {row['number']} " in text
        assert sum(int(width) for _, width in row["bars"]) == pytest.approx(100, abs=2)
    wrong = np.flatnonzero(of_wine.model.predict(of_wine.X) != of_wine.classes)
    places = np.delete(np.arange(180), [0, 7])  # the numbers of the rows in their file
    if len(wrong):
        assert {row["number"] - 1 for row in shown["rows"]} <= set(places[wrong])


def test_without_classes_the_least_sure_rows_are_shown(of_wine, tmp_path):
    subject = Subject(of_wine.model, of_wine.X, name="wine", command="lrnn")
    _, page, _ = read(subject, tmp_path)
    sections = {section["id"] for section in page.all("section")}
    assert "doubtful" in sections
    assert "recognised" not in sections
    places = np.delete(np.arange(180), [0, 7])  # the numbers of the rows in their file
    numbers = [row["number"] - 1 for row in doubtful(subject)["rows"]]
    shown = np.searchsorted(places, numbers)
    p = of_wine.model.predict_proba(of_wine.X).max(axis=1)
    assert sorted(p[shown]) == sorted(p)[: len(shown)]


def test_rows_of_classes_that_were_not_learnt_are_told_of(of_wine, tmp_path):
    classes = of_wine.classes.astype(object)
    classes[:5], classes[5] = "moscato", None
    subject = Subject(of_wine.model, of_wine.X, name="wine", command="lrnn", classes=classes)
    _, _, text = read(subject, tmp_path)
    assert re.search(naming("5 of 177", "1 rows"), text)
    told = of_wine.model.predict(of_wine.X)
    right = told[6:] == of_wine.classes[6:]
    standing = subject.audit.standing
    assert standing.accuracy == pytest.approx(right.sum() / 177)
    assert standing.commonest == pytest.approx(
        np.unique(classes[6:], return_counts=True)[1].max() / 177
    )
    *_, last = recognised(subject)["confusions"].rows
    assert last[0] == "(other)"
    assert sum(int(cell) for cell in last[1:] if cell != "·") == 5
    known = Subject(
        of_wine.model,
        some_of(of_wine.X, np.arange(6, 178)),
        name="",
        command="",
        classes=of_wine.classes[6:],
    ).audit.standing
    assert standing.loss == pytest.approx(known.loss)


def test_where_no_class_was_learnt_it_is_said(of_wine, tmp_path):
    strange = ["moscato"] * of_wine.X.shape[0]
    subject = Subject(of_wine.model, of_wine.X, name="wine", command="lrnn", classes=strange)
    _, page, _ = read(subject, tmp_path)
    assert "recognised" not in {section["id"] for section in page.all("section")}


def test_of_many_classes_the_commonest_mistakes_are_listed(rng):
    X = rng.random((300, 5))
    y = (X[:, 0] * 25).astype(int)
    model = LRNNClassifier(5, max_iter=3, random_state=0).fit(X, y)
    told = recognised(Subject(model, X, name="x", command="", classes=y))
    assert told["many"]
    counts = confusion_matrix(y, model.predict(X))
    np.fill_diagonal(counts, 0)
    assert [int(line[2]) for line in told["confusions"].rows] == sorted(
        counts[counts > 0].tolist(), reverse=True
    )[:20]


def test_rows_that_make_no_spike_are_counted(of_digits, digits):
    X = np.vstack([digits[:50], np.zeros((2, 64))])
    found = decisions(Subject(of_digits.model, X, name="x", command=""))
    assert found["silent"] == 2
    half = dict(found["table"].rows)["half"]
    logs = of_digits.model._log_spikes(digits[:50])
    assert float(half.replace(",", "")) == pytest.approx(np.exp(np.median(logs)), rel=1e-2)
    silent = Subject(of_digits.model, X[50:], name="x", command="")
    assert (decisions(silent)["mean"], decisions(silent)["table"]) == ("∞", None)
