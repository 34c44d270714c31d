"""Figures show what they are given."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from lrnn import RandomNeuralNetwork, plots


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    network = RandomNeuralNetwork.from_layers([rng.random((6, 5)) / 6, rng.random((5, 6)) / 5])
    arrivals = network.rates * 0.5 * (np.arange(17) < 6)
    return network.simulate(arrivals, events=100_000, record=[6, 7, 8], random_state=0)


@pytest.fixture
def axes():
    return Figure().subplots()


def test_layers_as_computed_and_as_simulated(result):
    figure = plots.simulated_layers(result, (10_000, 100_000), shape=(2, 3))
    grid = np.array(figure.axes).reshape(3, 3)
    assert [a.get_title() for a in grid[0]] == [
        "numeric",
        "after 10,000 events",
        "after 100,000 events",
    ]
    assert [a.get_ylabel() for a in grid[:, 0]] == ["input", "hidden", "output"]
    shown = np.asarray(grid[2, 0].images[0].get_array())
    np.testing.assert_allclose(shown.ravel(), np.asarray(result.steady)[11:])
    shown = np.asarray(grid[0, 2].images[0].get_array())
    np.testing.assert_allclose(shown.ravel(), result.activation()[:6])
    error = result.compare().errors[-1, 1]
    assert grid[1, 2].get_xlabel() == f"RMSE {error:.4f}"


def test_hidden_neurons_that_fill_no_rectangle(axes):
    assert plots.layer_image(axes, np.linspace(0, 1, 5)) is axes
    shown = np.ma.filled(axes.images[0].get_array(), np.nan)
    assert shown.shape == (2, 3)
    assert np.isnan(shown[1, 2])


def test_a_network_without_layers_is_one_layer(random_network):
    network, plus, minus = random_network(0)
    result = network.simulate(plus, minus, events=20_000, random_state=0)
    figure = plots.simulated_layers(result, (10_000,))
    assert [a.get_ylabel() for a in figure.axes] == ["all", ""]


def test_one_of_many_rows(result):
    network = result.network
    rows = np.stack([network.rates * (np.arange(17) < 6) * f for f in (0.2, 0.7)])
    many = network.simulate(rows, events=20_000, random_state=0)
    figure = plots.simulated_layers(many, (20_000,), row=1)
    shown = np.asarray(figure.axes[0].images[0].get_array()).ravel()
    np.testing.assert_allclose(shown[:6], 0.7)


def test_convergence_has_a_line_for_each_estimator(result, axes):
    assert plots.convergence(axes, result, layer="hidden") is axes
    labels = [line.get_label() for line in axes.lines]
    assert labels == ["potential", "busy", "arrivals", "1/√events"]
    drawn = axes.lines[1].get_xydata()
    found = result.compare(estimator="busy")
    np.testing.assert_allclose(drawn, np.column_stack([found.events, found.errors[:, 1]]))
    slope = np.diff(np.log(axes.lines[3].get_xydata()), axis=0)[0]
    assert slope[1] / slope[0] == pytest.approx(-0.5)
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_a_raster_has_a_tick_for_every_spike(result, axes):
    assert plots.raster(axes, result) is axes
    ticks = axes.lines[0].get_xydata()
    assert len(ticks) == result.firing_counts[6:9].sum()
    assert set(ticks[:, 1]) == {0, 1, 2}
    silent = result.network.simulate(np.ones(17), events=10, random_state=0)
    with pytest.raises(ValueError, match=r"no spikes were recorded; simulate with record="):
        plots.raster(axes, silent)
