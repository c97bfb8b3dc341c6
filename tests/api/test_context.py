"""The settings of a session are checked when they are made, and the seed begins all random numbers again."""

import pytest

import mycelia.ops as ops
from mycelia.api import PYNATIVE_MODE, get_context, get_seed, initial_seed, manual_seed, seed, set_context, set_seed
from mycelia.api.context import _context
from mycelia.api.settings import SETTINGS
from mycelia.errors import ArgumentError, CallError


def test_settings_are_kept():
    set_context(mode=PYNATIVE_MODE, device_target="CPU")
    assert (get_context("mode"), get_context("device_target")) == (PYNATIVE_MODE, "CPU")


def test_settings_that_do_not_exist_say_which_do():
    with pytest.raises(ArgumentError, match=r"(?s)no setting 'modus'.*did you mean mode\?"):
        set_context(modus=1)
    with pytest.raises(ArgumentError, match="the settings that act are device_id, device_target, mode"):
        set_context(xyz=1)
    with pytest.raises(ArgumentError, match=r"(?s)device_target cannot be 'Ascend'.*'CPU'"):
        set_context(device_target="Ascend")
    with pytest.raises(ArgumentError, match="no setting"):
        get_context("modus")


def test_a_wrong_setting_changes_none():
    before = get_context("mode")
    with pytest.raises(ArgumentError):
        set_context(mode=1 - before, device_target="Ascend")
    assert get_context("mode") == before


@pytest.mark.parametrize("name", [n for n, s in SETTINGS.items() if s.why])
def test_a_setting_that_has_no_effect_says_so_in_one_line_and_is_remembered(name, monkeypatch):
    setting = SETTINGS[name]
    monkeypatch.setitem(_context, name, setting.first)
    kinds = setting.accepts if isinstance(setting.accepts, tuple) else (setting.accepts,)
    values = {bool: not setting.first, str: "1", int: 7, dict: {"x": 1}}
    other = values[kinds[0]] if isinstance(kinds[0], type) else next(v for v in reversed(kinds) if v != setting.first)
    with pytest.warns(UserWarning, match=f"^{name}=.* has no effect: [^\n]*$"):
        set_context(**{name: other})
    assert get_context(name) == setting.to(other)
    set_context(**{name: other})  # said already
    with pytest.raises((ArgumentError, CallError), match=f"{name} cannot be"):
        set_context(**{name: 1.5})


def test_the_seed_of_the_session():
    set_seed(11)
    first = ops.rand(3).tolist()
    assert manual_seed(11).initial_seed() == get_seed() == 11
    assert ops.rand(3).tolist() == first
    with pytest.raises(ArgumentError, match="a seed is a whole number"):
        set_seed(-1)


def test_a_seed_that_nobody_foresees_is_that_of_the_session():
    set_seed(3)
    first = ops.rand(3).tolist()
    chosen = seed()
    assert chosen == get_seed() == initial_seed() != 3
    drawn = ops.rand(3).tolist()
    assert drawn != first
    set_seed(chosen)
    assert ops.rand(3).tolist() == drawn
    assert seed() != chosen
