"""Numbers far from all others of their column, which leave nothing of them: told, of any size."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from lrnn import Scaling
from lrnn.tables.survey import Facts, far_off
from naming import naming

LADDER = [
    sign * 10.0**power for power in (3, 4, 6, 7, 10, 16, 30, 100, 200, 300, 307) for sign in (1, -1)
]
NEAR = [1.0, 5.0, 20.0, -30.0, 99.0]


@pytest.fixture(scope="module")
def wine():
    return load_wine().data


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("value", [*LADDER, 9999.0, -999.0, -5000.0, 5_000_000.0, 1.2345678e9])
def test_one_cell_that_flattens_its_column_is_told(call, wine, tmp_path, value):
    X = wine.copy()
    X[50, 2] = value
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(13)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    for held in (frame, X):
        with pytest.warns(
            UserWarning, match=naming(("column 2", "column 'x2'"), f"{value:g}", 1.36, 3.23)
        ):
            Scaling.fit(held, "minmax")
    fit = ("fit", "t.csv", "--max-iter", "2", "--hidden", "2", "--json")
    done = call(*fit, cwd=tmp_path)
    assert done.returncode == 0
    assert done.names("column 3", "x2", f"{value:g}", 1.36, 3.23, "--missing median")


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("value", LADDER)
def test_the_command_that_describe_suggests_takes_it_for_missing(call, wine, tmp_path, value):
    X = wine[:, :4].copy()
    X[50, 2] = value
    pd.DataFrame(X, columns=list("abcd")).to_csv(tmp_path / "t.csv", index=False)
    told = json.loads(call("data", "describe", "t.csv", "--json", cwd=tmp_path).stdout)
    assert told["columns"][2]["option"] == "na"
    again = call("data", "describe", "t.csv", "--na", told["columns"][2]["why"], "--json",
                 cwd=tmp_path)  # fmt: skip
    column = json.loads(again.stdout)["columns"][2]
    assert (column["missing"], column["low"], column["high"]) == (1, 1.36, 3.23)


@pytest.mark.parametrize("value", NEAR)
def test_what_is_not_far_is_not_told(wine, value):
    X = wine.copy()
    X[50, 2] = value
    Scaling.fit(X, "minmax")  # a warning is an error


def test_several_such_cells_on_both_sides_are_counted(wine):
    ash = wine[:, 2].copy()
    ash[[3, 50, 90]] = 5e6, 5.1e6, -1e300
    found = far_off(ash)
    assert (found.value, found.count, found.others) == (-1e300, 3, (1.36, 3.23))


def test_a_column_that_is_zero_but_for_some_cells_is_no_such_case():
    """As a pixel at the edge of images."""
    pixels = np.zeros(1_000)
    pixels[[5, 70]] = 1, 255
    assert far_off(pixels) is None
    pixels[[5, 70]] = 1, 1e12
    assert far_off(pixels).value == 1e12
    assert far_off(np.r_[np.full(50, 3.0), 1e300]) is None  # nothing of a constant is lost


def test_it_is_found_where_only_some_rows_are_kept(wine):
    facts = Facts("ash", most=32)
    cells = np.tile(wine[:, 2], 20)
    cells[1_001] = 1e40
    for first in range(0, len(cells), 100):
        facts.see(cells[first : first + 100], first)
    assert facts.sampled > 1
    assert facts.far.value == 1e40


@given(st.lists(st.floats(-1e300, 1e300), min_size=5, max_size=60))
def test_whatever_is_told_is_so(numbers):
    found = far_off(np.array(numbers))
    if found is not None:
        low, high = found.others
        away = max(low - found.value, found.value - high)
        assert away > 100 * (1 - 1e-9) * (high - low) > 0
        assert sum(low <= number <= high for number in numbers) == len(numbers) - found.count


@pytest.mark.filterwarnings("error")
def test_natural_columns_are_not_told():
    rng = np.random.default_rng(0)
    for cells in (rng.lognormal(0, 2, 3_000), rng.standard_cauchy(60), rng.poisson(0.1, 2_000)):
        Scaling.fit(cells[:, None].repeat(2, axis=1), "minmax")
