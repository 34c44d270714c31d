r"""The random neural network: rates, routing, steady state.

With weights :math:`w^\pm_{ij} = r_i p^\pm_{ij}` the excitation probabilities are the fixed point of

.. math:: T(q)_i = \min\left(
    \frac{\Lambda_i + \sum_j q_j w^+_{ji}}{r_i + \lambda_i + \sum_j q_j w^-_{ji}},\, 1\right)
    \qquad (1).

Where there is no cycle an activation is in closed form once the predecessors are known, so a
feed-forward network is solved in one pass, layer by layer; only real feedback iterates
(``steady_state``). Derivatives go the same way back (``gradient``).
"""

from lrnn.network.gradient import Gradient
from lrnn.network.random_neural_network import RandomNeuralNetwork, layer_names
from lrnn.network.steady_state import SteadyState

__all__ = ["Gradient", "RandomNeuralNetwork", "SteadyState", "layer_names"]
