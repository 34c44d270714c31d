"""What classes are written labels?"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lrnn.tables.labels import as_classes, class_numbers

WAYS = ("{}", "{}.0", "{:.18e}", "{:.1f}", "+{}")


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["1", "2.0", "-3"], [1, 2, -3]),
        (["1.000000000000000000e+00", "2.000000000000000000e+01"], [1, 20]),
        (["1", "02"], ["1", "02"]),
        (["1", "1.5", "1.50", "2.0"], ["1", "1.5", "1.5", "2"]),
        (["1e3", "2f4"], ["1e3", "2f4"]),  # no numbers, and not written as such
        (["3.0", "x"], ["3.0", "x"]),
        (["1_0", "2"], ["1_0", "2"]),
        (["inf", "1"], ["inf", "1"]),
        (["9" * 30, "1"], ["9" * 30, "1"]),  # a number that no integer of NumPy holds
        ([str(2**53 + 1), str(2**53)], [2**53 + 1, 2**53]),  # and no float does
        (np.array([True, False]), [1, 0]),
        (np.array([2.0, 3.0]), [2, 3]),
        (np.array([2.5, 3.0]), ["2.5", "3"]),
    ],
)
def test_classes_are_whole_numbers_if_all_labels_are_else_text(labels, classes):
    assert as_classes(labels).tolist() == classes


@given(st.lists(st.tuples(st.integers(0, 10**6), st.sampled_from(WAYS)), min_size=1))
def test_classes_of_numbers_do_not_depend_on_how_they_are_written(pairs):
    numbers = [number for number, _ in pairs]
    written = [way.format(number) for number, way in pairs]
    np.testing.assert_array_equal(as_classes(written), numbers)
    classes = np.unique(numbers)
    np.testing.assert_array_equal(classes[class_numbers(written, classes)], numbers)


def test_a_class_of_a_model_is_the_one_that_is_written_so_or_as_the_shortest_number():
    text = np.array(["01", "02", "1", "x", "None"])
    labels = ["1", "01", "1.0", "2", "2.00", "001", "X", "x", "y"]
    assert class_numbers(labels, text).tolist() == [2, 0, 2, -1, -1, -1, -1, 3, -1]
    assert class_numbers(["0.50", 1, "1.0"], np.array([0.5, 1.0])).tolist() == [0, 1, 1]
    assert class_numbers([3.0, "3", "03", 4], np.array(["3", "4"])).tolist() == [0, 0, -1, 1]
    assert class_numbers([None, np.nan, "3"], np.array([3])).tolist() == [-2, -2, 0]
    truths = np.array([False, True])
    assert class_numbers(["TRUE", "false", np.True_, "1"], truths).tolist() == [1, 0, 1, -1]
