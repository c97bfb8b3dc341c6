"""All that a training stands on, in one file: weights, optimizer, loss scale, random numbers, data, callbacks.

The file is a checkpoint of MindSpore's format with a checksum. Parameters are under their own names, so that it can be
loaded like any other; the rest is under `STATE` as JSON, and its arrays beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mycelia.api import get_rng_state, set_rng_state
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.nn import Cell
from mycelia.train.ckpt import read as read_checkpoint
from mycelia.train.serialization import load_param_into_net, write_whole
from mycelia.types import Array

STATE = "mycelia.state"
ARRAY = "mycelia.array"


def save_training(path: str | os.PathLike[str], network: Cell, **state: Any) -> None:
    """Save a training whole: a cell with all parameters (network, optimizer, loss scale), random numbers, and `state`.

    That is plain data with arrays in it, or things with a `state_dict`, such as the iterator of a dataset, or an
    optimizer that is no part of the cell.

    The file is replaced as a whole or not at all.

    >>> import tempfile
    >>> from mycelia.nn import Dense
    >>> path = Path(tempfile.mkdtemp()) / "run.ckpt"
    >>> save_training(path, Dense(2, 1), epoch=3, best=0.5)
    >>> load_training(path, Dense(2, 1))
    {'epoch': 3, 'best': 0.5}
    """
    if not isinstance(network, Cell):
        raise ArgumentError(f"save_training takes a Cell, not a {type(network).__name__}", hint="and a path before it")
    arrays: dict[str, Array] = {}
    random = get_rng_state()
    told = _plain({**state, "random": random.asnumpy() if isinstance(random, Tensor) else random}, arrays)
    named = {name: p.asnumpy() for name, p in network.parameters_dict().items()}
    named |= {f"{ARRAY}.{name}": array for name, array in arrays.items()}
    named[STATE] = np.frombuffer(json.dumps(told).encode(), np.uint8)
    write_whole(Path(path), named, "ckpt", True)


def load_training(path: str | os.PathLike[str], network: Cell, **parts: Any) -> dict[str, Any]:
    """Take up a training that `save_training` saved: parameters and random numbers are as they were.

    The `state` that was saved comes back.

    `parts` are things with a `load_state_dict`, by the name under which their `state_dict` was saved.

    >>> import tempfile
    >>> from mycelia.nn import Dense
    >>> load_training(Path(tempfile.mkdtemp()) / "none.ckpt", Dense(2, 1))
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: there is no training to take up at ...
    """
    place = Path(path)
    if not place.is_file():
        raise ArgumentError(f"there is no training to take up at {place}")
    found = read_checkpoint(place, must_check=True)
    if STATE not in found:
        raise ArgumentError(f"{place.name} holds parameters only", hint="load it with load_checkpoint")
    arrays = {n.removeprefix(f"{ARRAY}."): a for n, a in found.items() if n.startswith(f"{ARRAY}.")}
    state = _state(place, found[STATE], arrays)
    weights = {n: Tensor(a) for n, a in found.items() if n != STATE and not n.startswith(f"{ARRAY}.")}
    untold = [name for name in parts if name not in state]
    if untold:
        raise ArgumentError(f"{place.name} does not tell of {', '.join(untold)}")
    known = network.parameters_dict()
    missing, unknown = [n for n in known if n not in weights], [n for n in weights if n not in known]
    if missing or unknown:
        raise ArgumentError(
            f"{place.name} was saved by another training", given={"it lacks": missing, "it has more": unknown},
            hint="build network, loss and optimizer as they were",
        )  # fmt: skip
    load_param_into_net(network, weights, strict_load=True)
    for name, part in parts.items():
        own = state[name]
        if isinstance(part, Cell) and isinstance(own, dict):  # an optimizer, or a second network
            own = {key: Tensor(value) if isinstance(value, np.ndarray) else value for key, value in own.items()}
        part.load_state_dict(own)
    random = state.pop("random")
    set_rng_state(Tensor(random) if isinstance(random, np.ndarray) else random)
    return state


def _state(place: Path, told: Array, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """What a file tells beside the parameters."""
    try:
        state = _restored(json.loads(told.tobytes().decode()), arrays)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ArgumentError(f"{place.name} tells of its training in no way that can be read: {error!r}") from None
    if not isinstance(state, dict) or "random" not in state:
        raise ArgumentError(f"{place.name} does not tell of the random numbers of its training")
    return state


def _plain(value: Any, arrays: dict[str, Array]) -> Any:
    """Data that JSON can hold; arrays are put beside it."""
    if hasattr(value, "state_dict"):
        return _plain(value.state_dict(), arrays)
    if isinstance(value, Mapping):
        if not all(isinstance(k, str) for k in value):
            raise ArgumentError("a state is named by words", given={"state": value})
        return {k: _plain(v, arrays) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v, arrays) for v in value]
    if isinstance(value, Tensor | np.ndarray):
        name = str(len(arrays))
        arrays[name] = value.asnumpy() if isinstance(value, Tensor) else value
        return {ARRAY: name}
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise ArgumentError(f"a {type(value).__name__} is no plain data", hint="give it a state_dict")


def _restored(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, dict):
        return arrays[value[ARRAY]] if set(value) == {ARRAY} else {k: _restored(v, arrays) for k, v in value.items()}
    return [_restored(v, arrays) for v in value] if isinstance(value, list) else value
