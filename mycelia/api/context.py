"""The settings of a session: how Cells run, where, and the seed of random numbers."""

from __future__ import annotations

from typing import Any

from mycelia.api.devices import get_current_device, set_device
from mycelia.eager import Tensor, default_generator
from mycelia.errors import ArgumentError
from mycelia.names import listening

GRAPH_MODE = 0  # a Cell is compiled when it is called
PYNATIVE_MODE = 1  # a Cell runs op by op

DEVICE = ("device_target", "device_id")
SETTINGS = ("mode", *DEVICE, "deterministic", "jit_syntax_level")
_CHOICES: dict[str, tuple[Any, ...]] = {
    "mode": (GRAPH_MODE, PYNATIVE_MODE),
    "deterministic": ("ON",),  # it always is
    "jit_syntax_level": (2,),  # LAX: what cannot be compiled runs in Python; `jit(fullgraph=True)` asks for the other
}
_context: dict[str, Any] = {
    "mode": PYNATIVE_MODE,
    "deterministic": "ON",
    "jit_syntax_level": 2,
}


@listening
def set_context(**settings: Any) -> None:
    """Choose settings of the session; those not named stay.

    >>> set_context(mode=PYNATIVE_MODE, device_target="CPU")
    >>> get_context("mode") == PYNATIVE_MODE
    True
    """
    device = {name: settings.pop(name) for name in DEVICE if name in settings}
    for name, value in settings.items():
        if name not in _CHOICES:
            raise ArgumentError(f"there is no setting {name!r}", hint=f"the settings are {', '.join(SETTINGS)}")
        if value not in _CHOICES[name]:
            raise ArgumentError(
                f"{name} cannot be {value!r}", hint=f"choose one of {', '.join(map(repr, _CHOICES[name]))}"
            )
    if device:
        here = get_current_device()
        set_device(device.get("device_target", here.device_target), device.get("device_id", 0))
    _context.update(settings)


def get_context(attr_key: str) -> Any:
    """One setting of the session.

    >>> get_context("device_target")
    'CPU'
    """
    if attr_key in DEVICE:
        return getattr(get_current_device(), attr_key)
    if attr_key not in _context:
        raise ArgumentError(f"there is no setting {attr_key!r}", hint=f"the settings are {', '.join(SETTINGS)}")
    return _context[attr_key]


_seed: int | None = None


@listening
def set_seed(seed: int) -> None:
    """Begin all random numbers of the session again, from a seed.

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
