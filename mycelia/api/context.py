"""The settings of a session: how Cells run, where, and the seed of random numbers."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import Any

from mycelia.api.devices import get_current_device, set_device
from mycelia.api.settings import SETTINGS
from mycelia.checks import whole
from mycelia.eager import Tensor, default_generator
from mycelia.errors import ArgumentError
from mycelia.names import listening

GRAPH_MODE = 0  # a Cell is compiled when it is called
PYNATIVE_MODE = 1  # a Cell runs op by op

DEVICE = ("device_target", "device_id")
_context: dict[str, Any] = {name: setting.first for name, setting in SETTINGS.items()}


@listening
def set_context(**kwargs: Any) -> None:
    """Choose settings of the session; those not named stay. A setting that has no effect here says so, in one line.

    >>> set_context(mode=PYNATIVE_MODE, device_target="CPU")
    >>> get_context("mode") == PYNATIVE_MODE
    True
    """
    device = {name: kwargs[name] for name in DEVICE if name in kwargs}
    unknown = [name for name in kwargs if name not in SETTINGS and name not in DEVICE]
    if unknown:
        raise _no_setting(unknown[0])
    checked = {name: SETTINGS[name].checked(name, value) for name, value in kwargs.items() if name not in DEVICE}
    if device:
        here = get_current_device()
        set_device(device.get("device_target", here.device_target), device.get("device_id", 0))
    for name, value in checked.items():
        if SETTINGS[name].why and value != _context[name]:
            warnings.warn(f"{name}={value!r} has no effect: {SETTINGS[name].why}", UserWarning, stacklevel=3)
    _context.update(checked)
    _context.update({name: value for name, value in checked.get("jit_config", {}).items() if name in SETTINGS})


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """How deep calls may nest in a compiled function: the setting `max_call_depth`.

    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # it says what decides that here
    ...     set_recursion_limit(10000)
    >>> get_context("max_call_depth")
    10000
    """
    set_context(max_call_depth=whole("set_recursion_limit", "recursion_limit", recursion_limit, least=1))


def get_context(attr_key: str) -> Any:
    """One setting of the session.

    >>> get_context("device_target")
    'CPU'
    """
    if attr_key in DEVICE:
        return getattr(get_current_device(), attr_key)
    if attr_key not in _context:
        raise _no_setting(attr_key)
    return _context[attr_key]


def _no_setting(name: str) -> ArgumentError:
    near = get_close_matches(name, (*DEVICE, *SETTINGS), 1)
    acting = [*DEVICE, *[n for n, s in SETTINGS.items() if not s.why]]
    hint = f"did you mean {near[0]}?" if near else f"the settings that act are {', '.join(sorted(acting))}"
    return ArgumentError(f"there is no setting {name!r}", hint=hint)


_seed: int | None = None


@listening
def set_seed(seed: int) -> None:
    """Begin all random numbers of the session again, from a seed; `dataset.config.set_seed` is that of shuffles.

    >>> set_seed(1)
    >>> get_seed()
    1
    """
    global _seed
    default_generator.manual_seed(seed)
    _seed = seed


def get_seed() -> int | None:
    """The seed that was set, None if there was none.

    >>> set_seed(7)
    >>> get_seed()
    7
    """
    return _seed


@listening
def manual_seed(seed: int) -> Any:
    """Begin all random numbers of the session again, from a seed; the generator comes back.

    >>> manual_seed(3).initial_seed()
    3
    """
    set_seed(seed)
    return default_generator


def seed() -> int:
    """Begin all random numbers of the session again, from a seed that nobody can foresee, which comes back.

    >>> seed() == initial_seed()
    True
    """
    chosen = default_generator.seed()
    set_seed(chosen)
    return chosen


def initial_seed() -> int:
    """The seed that the random numbers of the session began from.

    >>> set_seed(4)
    >>> initial_seed()
    4
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the random numbers of the session are now, as a tensor that can be saved.

    >>> set_seed(4)
    >>> get_rng_state().tolist()
    [4, 0, 0, 0]
    """
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """Go on from where the random numbers of a session were.

    >>> set_rng_state(Tensor([4, 0, 1, 0]))
    >>> get_rng_state().tolist()
    [4, 0, 1, 0]
    """
    default_generator.set_state(state)
