"""Whole numbers that are no longer exact as float64 keep fingerprints of their own."""

import pandas as pd
import pytest

from mlaut.files_io.tables.fingerprints import fingerprint


def of(*values, dtype="int64"):
    return fingerprint(pd.DataFrame({"a": pd.Series(values, dtype=dtype)}))


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_of_more_than_53_bits_are_told_apart(sign):
    last = sign * 2**53
    assert of(last) == of(last, dtype="float64")
    assert of(last) != of(last + sign)  # as float64 they are the same
    assert of(2 * last) != of(2 * last + sign)
    assert of(last + sign) == of(last + sign, dtype="Int64")
    assert of(1, last + sign) != of(1, last)


def test_large_numbers_without_sign_are_told_apart():
    assert of(2**64 - 1, dtype="uint64") != of(2**64 - 2, dtype="uint64")
    assert of(2**63 - 1) == of(2**63 - 1, dtype="uint64")
    assert of(2**53 + 1) == of(2**53 + 1, dtype="uint64")
