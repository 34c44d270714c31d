"""The report in a real browser: Chromium, as Debian packages it, without a window."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import minmax_scale

from lrnn import LRNNAutoencoder
from lrnn.report import Subject, write_report

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

HOSTILE = '<script>document.title = "taken"</script><img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def pages(digits, tmp_path_factory):
    """A report of images, and one of a table with hostile names."""
    folder = tmp_path_factory.mktemp("reports")
    model = LRNNAutoencoder((12,), random_state=0).fit(digits)
    printed = LRNNAutoencoder((12,), solver="minibatch", max_iter=9, random_state=0).fit(digits)
    images = Subject(
        model, digits, name="digits", command="lrnn report", image_shape=(8, 8),
        against={"printed": Subject(printed, digits, "digits", "")},
    )  # fmt: skip
    X = minmax_scale(load_wine().data).clip(0, 1)
    table = Subject(
        LRNNAutoencoder((9, 4), random_state=0).fit(X),
        X,
        name=HOSTILE,
        command=f"lrnn report '{HOSTILE}'",
        attributes=(*[f"{HOSTILE}{i}" for i in range(12)], "a" * 300),
        against={HOSTILE: Subject(LRNNAutoencoder((4,), max_iter=3).fit(X), X, HOSTILE, "")},
    )
    return [write_report(s, folder / n) for s, n in ((images, "images"), (table, "table"))]


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", [0, 1])
def test_everything_loads_and_nothing_overflows(browser, pages, which, width, scheme):
    address = pages[which].as_uri()
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    troubles, asked = [], []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    assert troubles == []
    assert [url for url in asked if not url.startswith("data:")] == [address]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # whatever reaches beyond the window can be scrolled to within its own box
    beyond = page.evaluate(
        """width => [...document.querySelectorAll("body *")]
             .filter(e => !e.closest(".table") && !e.closest("svg"))
             .filter(e => e.getBoundingClientRect().right > width + 1)
             .map(e => e.outerHTML.slice(0, 80))""",
        width,
    )
    assert beyond == []
    broken = page.evaluate(
        "[...document.images].filter(i => !i.complete || i.naturalWidth == 0).length"
    )
    assert broken == 0
    drawn = page.evaluate(
        "[...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect().height)"
    )
    assert min(drawn) > 100
    context.close()


def test_wide_tables_show_that_they_scroll(browser, pages):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(pages[0].as_uri())
    wide = page.evaluate(
        """[...document.querySelectorAll(".table")].filter(e => e.scrollWidth > e.clientWidth)
             .map(e => [getComputedStyle(e).backgroundImage,
                        getComputedStyle(e).backgroundAttachment])"""
    )
    assert wide
    for image, attachment in wide:
        assert image.count("linear-gradient") == 4
        assert attachment == "local, local, scroll, scroll"
    page.close()


def test_images_are_on_white_and_figures_light_in_the_dark(browser, pages):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(pages[0].as_uri())
    style = "getComputedStyle(document.querySelector('{}')).{}"
    assert page.evaluate(style.format("img", "backgroundColor")) == "rgb(255, 255, 255)"
    assert page.evaluate(style.format("img", "padding")) == "2px"
    assert page.evaluate(style.format("figure > svg", "filter")) == "brightness(1.5)"
    context.close()


def luminance(colour):
    red, green, blue = (int(n) / 255 for n in colour[4:-1].split(","))
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)
    ]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(browser, pages, scheme):
    """Contrast of at least 4.5, as the accessibility guidelines (WCAG AA) ask for."""
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(pages[0].as_uri())
    colours = page.evaluate(
        """() => {
          const of = (e, what) => getComputedStyle(e)[what];
          const clear = e => e && /, 0\\)/.test(of(e, "backgroundColor"));
          const ground = e => { while (clear(e)) e = e.parentElement;
                                return of(e || document.body, "backgroundColor"); };
          return [...document.querySelectorAll("p, h1, h2, td, th, figcaption, dt, dd, a, caption")]
            .map(e => [of(e, "color"), ground(e)]);
        }"""
    )
    assert len(colours) > 50
    for text, ground in set(map(tuple, colours)):
        light, dark = sorted((luminance(text), luminance(ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)
    svg = page.evaluate("getComputedStyle(document.querySelector('svg text')).fill")
    assert svg == page.evaluate("getComputedStyle(document.body).color")
    context.close()


def test_hostile_names_stay_text(browser, pages):
    page = browser.new_page()
    page.goto(pages[1].as_uri())
    assert page.title().startswith("<script>")
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate("document.querySelectorAll('img[onerror]').length") == 0
    assert HOSTILE in page.inner_text("h1")
    page.close()


def test_tables_can_be_copied(browser, pages):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(pages[0].as_uri())
    page.click("#spikes .table button.copy")
    copied = page.evaluate("navigator.clipboard.readText()")
    lines = [line.split("\t") for line in copied.splitlines()]
    assert lines[0] == ["events", "input", "hidden", "output"]
    assert lines[3][0] == "1,000,000"
    assert float(lines[3][1]) < 0.1
    context.close()
