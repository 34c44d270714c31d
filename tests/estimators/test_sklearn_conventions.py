"""scikit-learn's own checks, and the tools that users put around an estimator."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from lrnn import LRNNAutoencoder, LRNNClassifier, LRNNOutlierDetector
from naming import naming


def refusals(estimator):
    """What trains on minibatches takes no weights of rows, and says so."""
    if estimator.solver == "gram" and estimator.rates == "free" and not estimator.fine_tune:
        return {}
    return {
        f"check_{name}": "sample_weight needs the gram solver alone"
        for name in (
            "all_zero_sample_weights_error",
            "sample_weight_equivalence_on_dense_data",
            "sample_weight_equivalence_on_sparse_data",
            "sample_weights_list",
            "sample_weights_not_an_array",
            "sample_weights_not_overwritten",
            "sample_weights_pandas_series",
            "sample_weights_shape",
        )
    }


@parametrize_with_checks(
    [
        LRNNAutoencoder(),
        *(
            LRNNAutoencoder(max_iter=10, **settings)  # enough for what the checks ask
            for settings in (
                {"hidden_layer_sizes": 2},
                {"hidden_layer_sizes": (3, 2), "rates": "unit"},
                {"hidden_layer_sizes": (3, 2), "stacking": "joint"},
                {"hidden_layer_sizes": (3, 2), "fine_tune": 2},
                {"hidden_layer_sizes": 2, "solver": "minibatch"},
                {"hidden_layer_sizes": 2, "missing": "allow"},
                {"hidden_layer_sizes": 2, "missing": "unstored"},
                {"hidden_layer_sizes": (3, 2), "solver": "minibatch", "rates": "unit"},
            )
        ),
    ],
    expected_failed_checks=refusals,
)
@pytest.mark.filterwarnings("ignore::lrnn.rows.checks.SaturationWarning")
@pytest.mark.filterwarnings("ignore:.*missing=.unstored.")
def test_scikit_learns_checks_pass(estimator, check):
    check(estimator)


@parametrize_with_checks([LRNNClassifier(max_iter=40)])  # enough for what the checks ask
@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
@pytest.mark.filterwarnings("ignore:.*Scaling.fit")
def test_scikit_learns_checks_of_classifiers_pass(estimator, check):
    check(estimator)


@parametrize_with_checks([LRNNOutlierDetector()])
@pytest.mark.filterwarnings("ignore::lrnn.tables.messages.SettingWarning")  # few rows
@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")  # of sparse rows
def test_scikit_learns_checks_of_outlier_detectors_pass(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([LRNNClassifier()])
@pytest.mark.filterwarnings("ignore::lrnn.tables.ledger.RangeWarning")
@pytest.mark.filterwarnings("ignore:.*Scaling.fit")
def test_scikit_learns_checks_of_the_default_classifier_pass(estimator, check):
    check(estimator)


def test_it_works_in_a_pipeline_and_a_grid_search(digits):
    target = np.arange(len(digits)) % 2
    pipeline = make_pipeline(MinMaxScaler(), LRNNAutoencoder(8, max_iter=3, random_state=0))
    pipeline.set_params(lrnnautoencoder__hidden_layer_sizes=(6,))
    assert pipeline.fit_transform(digits).shape == (len(digits), 6)

    search = GridSearchCV(
        LRNNAutoencoder(max_iter=3, random_state=0),
        {"hidden_layer_sizes": [(2,), (12,)]},
        cv=2,
    ).fit(digits[:400])
    assert search.best_params_ == {"hidden_layer_sizes": (12,)}  # more code neurons, less error
    assert search.best_score_ < 0

    classifier = make_pipeline(LRNNAutoencoder(8, max_iter=3), LogisticRegression(max_iter=500))
    assert classifier.fit(digits[:400], target[:400]).predict(digits[:5]).shape == (5,)


def test_a_clone_has_the_parameters_and_not_the_weights(digits):
    model = LRNNAutoencoder((4, 2), rates="unit", max_iter=2, random_state=3).fit(digits[:100])
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "encoders_")


def test_output_can_be_pandas_with_names(digits):
    frame = pd.DataFrame(digits[:200], columns=[f"pixel{i}" for i in range(64)])
    model = LRNNAutoencoder(3, max_iter=2, random_state=0).set_output(transform="pandas")
    codes = model.fit_transform(frame)
    assert list(codes.columns) == [f"lrnnautoencoder{i}" for i in range(3)]
    assert list(model.get_feature_names_out()) == list(codes.columns)
    assert list(model.feature_names_in_) == list(frame.columns)
    pd.testing.assert_frame_equal(model.transform(frame), codes)


def test_other_column_names_than_in_fit_are_refused(digits):
    frame = pd.DataFrame(digits[:50], columns=[f"pixel{i}" for i in range(64)])
    model = LRNNAutoencoder(3, max_iter=2).fit(frame)
    with pytest.raises(ValueError, match=naming("feature names", "other", "pixel7")):
        model.transform(frame.rename(columns={"pixel7": "other"}))


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_sparse_data_give_the_same_model_as_dense(digits, container):
    dense = LRNNAutoencoder((6, 3), max_iter=3, random_state=0).fit(digits)
    thin = LRNNAutoencoder((6, 3), max_iter=3, random_state=0).fit(container(digits))
    for a, b in zip(
        dense.encoders_ + dense.decoders_, thin.encoders_ + thin.decoders_, strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert thin.reconstruction_err_ == pytest.approx(dense.reconstruction_err_, rel=1e-9)
    codes = thin.transform(container(digits))
    assert isinstance(codes, np.ndarray)
    np.testing.assert_allclose(codes, dense.transform(digits), atol=1e-12)
    np.testing.assert_allclose(thin.arrivals(container(digits)), dense.arrivals(digits), atol=1e-9)


@pytest.mark.skipif(
    not hasattr(sklearn, "callback") and sklearn.__version__ < "1.9",
    reason="this scikit-learn has no callbacks",
)
def test_scikit_learns_callbacks_see_every_pass_and_may_stop_it(digits):
    class Stopper:
        passes, errors, torn_down = 0, [], False

        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            self.torn_down = True

        def on_fit_task_begin(self, estimator, context):
            self.passes += context.task_name == "pass"

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            if context.task_name == "pass":
                self.errors.append(metadata["error"])
            return self.passes == 3

    stopper = Stopper()
    model = LRNNAutoencoder(5, random_state=0, tol=0).set_callbacks(stopper).fit(digits)
    assert (stopper.passes, model.n_iter_, model.history_[0].stopped) == (3, 3, "callback")
    assert stopper.torn_down
    assert stopper.errors == sorted(stopper.errors, reverse=True)
