# SPDX-License-Identifier: Apache-2.0
"""Arrays by their buffers are those that pyarrow's own constructors make."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from leeward._buffers import as_numpy, numbers, repeated, texts, texts_among

KINDS = ["i1", "u1", "i4", "i8", "u8", "f4", "f8", "?"]


@given(st.data(), st.sampled_from(KINDS), st.integers(0, 70))
def test_numbers_there_and_back(data: st.DataObject, kind: str, n: int) -> None:
    values = data.draw(arrays(kind, n))
    missing = data.draw(arrays(bool, n))
    assert numbers(values, missing).equals(pa.array(values, mask=missing)) or np.isnan(values).any()
    assert numbers(values, missing).is_null().equals(pa.array(missing))
    assert np.array_equal(numbers(values).to_numpy(zero_copy_only=False), values, equal_nan=values.dtype.kind == "f")
    start = data.draw(st.integers(0, n))
    for part in (pa.array(values)[start:], pa.chunked_array([pa.array(values)[:start], pa.array(values)[start:]])):
        back = as_numpy(part)
        assert back.dtype == values.dtype
        assert np.array_equal(back, part.to_numpy(zero_copy_only=False), equal_nan=values.dtype.kind == "f")


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=5), max_size=20))
def test_texts(values: list[str]) -> None:
    assert texts(values).equals(pa.array(values, pa.string()))
    assert texts(iter(values), pa.large_string()).equals(pa.array(values, pa.large_string()))


@given(st.text(st.characters(codec="utf-8"), max_size=5), st.integers(0, 20))
def test_one_text_many_times(text: str, size: int) -> None:
    assert repeated(text, size).equals(pa.array([text] * size, pa.string()))


@pytest.mark.parametrize("values", [pa.array([1, None]), pa.array(["a"]), pa.array([0], pa.date32()), pa.array([None])])
def test_what_is_no_number_is_refused(values: pa.Array) -> None:
    with pytest.raises(ValueError, match="numbers"):
        as_numpy(values)


def test_a_column_that_is_not_laid_out_in_a_row() -> None:
    table = np.arange(12).reshape(4, 3)
    assert numbers(table[:, 1]).to_pylist() == [1, 4, 7, 10]


@pytest.mark.parametrize("values", [[], ["b"], ["a", "ccc", "b", "a", "b"]])
def test_texts_of_a_few(values: list[str]) -> None:
    assert texts_among(np.array(values, np.str_), ["a", "b", "ccc"]).equals(pa.array(values, pa.string()))
