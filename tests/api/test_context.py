"""The settings of a session are checked when they are made, and the seed begins all random numbers again."""

import pytest

import mycelia.ops as ops
from mycelia.api import PYNATIVE_MODE, get_context, get_seed, manual_seed, set_context, set_seed
from mycelia.errors import ArgumentError


def test_settings_are_kept():
    set_context(mode=PYNATIVE_MODE, device_target="CPU")
    assert (get_context("mode"), get_context("device_target")) == (PYNATIVE_MODE, "CPU")


def test_settings_that_do_not_exist_say_which_do():
    with pytest.raises(ArgumentError, match=r"(?s)no setting 'modus'.*the settings are mode, device_target"):
        set_context(modus=1)
    with pytest.raises(ArgumentError, match=r"(?s)device_target cannot be 'Ascend'.*'CPU'"):
        set_context(device_target="Ascend")
    with pytest.raises(ArgumentError, match="no setting"):
        get_context("modus")


def test_a_wrong_setting_changes_none():
    before = get_context("mode")
    with pytest.raises(ArgumentError):
        set_context(mode=1 - before, device_target="Ascend")
    assert get_context("mode") == before


def test_the_seed_of_the_session():
    set_seed(11)
    first = ops.rand(3).tolist()
    assert manual_seed(11).initial_seed() == get_seed() == 11
    assert ops.rand(3).tolist() == first
    with pytest.raises(ArgumentError, match="a seed is a whole number"):
        set_seed(-1)
