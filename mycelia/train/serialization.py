"""Saving and loading parameters: as safetensors, which every framework reads, or as MindSpore's own checkpoints."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.names import listening
from mycelia.nn import Cell
from mycelia.train import ckpt
from mycelia.types import Array

FORMATS = ("ckpt", "safetensors")
Name = str | os.PathLike[str]


@listening
def save_checkpoint(
    save_obj: Cell | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    ckpt_file_name: Name,
    append_dict: Mapping[str, Any] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = True,
    format: str = "ckpt",
) -> None:
    """Save the parameters of a network, or tensors by name; `append_dict` adds some, `choice_func` keeps some.

    A suffix says the format too: `.ckpt`, as MindSpore reads it, or `.safetensors`. A checksum goes with it, by which
    a file that was damaged is recognised when it is loaded, unless `crc_check` is false.

    >>> import tempfile
    >>> from mycelia.nn import Dense
    >>> path = Path(tempfile.mkdtemp()) / "net.safetensors"
    >>> save_checkpoint(Dense(2, 1), path)
    >>> sorted(load_checkpoint(path))
    ['bias', 'weight']
    """
    path, kind = _place(ckpt_file_name, format)
    named = _named(save_obj) | dict(append_dict or {})
    arrays = {name: _array(name, value) for name, value in named.items() if choice_func is None or choice_func(name)}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")  # so that an old file is replaced whole, or not at all
    try:
        if kind == "ckpt":
            ckpt.write(beside, arrays, crc_check)
        else:
            save_file(arrays, beside, {"format": "ms"} | ({"crc_num": str(_checksum(arrays))} if crc_check else {}))
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


@listening
def load_checkpoint(
    ckpt_file_name: Name,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | Iterable[str] | None = None,
    specify_prefix: str | Iterable[str] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    format: str = "ckpt",
) -> dict[str, Parameter]:
    """The parameters in a file, by name, which also go into `net` if one is given.

    Names that begin with `filter_prefix` are left out; with `specify_prefix` only names that begin with it stay.

    >>> import tempfile
    >>> from mycelia.nn import Dense
    >>> path = Path(tempfile.mkdtemp()) / "net.ckpt"
    >>> save_checkpoint(Dense(2, 1, weight_init="ones"), path)
    >>> load_checkpoint(path)["weight"].asnumpy()
    array([[1., 1.]], dtype=float32)
    """
    path, kind = _place(ckpt_file_name, format)
    if not path.is_file():
        raise ArgumentError(f"there is no checkpoint {path}", hint="check the name, its suffix and the folder")
    out, only = _prefixes(filter_prefix), _prefixes(specify_prefix)

    def wanted(name: str) -> bool:
        return (
            not name.startswith(out)
            and (not only or name.startswith(only))
            and (choice_func is None or choice_func(name))
        )

    found = {name: Parameter(array, name=name) for name, array in _read(path, kind).items() if wanted(name)}
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


@listening
def load_param_into_net(
    net: Cell, parameter_dict: Mapping[str, Any], strict_load: bool = False
) -> tuple[list[str], list[str]]:
    """Give the parameters of a network these numbers; the names that found nothing come back, on either side.

    With `strict_load` element types must be equal, too.

    >>> from mycelia.nn import Dense
    >>> net = Dense(1, 1)
    >>> load_param_into_net(net, {"weight": Parameter([[3.0]]), "other": Parameter([1.0])})
    (['bias'], ['other'])
    >>> net.weight.asnumpy()
    array([[3.]], dtype=float32)
    """
    if not isinstance(net, Cell) or not isinstance(parameter_dict, Mapping):
        raise ArgumentError(
            "parameters by name go into a Cell",
            given={"net": type(net).__name__, "from": type(parameter_dict).__name__},
            hint="for example load_param_into_net(net, load_checkpoint(path))",
        )
    missing = []
    for name, parameter in net.parameters_dict().items():
        if name not in parameter_dict:
            missing.append(name)
            continue
        new = parameter_dict[name]
        if not isinstance(new, Tensor):
            raise ArgumentError(f"{name} is to get a {type(new).__name__}, not a Parameter")
        if new.shape != parameter.shape:
            raise ShapeError(
                f"parameter {name} has shape {parameter.shape}, in the checkpoint {new.shape}",
                hint="build the network with the sizes it was saved with",
            )
        if new.dtype is not parameter.dtype and (strict_load or new.dtype.is_float != parameter.dtype.is_float):
            raise DTypeError(
                f"parameter {name} holds {parameter.dtype!r}, in the checkpoint {new.dtype!r}",
                hint="cast one of them" + (", or load with strict_load=False" if strict_load else ""),
            )
        parameter.set_data(Tensor(new.numbers()))
    known = net.parameters_dict()
    return missing, [name for name in parameter_dict if name not in known]


def _place(name: Name, format: str) -> tuple[Path, str]:
    """Where the file is, and its format: what the suffix says, else what is asked for."""
    if format not in FORMATS:
        raise ArgumentError(f"there is no checkpoint format {format!r}", hint=f"choose one of {', '.join(FORMATS)}")
    path = Path(name)
    if path.suffix[1:] in FORMATS:
        return path, path.suffix[1:]
    return path.with_name(f"{path.name}.{format}"), format


def _named(obj: Any) -> dict[str, Any]:
    """What is to be saved, by name."""
    if isinstance(obj, Cell):
        return dict(obj.parameters_dict())
    if isinstance(obj, Mapping):
        return dict(obj)
    if isinstance(obj, list | tuple) and all(
        isinstance(item, Mapping) and {"name", "data"} <= set(item) for item in obj
    ):
        return {item["name"]: item["data"] for item in obj}
    raise ArgumentError(
        f"a {type(obj).__name__} cannot be saved as a checkpoint",
        hint='give a Cell, a dictionary of tensors, or a list of {"name": ..., "data": ...}',
    )


def _array(name: str, value: Any) -> Array:
    if isinstance(value, Tensor | int | float | bool):
        return value.asnumpy() if isinstance(value, Tensor) else Tensor(value).asnumpy()
    raise ArgumentError(f"{name} is a {type(value).__name__}, which a checkpoint cannot hold", hint="save tensors")


def _checksum(arrays: Mapping[str, Array]) -> int:
    """The CRC-32 of all names and contents, as MindSpore computes it."""
    total = 0
    for name in sorted(arrays):
        total = crc32(arrays[name].tobytes(), crc32(name.encode(), total))
    return total


def _prefixes(given: str | Iterable[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _read(path: Path, kind: str) -> dict[str, Array]:
    if kind == "ckpt":
        return ckpt.read(path)
    try:
        with safe_open(path, "numpy") as file:
            given = (file.metadata() or {}).get("crc_num")
        arrays = dict(load_file(path))
        if given is not None and given != str(_checksum(arrays)):
            raise SafetensorError("its checksum is wrong: it was damaged after it was written")
        return arrays
    except SafetensorError as reason:
        raise ArgumentError(
            f"{path.name} cannot be read: {reason}", hint="it is cut off, or of another format"
        ) from None
