"""What all tests share: examples that repeat, faults that show, threads that do not spin while others compute."""

import os

import pytest
from hypothesis import settings

# a mistake of our own that a slower way makes good is an error here
os.environ.setdefault("MYCELIA_FAULTS", "raise")

# libgomp reads this once, when it is loaded
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

settings.register_profile("same examples on every machine", derandomize=True, deadline=None, database=None)
settings.load_profile("same examples on every machine")

import mycelia  # noqa: E402, F401  # now, or pytest would load the first module that it collects for doctests twice


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is said about mistakes anew")
