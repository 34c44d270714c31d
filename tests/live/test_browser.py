"""The live page in a real browser: Chromium, without a window, from a file."""

import re
from time import monotonic

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_wine

from lrnn import LRNNAutoencoder, LRNNClassifier, Scaling
from lrnn.live import LivePage, Scene, live_page, rows_of
from naming import naming

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

HOSTILE = '</script><script>document.title = "taken"</script><img src=x onerror="document.title=1">'
KINDS = {
    "excitatory": {},
    "inhibitory": {"inhibition": True, "spike_penalty": 1e-5, "fine_tune": 5},
    "deep": {"hidden_layer_sizes": (20, 8)},
    "unit": {"rates": "unit"},
    "complemented": {"complement": True},
    "behind": {
        "decoder_layer_sizes": 12,
        "inhibition": True,
        "spike_penalty": 1e-5,
        "fine_tune": 3,
    },
}


@pytest.fixture(scope="module")
def models(digits):
    X = digits[:300]
    settings = {"hidden_layer_sizes": 8, "max_iter": 60, "random_state": 0}
    return {name: LRNNAutoencoder(**settings | more).fit(X) for name, more in KINDS.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("live")


@pytest.fixture
def opened(browser, folder):
    """Open a scene; at the end there was no error, and no request but for the page itself."""
    contexts, troubles, asked, pages = [], [], [], []

    def open_it(scene, tour=False, before=None, html=None, **options):
        path = folder / f"{len(list(folder.iterdir()))}.html"
        LivePage(html or live_page(scene, title="a title", tour=tour)).save(path)
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}} | options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("requestfailed", lambda request: troubles.append(request.url))
        page.on("request", lambda request: asked.append(request.url))
        if before:
            page.add_init_script(before)
        page.goto(path.as_uri())
        pages.append(path.as_uri())
        until(page, "window.live && live.news !== null")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert troubles == []
    assert [a for a in asked if not a.startswith(("data:", "blob:"))] == pages


def until(page, condition, seconds=30):
    """Wait for something to hold; by asking, since the page's policy lets nobody bring code."""
    end = monotonic() + seconds
    while not page.evaluate(condition):
        assert monotonic() < end, condition
        page.wait_for_timeout(20)


def at_rest(page):
    """Wait until a pause is heard of; the events so far."""
    before, events = -1, 0
    while before != events:
        page.wait_for_timeout(200)
        before, events = events, page.evaluate("live.news.engines[0].events")
    return events


def scene_of(models, digits, **more):
    return Scene(models, digits[:5], image_shape=(8, 8), **more)


def go_on(page, events):
    """Pause, begin again, and make just so many events; the firings of the first network."""
    page.evaluate("live.play(false); live.restart()")
    until(page, "live.news?.engines[0].events === 0")
    page.evaluate("events => live.post({do: 'until', events})", events)
    until(page, f"live.news.engines[0].events === {events}")
    return np.array(page.evaluate("[...live.news.engines[0].fired]"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_steady_state_is_python_s(opened, models, digits, kind):
    model = models[kind]
    page = opened(scene_of({kind: model}, digits))
    found = np.array(page.evaluate("[...live.exact[0]]"))
    network = model.to_network()
    np.testing.assert_allclose(
        found, network.steady_state(model.arrivals(digits[:1])[0]), atol=1e-5, rtol=0
    )
    error = page.evaluate("live.facts(0).error")
    back = model.reconstruct(digits[:1])
    assert error == pytest.approx(float(((back - digits[:1]) ** 2).mean()), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_events_as_the_compiled_kernel(opened, models, digits, kind):
    model, events = models[kind], 30_000
    page = opened(scene_of({kind: model}, digits, seed=7))
    fired = go_on(page, events)
    arrivals = model.arrivals(digits[:1])[0]
    result = model.to_network().simulate(
        arrivals, events=events, engine="clock", random_state=7, progress=False
    )
    np.testing.assert_array_equal(fired, result.firing_counts)


@pytest.mark.parametrize("kind", ["excitatory", "inhibitory", "deep"])
def test_spikes_lie_in_the_intervals_of_theory(opened, models, digits, kind):
    """Firings in steady state are Poisson, of mean and variance q r T; some are yet to come."""
    page = opened(scene_of({kind: models[kind]}, digits, seed=3))
    fired = go_on(page, 400_000)
    q, potentials, time = (
        np.array(page.evaluate(what))
        for what in (
            "[...live.exact[0]]",
            "[...live.news.engines[0].potentials]",
            "live.facts(0).time",
        )
    )
    network = models[kind].to_network()
    stable = q < 1
    expected = q * network.rates * time
    away = norm.ppf(1 - 0.001 / 2 / len(q)) * np.sqrt(expected + 1)
    late = potentials.max(initial=0, where=stable)  # began at rest: so many have not yet left
    assert (abs(fired - expected) <= away + late + 5)[stable].all()
    assert (fired[~stable] <= expected[~stable] + away[~stable]).all()


def test_the_seed_and_the_row_make_the_run(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    first = go_on(page, 5_000)
    np.testing.assert_array_equal(go_on(page, 5_000), first)
    page.click("#reseed")
    assert page.inner_text("#seed-told") == "1"
    assert (go_on(page, 5_000) != first).any()
    assert page.evaluate("live.seed") == 1


@pytest.mark.parametrize("width", [360, 1300])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(opened, models, digits, width, scheme):
    two = {"one": models["excitatory"], "deep": models["deep"]}
    page = opened(
        scene_of(two, digits), viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    page.evaluate("live.choose(0, 2)")
    page.wait_for_timeout(400)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = page.evaluate(
        """width => [...document.querySelectorAll("body *")]
             .filter(e => !e.closest(".table") && !e.closest(".unseen"))
             .filter(e => e.getBoundingClientRect().right > width + 1)
             .map(e => e.outerHTML.slice(0, 80))""",
        width,
    )
    assert beyond == []
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    lighter, darker = sorted(map(luminance, (ink, paper)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) > 7
    assert (luminance(paper) < 0.1) == (scheme == "dark")


def luminance(colour):
    values = [int(n) / 255 for n in colour[4:-1].split(",")]
    return sum(w * v**2.2 for w, v in zip((0.2126, 0.7152, 0.0722), values, strict=True))


def draw(page, points):
    """With the mouse, from point to point; in shares of the pad."""
    box = page.locator("#pad").bounding_box()
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in points]
    page.mouse.move(*at[0])
    page.mouse.down()
    for point in at[1:]:
        page.mouse.move(*point, steps=4)
    page.mouse.up()


@pytest.mark.parametrize("centre", ["mass", "box"])
def test_one_draws_with_the_pointer(opened, models, digits, centre):
    """What is drawn in a corner is centred and scaled as the data are."""
    frame = {"box": 0.75, "centre": centre, "width": 1.5, "white": 0.9}
    page = opened(scene_of({"a": models["excitatory"]}, digits, frame=frame))
    runs = page.evaluate("live.run")
    page.click("#clear")
    assert page.evaluate("Math.max(...live.x)") == 0
    until(page, "!live.stages[0].note.hidden")
    draw(page, [(0.1, 0.1), (0.3, 0.1), (0.3, 0.4)])
    assert page.evaluate("live.run") > runs + 3
    assert page.evaluate("[live.own, live.row]") == [True, 0]
    assert page.input_value("#row") == "own"
    pixels = np.array(page.evaluate("[...live.x]")).reshape(8, 8)
    assert pixels.max() == pytest.approx(0.9, abs=0.05)
    used = np.flatnonzero((pixels > 0.1).any(axis=1))
    assert (used[-1] - used[0] + 1) / 8 == pytest.approx(0.75, abs=0.13)  # to a pixel
    mass = [(pixels.sum(axis=1 - i) @ (np.arange(8) + 0.5)) / pixels.sum() for i in (0, 1)]
    if centre == "mass":
        np.testing.assert_allclose(mass, 4, atol=0.2)
    else:
        assert (used[0] + used[-1] + 1) / 2 == pytest.approx(4, abs=0.5)
    until(page, "live.news?.engines[0].events > 1000")
    page.uncheck("#fit")
    page.click("#clear")
    draw(page, [(0.1, 0.1), (0.3, 0.1)])
    assert np.array(page.evaluate("[...live.x]")).reshape(8, 8)[3:].max() == 0


def test_one_draws_with_the_keyboard_and_paints_over_photographs(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, 0.2 + 0.8 * digits))
    assert page.evaluate("live.content.frame") is None
    before = np.array(page.evaluate("[...live.clean]"))
    page.focus("#pad")
    for key in ("ArrowLeft", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    after = np.array(page.evaluate("[...live.clean]"))
    assert np.flatnonzero(before != after).tolist() == [3 * 8 + 3]
    draw(page, [(0.9, 0.9), (0.95, 0.9)])
    painted = np.array(page.evaluate("[...live.clean]"))
    assert painted[7 * 8 + 7] == 1
    assert (painted[:32] == after[:32]).all()


def test_sliders_are_in_the_users_units(opened):
    wine = load_wine()
    scaling = Scaling.fit(wine.data, "minmax")
    model = LRNNAutoencoder(5, scale="minmax", random_state=0).fit(wine.data)
    scene = Scene(
        {"wine": model},
        rows_of(model, wine.data, 3),
        attributes=wine.feature_names,
        scaling=scaling,
    )
    page = opened(scene)
    told = page.locator("#sliders output").all_inner_texts()
    np.testing.assert_allclose([float(t) for t in told], wine.data[0], rtol=5e-3)
    slider = page.locator("#sliders input").first
    slider.fill("1")
    assert page.evaluate("live.clean[0]") == 1
    assert page.locator("#sliders output").first.inner_text() == f"{wine.data[:, 0].max():.3g}"
    assert page.evaluate("live.own")
    until(page, "live.news?.engines[0].events > 20000")
    out = page.locator(".layer.named").last
    names = out.locator(".name").all_inner_texts()
    assert names == wine.feature_names
    page.wait_for_timeout(300)
    values = [float(v) for v in out.locator(".value").all_inner_texts()]
    given = np.array(page.evaluate("[...live.clean]"))
    expected = model.reconstruct(scaling.revert(given[None, :]))[0]
    np.testing.assert_allclose(values, expected, atol=0.25 * np.ptp(wine.data, axis=0).max())


def test_classes_are_shares_of_spikes(opened, digits):
    from sklearn.datasets import load_digits

    y = load_digits().target[:400]
    model = LRNNClassifier(12, max_iter=15, random_state=0).fit(digits[:400], y)
    page = opened(scene_of({"classes": model}, digits))
    assert page.evaluate("live.facts(0).verdict") == str(model.predict(digits[:1])[0])
    exact = np.array(page.evaluate("[...live.exact[0]]"))[-10:]
    np.testing.assert_allclose(exact / exact.sum(), model.predict_proba(digits[:1])[0], atol=1e-5)


def test_keys(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    page.keyboard.press("Space")
    assert page.evaluate("live.playing") is False
    events = at_rest(page)
    page.keyboard.press(".")
    until(page, f"live.news.engines[0].events === {events + 1}")
    page.keyboard.press("n")
    assert page.evaluate("live.row") == 1
    page.keyboard.press("p")
    page.keyboard.press("p")
    assert page.evaluate("live.row") == 4  # the last of five
    pace = page.evaluate("live.pace")
    page.keyboard.press("]")
    page.keyboard.press("[")
    page.keyboard.press("[")
    assert page.evaluate("live.pace") == pace - 1
    page.keyboard.press("s")
    assert page.evaluate("live.seed") == 1
    page.keyboard.press("c")
    assert page.evaluate("Math.max(...live.clean)") == 0
    page.keyboard.press("t")
    assert page.locator("#tour").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#tour").is_visible()


def test_one_event_at_a_time_and_every_one_is_shown(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    page.evaluate("live.play(false); live.restart()")
    until(page, "live.news?.engines[0].events === 0")
    for count in range(1, 6):
        page.click("#once")
        until(page, f"live.news?.engines[0].events === {count}")
    potentials = np.array(page.evaluate("[...live.news.engines[0].potentials]"))
    assert (potentials >= 0).all()
    assert potentials.sum() <= 5
    page.evaluate("live.setPace(1); live.play(true)")  # ten a second
    before = page.evaluate("live.news.engines[0].events")
    page.wait_for_timeout(2000)
    assert 1 <= page.evaluate("live.news.engines[0].events") - before <= 25


def test_neurons_that_are_switched_off_are_missed(opened, models, digits):
    model = models["excitatory"]
    page = opened(scene_of({"a": model}, digits))
    healthy = page.evaluate("live.facts(0).error")
    code = model.transform(digits[:1])[0]
    busiest = int(code.argmax())
    tile = page.locator(".tile").nth(busiest)
    tile.click()
    assert tile.get_attribute("aria-pressed") == "true"
    page.check("#off")
    assert page.evaluate("live.facts(0).error") > healthy
    exact = np.array(page.evaluate("[...live.exact[0]]"))
    assert exact[64 + busiest] == 0
    weights = [np.asarray(w, dtype=float).copy() for w in (*model.encoders_, *model.decoders_)]
    weights[1][busiest] = 0  # as if it had nothing to say
    back = np.minimum(np.minimum(digits[:1] @ weights[0], 1) @ weights[1], 1)[0]
    np.testing.assert_allclose(exact[72:], back, atol=1e-5)
    until(page, "live.news?.engines[0].events > 20000")
    assert page.evaluate(f"live.news.engines[0].fired[{64 + busiest}]") == 0
    assert "off" in tile.get_attribute("class")
    tile.click(modifiers=["Shift"])
    assert page.evaluate("live.facts(0).error") == healthy


def test_a_code_neuron_turned_by_hand_shows_its_part(opened, models, digits):
    model = models["excitatory"]
    page = opened(scene_of({"a": model}, digits))
    page.locator(".tile").nth(3).click()
    page.click("#alone")
    exact = np.array(page.evaluate("[...live.exact[0]]"))
    assert (exact[:64] == 0).all()  # the input is not looked at
    np.testing.assert_array_equal(exact[64:72], np.eye(8)[3])
    np.testing.assert_allclose(exact[72:], model.inverse_transform(np.eye(8)[3:4])[0], atol=1e-5)
    page.fill("#hand", "0.5")
    exact = np.array(page.evaluate("[...live.exact[0]]"))
    codes = 0.5 * np.eye(8)[3:4]
    np.testing.assert_allclose(exact[72:], model.inverse_transform(codes)[0], atol=1e-5)
    until(page, "live.news?.engines[0].events > 20000")
    found = np.array(page.evaluate("[...live.shown(0, 'average')]"))
    np.testing.assert_allclose(found[72:], exact[72:], atol=0.1)
    page.click("#let-go")
    assert page.evaluate("live.hands[0]") is None
    assert np.array(page.evaluate("[...live.exact[0]]"))[:64].max() == digits[0].max()


def test_noise_missing_pixels_and_lost_neurons(opened, models, digits):
    page = opened(scene_of({"a": models["deep"]}, digits))
    clean = np.array(page.evaluate("[...live.x]"))
    page.fill("#noise", "30")
    noisy = np.array(page.evaluate("[...live.x]"))
    assert 0 < abs(noisy - clean).max() <= 0.3 + 1e-12
    assert (noisy >= 0).all()
    assert (noisy <= 1).all()
    np.testing.assert_array_equal(np.array(page.evaluate("[...live.clean]")), clean)
    page.fill("#noise", "0")
    page.fill("#missing", "50")
    halved = np.array(page.evaluate("[...live.x]"))
    assert set(np.flatnonzero(halved != clean)) <= set(np.flatnonzero(halved == 0))
    assert 0.2 < (halved[clean > 0] == 0).mean() < 0.8
    page.fill("#missing", "0")
    page.fill("#lost", "100")
    assert np.array(page.evaluate("[...live.exact[0]]"))[64:].max() == 0
    page.fill("#lost", "0")
    np.testing.assert_array_equal(np.array(page.evaluate("[...live.x]")), clean)


def test_models_side_by_side(opened, models, digits):
    several = {name: models[name] for name in ("excitatory", "inhibitory", "unit")}
    page = opened(scene_of(several, digits))
    until(page, "live.news.engines.every(engine => engine.events > 20000)")
    page.wait_for_timeout(400)
    rows = page.locator("#facts tr").all()
    assert [row.locator("th").inner_text() for row in rows] == list(several)
    for m, model in enumerate(several.values()):
        error = float(((model.reconstruct(digits[:1]) - digits[:1]) ** 2).mean())
        assert page.evaluate(f"live.facts({m}).error") == pytest.approx(error, abs=1e-6)
        assert float(rows[m].locator("td").nth(1).inner_text()) == pytest.approx(error, rel=0.01)
    unit = page.evaluate("live.facts(2).spikes")
    assert unit == pytest.approx(np.array(page.evaluate("[...live.exact[2]]"))[:72].sum())


def test_the_tour_has_six_steps_and_can_be_skipped(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits), tour=True)
    titles = []
    for step in range(6):
        assert re.search(naming(step + 1, 6), page.inner_text("#tour .note"))
        titles.append(page.inner_text("#tour-title"))
        assert page.locator(".spotlight").count() == 1
        page.keyboard.press("Enter")  # Next has the focus
    assert len(set(titles)) == 6
    assert not page.locator("#tour").is_visible()
    page.click("#begin-tour")
    page.click("#tour .skip")
    assert not page.locator("#tour").is_visible()
    assert page.locator(".spotlight").count() == 0


def test_hostile_names_stay_text(opened, digits):
    wine = load_wine()
    scaling = Scaling.fit(wine.data, "minmax")
    model = LRNNAutoencoder(3, scale="minmax", random_state=0).fit(wine.data)
    scene = Scene(
        {HOSTILE: model},
        rows_of(model, wine.data, 2),
        name=HOSTILE,
        attributes=[f"{HOSTILE}{i}" for i in range(13)],
        scaling=scaling,
        row_names=[HOSTILE, "a" * 300],
    )
    page = opened(scene, html=live_page(scene, title=HOSTILE))
    page.wait_for_timeout(300)
    assert page.inner_text("h1") == HOSTILE
    assert page.title().startswith("</script>")
    assert page.locator("img").count() == 0
    assert page.locator(".stage h3").inner_text() == HOSTILE
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_without_motion_no_spike_travels(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits), reduced_motion="reduce")
    until(page, "live.news?.engines[0].events > 20000")
    assert page.evaluate("live.stages[0].traffic.underway.length") == 0


def test_spikes_travel(opened, models, digits):
    page = opened(scene_of({"a": models["inhibitory"]}, digits))
    until(page, "live.stages[0].traffic.underway.length > 5")
    assert page.evaluate(
        "live.stages[0].traffic.underway.every(s => [...s.begin, ...s.goal].every(isFinite))"
    )
    until(page, "live.stages[0].traffic.underway.some(s => s.inhibits)")


def test_without_workers_the_page_does_it_itself(opened, models, digits):
    page = opened(
        scene_of({"a": models["excitatory"]}, digits, seed=7), before="delete window.Worker"
    )
    assert page.evaluate("live.threaded") is False
    fired = go_on(page, 10_000)
    model = models["excitatory"]
    arrivals = model.arrivals(digits[:1])[0]
    result = model.to_network().simulate(
        arrivals, events=10_000, engine="clock", random_state=7, progress=False
    )
    np.testing.assert_array_equal(fired, result.firing_counts)
    page.evaluate("live.play(true)")
    until(page, "live.news?.engines[0].events > 20000")


def test_a_notebook_shows_it_in_line(browser, models, digits):
    page = browser.new_page()
    page.set_content(models["excitatory"].live(digits, rows=2, shape=(8, 8))._repr_html_())
    inner = page.frames[1]
    until(inner, "window.live && live.news?.engines[0].events > 1000")
    assert inner.evaluate("live.content.row_names.length") == 2
    page.close()


def test_those_who_cannot_see_are_told(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    page.keyboard.press("Space")
    until(page, "document.getElementById('status').textContent")
    unnamed = page.evaluate(
        """[...document.querySelectorAll("button, input, select, canvas:not([aria-hidden])")]
             .filter(e => e.checkVisibility())
             .filter(e => !e.getAttribute("aria-label") && !e.textContent.trim())
             .filter(e => !e.labels?.length)
             .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert unnamed == []
    tile = page.locator(".tile").first
    assert re.search(naming("neuron 1"), tile.get_attribute("aria-label"))


def test_what_takes_too_long_is_said(opened, digits):
    model = LRNNAutoencoder(4, random_state=0, max_iter=20).fit(digits[:100])
    weights = model.weights_
    plus = [w.copy() for w in weights.excitatory]
    minus = [np.full_like(plus[0], 1e9), np.zeros_like(plus[1])]
    model.weights_ = type(weights).of([1e9 * plus[0], plus[1]], minus)
    page = opened(scene_of({"a": model}, digits))
    until(page, "!live.stages[0].note.hidden")
    assert page.evaluate("live.stages[0].note.textContent")


def test_dim_images_are_shown_brighter_and_said_to_be(opened, digits):
    dim = 1e-3 * digits[:200]
    model = LRNNAutoencoder(8, random_state=0, max_iter=60).fit(dim)
    page = opened(scene_of({"a": model}, dim))
    assert re.search(naming(1000), page.inner_text("#gain"))
    found = np.array(page.evaluate("[...live.exact[0]]"))[-64:]
    np.testing.assert_allclose(found, model.reconstruct(dim[:1])[0], rtol=1e-5)
    darkest = page.evaluate(
        """Math.min(...document.getElementById("pad").getContext("2d")
             .getImageData(0, 0, 8, 8).data.filter((_, i) => i % 4 === 0))"""
    )
    assert darkest < 40  # ink
    until(page, "live.news.engines[0].events > 1000")


def test_a_click_draws_a_dot_and_a_change_of_mind_counts(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    page.click("#clear")
    box = page.locator("#pad").bounding_box()
    page.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
    fitted = np.array(page.evaluate("[...live.x]"))
    assert fitted.max() > 0.3
    page.uncheck("#fit")
    plain = np.array(page.evaluate("[...live.x]")).reshape(8, 8)
    assert plain[:4, :4].sum() == pytest.approx(plain.sum())
    assert (plain.ravel() != fitted).any()


def test_rows_are_found_again_after_drawing(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    page.evaluate("live.showRow(2)")
    draw(page, [(0.2, 0.2), (0.8, 0.8)])
    page.click("#previous")
    assert page.evaluate("[live.row, live.own]") == [2, False]
    page.click("#clear")
    page.click("#next")
    assert page.evaluate("live.row") == 3
    page.click("#clear")
    page.select_option("#row", "3")
    assert page.evaluate("Math.max(...live.x)") == digits[3].max()


def test_keys_work_beside_sliders_and_the_tour_gives_the_pace_back(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    page.focus("#pace")
    page.keyboard.press("Space")
    assert page.evaluate("live.playing") is False
    pace = page.evaluate("live.pace")
    page.keyboard.press("t")
    assert page.evaluate("live.pace") != pace
    page.focus("#noise")
    page.keyboard.press("Escape")
    assert not page.locator("#tour").is_visible()
    assert page.evaluate("live.pace") == pace


def test_neurons_are_all_switched_on_again(opened, models, digits):
    page = opened(scene_of({"a": models["excitatory"]}, digits))
    healthy = page.evaluate("live.facts(0).error")
    page.locator(".tile").nth(1).click()
    page.check("#off")
    assert page.is_disabled("#hand")
    page.evaluate("live.switchOff(0, 2)")
    page.click("#all-on")
    assert page.evaluate("live.facts(0).error") == healthy
    assert page.is_enabled("#hand")


def test_potentials_are_no_values_of_attributes(opened):
    wine = load_wine()
    model = LRNNAutoencoder(5, scale="minmax", random_state=0).fit(wine.data)
    scene = Scene({"a": model}, rows_of(model, wine.data, 1), scaling=model.scaling_)
    page = opened(scene)
    page.select_option("#view", "now")
    page.evaluate("live.play(false)")
    page.wait_for_timeout(300)
    told = page.locator(".layer.named").first.locator(".value").all_inner_texts()
    assert all(text.isdigit() for text in told)


def test_classes_without_an_output_spike_are_not_guessed(opened, digits):
    model = LRNNClassifier(12, max_iter=15, random_state=0).fit(
        digits[:300], digits[:300, 20] > 0.5
    )
    page = opened(scene_of({"a": model}, digits))
    page.evaluate("live.play(false); live.restart()")
    until(page, "live.news?.engines[0].events === 0")
    page.evaluate("live.post({do: 'once'})")
    until(page, "live.news.engines[0].events === 1")
    page.wait_for_timeout(400)
    assert page.locator(".layer.named .value").all_inner_texts()[-2:] == ["–", "–"]
    assert page.inner_text(".stage .warning")
    per = page.evaluate("live.facts(0).perOutput")
    page.evaluate("count => live.post({do: 'until', events: count})", round(60 * per))
    until(page, "live.fired(0) > 0")
    fired = page.evaluate("live.fired(0)")
    assert abs(fired - 60) < 6 * 60**0.5 + 5  # Poisson, and those that are on their way


def test_the_tour_speaks_of_what_is_there(opened, digits):
    model = LRNNClassifier(5, max_iter=5, random_state=0).fit(digits[:200], digits[:200, 20] > 0.5)
    page = opened(Scene({"a": model}, digits[:2]), tour=True)
    words = []
    for _ in range(6):
        words.append(page.inner_text("#tour p"))
        page.click("#tour .buttons button:nth-child(2)")
    assert not any("pixel" in text or "drawn" in text or "Draw" in text for text in words)
    assert "probability" in words[3]


def test_of_very_many_attributes_the_highest_have_sliders(opened, rng):
    X = 0.1 * rng.random((30, 900))
    X[:, ::6] += 0.5  # 150 of them
    model = LRNNAutoencoder(4, random_state=0, max_iter=5).fit(X)
    page = opened(Scene({"a": model}, X[:3]))
    assert page.locator("#sliders input").count() == 200
    assert re.search(naming(700), page.inner_text("#sliders .note"))
    chosen = page.evaluate("live.pad.inputs.map(({ i }) => i)")
    assert set(range(0, 900, 6)) <= set(chosen)
    page.locator("#sliders input").nth(chosen.index(6)).fill("1")
    assert page.evaluate("live.clean[6]") == 1
    others = np.delete(np.array(page.evaluate("[...live.clean]")), 6)
    np.testing.assert_allclose(others, np.delete(X[0], 6), atol=1e-6)
