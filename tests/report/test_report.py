"""The report says what is so, and nothing that it was given can change its markup."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from lrnn import LRNNAutoencoder, frontier
from lrnn.report import Subject, write_report
from lrnn.report.content import hoyer
from lrnn.report.pictures import png, square
from naming import naming

HOSTILE = '<script>alert("x")</script>'


class Markup(HTMLParser):
    """Collects elements, and text."""

    def __init__(self, content):
        super().__init__()
        self.elements, self.text = [], ""
        self.feed(content)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += f"{data} "  # cells and tiles stand apart

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def of_digits(digits):
    model = LRNNAutoencoder((9,), fine_tune=2, random_state=0).fit(digits)
    printed = LRNNAutoencoder((9,), solver="minibatch", max_iter=20, random_state=0).fit(digits)
    return Subject(
        model, digits, name="digits", command="lrnn report …", image_shape=(8, 8),
        against={"the paper's": Subject(printed, digits, "digits", "")}, row=6,
    )  # fmt: skip


@pytest.fixture(scope="module")
def of_wine():
    X = minmax_scale(load_wine().data).clip(0, 1)
    model = LRNNAutoencoder((4,), random_state=0).fit(X)
    names = (*load_wine().feature_names[:12], HOSTILE)
    return Subject(model, X, name=f"{HOSTILE}.csv", command=f"lrnn '{HOSTILE}'", attributes=names)


READ = {}  # what was written of a subject, for writing takes a second


def read(subject, folder):
    if id(subject) not in READ:
        page = write_report(subject, folder)
        assert page == folder / "index.html"
        content = page.read_text(encoding="utf-8")
        READ[id(subject)] = subject, content, Markup(content)
    return READ[id(subject)][1:]


def test_numbers_in_it_are_those_of_the_model(of_digits, tmp_path):
    content, page = read(of_digits, tmp_path)
    model = of_digits.model
    text = " ".join(page.text.split())
    assert f"{model.reconstruction_err_:.4f}" in text
    printed = of_digits.against["the paper's"].model
    sums = [m.audit().largest_row_sum for m in (printed, model)]
    assert re.search(naming(*(f"{largest:.2f}" for largest in sums)), text)
    errors = of_digits.simulation.compare()
    at = int(np.flatnonzero(of_digits.simulation.snapshots == 1_000_000)[0])
    shift = len(of_digits.simulation.snapshots) - len(errors.events)
    for error in errors.errors[at - shift]:
        assert f"{error:.4f}" in text
    assert "lrnn report …" in text
    for version in ("numpy", "scikit-learn", np.__version__):
        assert version in text
    assert len(page.all("img")) == 24 + 9 + 3 * 4  # pairs, parts, layers as computed and simulated
    assert content.count("<svg") == 6
    drawn = content[
        content.index('<section id="network">') : content.index('<section id="learning">')
    ]
    count = sum(int((w > 0).sum()) for w in model.weights_.excitatory)
    assert f"of {count:,}, the strongest between these neurons" in drawn


def test_everything_is_inside_and_pictures_have_words(of_digits, of_wine, tmp_path):
    for subject in (of_digits, of_wine):
        content, page = read(subject, tmp_path)
        assert all(image["src"].startswith("data:image/png") for image in page.all("img"))
        assert all(len(image["alt"]) > 5 for image in page.all("img"))
        assert all(len(svg["aria-label"]) > 20 for svg in page.all("svg"))
        assert all(a["href"].startswith("#") for a in page.all("a"))
        assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', content)
        assert not re.findall(r"url\((?!#)", content)
        anchors = {attributes.get("id") for _, attributes in page.elements}
        assert {a["href"][1:] for a in page.all("a")} <= anchors
        ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
        assert len(ids) == len(set(ids))


def test_hostile_names_stay_text(of_wine, tmp_path):
    content, page = read(of_wine, tmp_path)
    assert len(page.all("script")) == 1
    assert HOSTILE not in content
    assert content.count("&lt;script&gt;") > 3
    assert HOSTILE in page.text


def test_tables_of_other_data(of_wine, tmp_path):
    content, page = read(of_wine, tmp_path)
    text = " ".join(page.text.split())
    assert "malic_acid" in text
    assert page.all("img") == []  # but bars with names
    for row in (1, 178):
        assert f"row {row} " in text
    bars = [e for e in page.all("span") if e.get("class") == "bar back"]
    assert len(bars) == 6 * 13
    start = content.index('<section id="spikes">')
    spikes = content[start : content.index("</section>", start)]
    assert Markup(spikes).text.count("alcohol ") == 2  # in the input and the output layer
    assert "nonflavanoid_phenols" in spikes


def test_wide_tables_keep_the_largest_values(rng, tmp_path):
    X = rng.random((20, 50))
    X[:, 7] = 0
    model = LRNNAutoencoder((3,), max_iter=3, random_state=0).fit(X)
    _, page = read(Subject(model, X, name="wide", command="c"), tmp_path)
    assert re.search(naming("10 attributes"), page.text)
    assert len(page.all("img")) == 12  # too many neurons for bars


def test_stages_and_rates_are_named(of_digits, tmp_path):
    _, page = read(of_digits, tmp_path)
    text = " ".join(page.text.split())
    assert re.search(naming("gram solver", "end to end"), text)
    assert {"rates", "audit"} <= {section["id"] for section in page.all("section")}


@pytest.mark.slow
@pytest.mark.parametrize("rates", ["unit", "free"])
def test_odd_networks(rates, tmp_path, rng):
    """Deep ones, colours, one row, one code neuron, a constant column, saturation, levels."""
    X = rng.random((30, 12))
    X[:, 0] = 0
    deep = LRNNAutoencoder((6, 1), rates=rates, max_iter=3, random_state=0).fit(X)
    read(Subject(deep, X, name="deep", command="c"), tmp_path)
    read(Subject(deep, X[:1], name="deep", command="c", image_shape=(2, 2, 3)), tmp_path)
    levels = (255 * X).astype(np.uint8)
    levels[:, 1] = 255
    model = LRNNAutoencoder((3,), rates=rates, max_iter=3, random_state=0).fit(levels)
    subject = Subject(model, levels, name="levels", command="c", image_shape=(3, 4), row=29)
    _, page = read(subject, tmp_path)
    assert "are saturated" in page.text
    rare = np.zeros((5, 12))
    rare[2, 3] = 1
    _, page = read(replace(subject, X=rare, row=None), tmp_path)
    assert "Row 3" in page.text
    with pytest.raises(ValueError, match="event"):
        write_report(replace(subject, X=rare, row=1), tmp_path)


def test_nothing_is_left_of_a_report_that_fails(of_wine, tmp_path):
    wrong = replace(of_wine, image_shape=(5, 5))
    with pytest.raises(ValueError, match=naming(25)):
        write_report(wrong, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_pixels_are_what_they_stand_for():
    import base64
    import io

    from PIL import Image

    def pixels(address):
        content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
        return np.asarray(Image.open(io.BytesIO(content)))

    np.testing.assert_array_equal(pixels(png(np.array([[0.0, 1.0]]), ink=True)), [[255, 0]])
    np.testing.assert_array_equal(pixels(png(np.array([[0.0, 0.2]]), ink=False)), [[0, 51]])
    assert pixels(png(np.zeros((2, 3, 3)), ink=True)).shape == (2, 3, 3)
    np.testing.assert_array_equal(pixels(square(np.ones(5), ink=True)), [[0, 0, 0], [0, 0, 255]])


def test_hoyers_sparsity():
    assert hoyer(np.zeros((3, 4))) == 0
    assert hoyer(np.eye(5)) == pytest.approx(1)
    assert hoyer(np.full((2, 7), 0.3)) == pytest.approx(0)
    assert hoyer(np.ones((4, 1))) == 0


def test_the_page_is_well_formed(of_digits, tmp_path):
    """Every element that is opened is closed."""
    content, _ = read(of_digits, tmp_path)
    void = {"meta", "link", "img", "br"}
    open_ = []

    class Check(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in void:
                open_.append(tag)

        def handle_startendtag(self, tag, attrs):
            pass

        def handle_endtag(self, tag):
            assert open_.pop() == tag

    Check().feed(content)
    assert open_ == []
    assert len(content.encode()) < 1_500_000


@pytest.fixture(scope="module")
def of_frontier(digits):
    found = frontier(digits[:400], 6, penalties=3, passes=30, random_state=0, max_iter=20)
    model = next(p.model for p in found.points if p.penalty)
    return Subject(
        model, digits[:400], name="digits", command="lrnn report …", image_shape=(8, 8),
        frontier=found, known={HOSTILE: 0.05},
    )  # fmt: skip


def test_error_against_spikes(of_frontier, tmp_path):
    content, page = read(of_frontier, tmp_path)
    text = " ".join(page.text.split())
    assert "frontier" in {section["id"] for section in page.all("section")}
    for point in of_frontier.frontier.points:
        assert f"{point.error:.5f}" in text
    assert re.search(naming("divides"), text)  # as inhibition does
    assert HOSTILE not in content


def test_without_a_frontier_there_is_no_such_section(of_digits, tmp_path):
    _, page = read(of_digits, tmp_path)
    assert "frontier" not in {section["id"] for section in page.all("section")}
    assert not re.search(naming("divides"), page.text)


def test_spikes_that_are_too_many_to_simulate_are_said_to_be(of_frontier, tmp_path):
    free = LRNNAutoencoder(6, inhibition=True, fine_tune=300, random_state=0).fit(of_frontier.X)
    assert free.spike_cost_ > 2e5  # a million events are less than ten units of time
    with pytest.warns(UserWarning, match="too short"):
        _, page = read(replace(of_frontier, model=free), tmp_path)
    assert "too short" in page.text
    _, page = read(of_frontier, tmp_path)
    assert "too short" not in page.text


def test_row_sums_are_those_of_both_kinds_of_weights(of_frontier):
    model = of_frontier.model
    sums = (model.encoders_[0] + model.inhibitory_encoders_[0]).sum(axis=1)
    assert model.audit().layers[0].row_sums[1] == pytest.approx(sums.max(), rel=1e-12)


def test_a_network_for_corrupted_rows_says_so(tmp_path, rng):
    X = rng.random((40, 5))
    model = LRNNAutoencoder(2, corruption=("mask", 0.5), random_state=0).fit(X)
    _, page = read(Subject(model, X, name="robust", command="lrnn report …"), tmp_path)
    text = " ".join(page.text.split())
    assert re.search(naming("mask 0.5", f"{model.corrupted_err_:.4f}"), text)
