"""What a trained autoencoder is besides: weights of layers, and a random neural network."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from lrnn.arrays import Floats, Layer, Rates, backend_of, take_rows, to_numpy
from lrnn.audit import Audit, audit, stand
from lrnn.functional import adjust_rows, firing_rates
from lrnn.network import RandomNeuralNetwork
from lrnn.rows import of_type
from lrnn.training import Weights, ever_saturated
from lrnn.validation import check_data


class AsNetwork:
    """The side of an autoencoder that is a network of spiking neurons."""

    rates: Rates
    encoders_: list[Floats]
    decoders_: list[Floats]
    inhibitory_encoders_: list[Floats] | None
    inhibitory_decoders_: list[Floats] | None

    @property
    def firing_rates_(self) -> list[Floats]:
        """Firing rates that the weights need of every layer's neurons."""
        return self._rates(least=0.0)

    def _rates(self, least: float) -> list[Floats]:
        weights, minus = self._effective_weights(), self._effective_inhibition()
        if self.rates == "unit":
            return [np.ones(len(w)) for w in weights] + [np.ones(weights[-1].shape[1])]
        return firing_rates(weights, minus, least=least)

    def to_network(self, least_rate: float = 1.0) -> RandomNeuralNetwork:
        """The random neural network whose steady state is this model's forward pass.

        With free rates no neuron fires more slowly than ``least_rate``, which is the paper's rate
        by default; one that need not fire so fast loses the surplus of its spikes. Lower values
        save spikes, but a simulation then takes long to learn the activation of neurons that
        hardly ever receive one.
        """
        check_is_fitted(self)
        return RandomNeuralNetwork.from_layers(
            self._effective_weights(),
            self._effective_inhibition(),
            rates=self.rates,
            least_rate=least_rate,
        )

    def arrivals(self, X: Any, least_rate: float = 1.0) -> Floats:
        """External arrival rates at every neuron of :meth:`to_network` that present X to it.

        ``least_rate`` must be that of the network.
        """
        check_is_fitted(self)
        inputs = check_data(self, X, reset=False)
        rates = self._rates(least_rate)
        arrivals = np.zeros((inputs.shape[0], sum(map(len, rates))))
        block = take_rows(inputs, slice(None))
        dense = block.toarray() if sparse.issparse(block) else to_numpy(block)
        arrivals[:, : inputs.shape[1]] = dense * rates[0]
        return arrivals

    def audit(self, X: Any = None) -> Audit:
        """Row sums and firing rates, layer by layer.

        For data X also saturated neurons, and where the error stands between the data's variance
        and the lowest that is possible (see :mod:`lrnn.bounds`).

        Examples
        --------
        >>> import numpy as np
        >>> from lrnn import LRNNAutoencoder
        >>> X = np.random.default_rng(0).random((50, 4))
        >>> model = LRNNAutoencoder((2,), rates="unit", random_state=0).fit(X)
        >>> model.audit(X).valid
        True
        """
        check_is_fitted(self)
        network, weights = self.to_network(), self._effective_weights()
        minus = self._effective_inhibition()
        if minus is not None:
            weights = [a + b for a, b in zip(weights, minus, strict=True)]
        if X is None:
            return audit(network, weights)
        inputs, own = self._together(check_data(self, X, reset=False))
        standing = stand(inputs, own, self.rates)
        return audit(network, weights, ever_saturated(inputs, own), standing)

    @property
    def _weights(self) -> Weights:
        minus = None
        if self.inhibitory_encoders_ is not None and self.inhibitory_decoders_ is not None:
            minus = (*self.inhibitory_encoders_, *self.inhibitory_decoders_)
        return Weights(tuple(self.encoders_), tuple(self.decoders_), minus)

    def _effective_weights(self) -> list[Floats]:
        weights = [to_numpy(w).astype(np.float64, copy=False) for w in self._weights.excitatory]
        # rows that sum to 1 in float32 may exceed it in float64
        return [adjust_rows(w) for w in weights] if self.rates == "unit" else weights

    def _effective_inhibition(self) -> list[Floats] | None:
        minus = self._weights.inhibitory
        return None if minus is None else [to_numpy(w).astype(np.float64) for w in minus]

    @property
    def _encoding(self) -> Sequence[Layer]:
        return self._weights.layers[: len(self.encoders_)]

    @property
    def _decoding(self) -> Sequence[Layer]:
        return self._weights.layers[len(self.encoders_) :]

    def _together(self, inputs: Any) -> tuple[Any, Weights]:
        """Rows and weights as arrays of one kind, and of one type."""
        weights = self._weights.on(backend_of(inputs))
        return of_type(inputs, weights.encoders[0].dtype), weights
