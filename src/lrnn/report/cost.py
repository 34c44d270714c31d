"""What a network costs: firing rates, and spikes against error."""

from typing import Any

from lrnn import plots
from lrnn.frontiers import readable
from lrnn.report import pictures
from lrnn.report.subject import Subject
from lrnn.report.tables import TableOf, number


def rates(subject: Subject) -> dict[str, Any]:
    """The firing rates that the weights need."""
    model = subject.model
    costs = model.layer_spike_costs_
    layers = ["input", *(f"hidden {i}" for i in range(1, len(costs)))]
    rows = [[name, readable(cost)] for name, cost in zip(layers, costs, strict=True)]
    return {
        "figure": pictures.figure(
            lambda ax: plots.firing_rates(model, ax=ax),
            "rates",
            "Histogram of firing rates, layer by layer",
        ),
        "cost": readable(model.spike_cost_),
        "unit": model.rates == "unit",
        "table": TableOf("Spikes per unit time", ["layer", "spikes"], rows),
    }


def frontier(subject: Subject) -> dict[str, Any]:
    """Error against spikes, and this model beside it; nothing, if nobody has drawn it."""
    found, model = subject.frontier, subject.model
    if found is None:
        return {"figure": None}
    point = model.spike_cost_, model.reconstruction_err_
    shown = point[0] <= 10 * max(p.spikes for p in found.points if p.penalty != 0)
    rows = [
        [p.name, f"{p.error:.5f}", number(p.test_error), readable(p.spikes)] for p in found.points
    ]
    return {
        "figure": pictures.figure(
            lambda ax: plots.frontier(
                found, known=subject.known, point=point if shown else None, ax=ax
            ),
            "frontier",
            "Error against spikes, from the excitatory network to those with the lowest errors",
            (5.2, 3.6),
        ),
        "table": TableOf(
            "Networks of the same structure", ["network", "error", "on test data", "spikes"], rows
        ),
        "shown": shown,
    }
