"""Saving and loading parameters: as safetensors, which every framework reads, or as MindSpore's own checkpoints."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save_file

from mycelia import checks
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.names import listening, missing_in
from mycelia.nn import Cell, Optimizer
from mycelia.plainfiles import content_of
from mycelia.train import ckpt
from mycelia.train.background import SAVING
from mycelia.train.encryption import check_key, encrypted
from mycelia.types import DTYPES, Array, bfloat16, float16, float32, float64, int8, int16, int32, int64

FORMATS = ("ckpt", "safetensors")
CONVERT = ({float16, bfloat16, float32, float64}, {int8, int16, int32, int64})
"""Element types of which one becomes another when a network takes parameters."""
SPREAD = "it is about networks that are spread over processes: leave it out"
SHOWN = 4  # checkpoints that are named in the place of a missing one
Name = str | os.PathLike[str]


@listening
def save_checkpoint(
    save_obj: Cell | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    ckpt_file_name: Name,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: Mapping[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = True,
    format: str = "ckpt",
) -> None:
    """Save the parameters of a network, or tensors by name; `append_dict` adds some, `choice_func` keeps some.

    Beside tensors, numbers and, in a `.ckpt`, texts can be saved.

    A suffix says the format too: `.ckpt`, as MindSpore reads it, or `.safetensors`. A checksum goes with it, by which
    a file that was damaged is recognised when it is loaded, unless `crc_check` is false. With `enc_key` a `.ckpt` is
    encrypted. With `async_save` (True, "thread" or "process") a thread writes the file, which holds the numbers of this
    moment; `async_ckpt_thread_status()` tells whether it still does. A file is replaced as a whole or not at all.
    `integrated_save` is about networks that are spread over processes, and changes nothing for others.

    >>> import tempfile
    >>> from mycelia.nn import Dense
    >>> path = Path(tempfile.mkdtemp()) / "net.safetensors"
    >>> save_checkpoint(Dense(2, 1), path)
    >>> sorted(load_checkpoint(path))
    ['bias', 'weight']
    """
    path, kind = _place(ckpt_file_name, format)
    if enc_key is not None:
        check_key(enc_key, enc_mode)
        if kind != "ckpt":
            raise ArgumentError("only .ckpt files are encrypted", given={"file": path.name})
    if not isinstance(async_save, bool) and async_save not in ("thread", "process"):
        raise ArgumentError(f"async_save is True, False, thread or process, not {async_save!r}")
    named = _named(save_obj) | dict(append_dict or {})
    arrays = {name: _array(name, value) for name, value in named.items() if choice_func is None or choice_func(name)}
    if async_save:
        held = {name: array.copy() for name, array in arrays.items()}
        SAVING.begin(lambda: write_whole(path, held, kind, crc_check, enc_key))
    else:
        write_whole(path, arrays, kind, crc_check, enc_key)


def write_whole(path: Path, arrays: Mapping[str, Array], kind: str, checked: bool, key: bytes | None = None) -> None:
    """Write a file beside its place, and put it there when it is whole and on disk.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.ckpt"
    >>> write_whole(path, {}, "ckpt", True)
    >>> [p.name for p in path.parent.iterdir()]
    ['a.ckpt']
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    texts = [name for name, array in arrays.items() if array.dtype.kind == "U"]
    if kind != "ckpt" and texts:
        raise ArgumentError(f"only .ckpt files hold texts, such as {texts[0]}", given={"file": path.name})
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "ckpt":
            ckpt.write(beside, arrays, checked)
            if key is not None:
                beside.write_bytes(encrypted(beside.read_bytes(), key))
        else:
            sums = {"crc_num": str(_checksum(arrays)), "sum": str(_whole_checksum(arrays))} if checked else {}
            save_file(dict(arrays), beside, {"format": "ms", **sums})
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(beside, path)
    except SafetensorError as reason:
        raise OSError(f"{path.name} could not be written{_kept(path)}: {reason}") from reason
    except OSError as reason:
        said = f"{path} could not be written{_kept(path)}: {reason.strerror or reason}"
        raise OSError(reason.errno, said) if reason.errno else OSError(said) from reason
    finally:
        with suppress(OSError):  # a folder that is none holds nothing to remove
            beside.unlink(missing_ok=True)


def _kept(path: Path) -> str:
    """What a save that failed has left in its place, in words."""
    try:
        return ", and the file that was there is as it was" if path.is_file() else ""
    except OSError:
        return ""


def async_ckpt_thread_status() -> bool:
    """Whether a checkpoint is being written in the background.

    >>> async_ckpt_thread_status()
    False
    """
    return SAVING.busy()


def finish_saving() -> None:
    """Wait until checkpoints that are saved in the background are written; raise what went wrong.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "later.ckpt"
    >>> save_checkpoint({"x": Tensor(1.0)}, path, async_save=True)
    >>> finish_saving()
    >>> path.exists()
    True
    """
    SAVING.finish()


@listening
def load_checkpoint(
    ckpt_file_name: Name,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | Iterable[str] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | Iterable[str] | None = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
    name_map: Mapping[str, str] | Callable[[str], str] | None = None,
) -> dict[str, Any]:
    """The parameters in a file, by name, which also go into `net` if one is given; texts in it are strings.

    Names that begin with `filter_prefix` are left out; with `specify_prefix` only names that begin with it stay.
    `dec_key` is the key of an encrypted file. A checksum is looked at wherever a file has one; with `crc_check` it must
    have one. `name_map` gives names of the file other names: a dictionary, or a function of each name.

    >>> import tempfile
    >>> from mycelia.nn import Dense
    >>> path = Path(tempfile.mkdtemp()) / "net.ckpt"
    >>> save_checkpoint(Dense(2, 1, weight_init="ones"), path)
    >>> load_checkpoint(path)["weight"].asnumpy()
    array([[1., 1.]], dtype=float32)
    """
    path, kind = _place(ckpt_file_name, format)
    _check_there(path, Path(ckpt_file_name))
    checks.only("load_checkpoint", "remove_redundancy", remove_redundancy, False, SPREAD)
    if dec_key is not None:
        check_key(dec_key, dec_mode)
    out, only = _prefixes(filter_prefix), _prefixes(specify_prefix)

    def wanted(name: str) -> bool:
        return (
            not name.startswith(out)
            and (not only or name.startswith(only))
            and (choice_func is None or choice_func(name))
        )

    read = _read(path, kind, dec_key, crc_check)
    chosen = {name: array for name, array in read.items() if wanted(name)}
    if read and not chosen:
        raise ArgumentError(
            f"none of the {len(read)} names in {path.name} is wanted", given={"for example": next(iter(read))},
            hint="look at filter_prefix, specify_prefix and choice_func",
        )  # fmt: skip
    renamed = _renamed(chosen, name_map)
    found = {name: _held(name, array) for name, array in renamed.items()}
    if net is not None:
        load_param_into_net(net, found, strict_load)
    return found


@listening
def load_param_into_net(
    net: Cell, parameter_dict: Mapping[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Give the parameters of a network these numbers; the names that found nothing come back, on either side.

    A parameter whose name is not there gets those of a name that ends with it, and a warning says with which prefix.
    With `strict_load` names and element types must be equal. Where something does not fit, nothing is changed.

    >>> from mycelia.nn import Dense
    >>> net = Dense(1, 1)
    >>> load_param_into_net(net, {"weight": Parameter([[3.0]]), "other": Parameter([1.0])})
    (['bias'], ['other'])
    >>> net.weight.asnumpy()
    array([[3.]], dtype=float32)
    """
    checks.only("load_param_into_net", "remove_redundancy", remove_redundancy, False, SPREAD)
    if not isinstance(net, Cell) or not isinstance(parameter_dict, Mapping):
        raise ArgumentError(
            "parameters by name go into a Cell",
            given={"net": type(net).__name__, "from": type(parameter_dict).__name__},
            hint="for example load_param_into_net(net, load_checkpoint(path))",
        )
    known = net.parameters_dict()
    names = {name: name for name in known if name in parameter_dict}
    if not strict_load:
        names |= _prefixed([name for name in known if name not in names], parameter_dict)
    _check_shapes({name: (known[name], parameter_dict[new]) for name, new in names.items()})
    for name, new in names.items():
        _check_fit(name, known[name], parameter_dict[new], strict_load)
    for name, new in names.items():
        known[name].set_data(Tensor(parameter_dict[new].numbers().reshape(known[name].shape)))
    computed = {name: optimizer for optimizer in _optimizers(net) for name in _computed(optimizer)}
    for name, optimizer in computed.items():
        if isinstance(there := parameter_dict.get(name), Tensor) and there.size == 1:
            optimizer.take(name.removeprefix(_prefix(optimizer)), float(there.item()))
    told = known.keys() | computed.keys()
    if known and parameter_dict and not names:
        warnings.warn(
            f"nothing was loaded: the network has {next(iter(known))!r} and its like, and what is given "
            f"{next(iter(parameter_dict))!r}; load_checkpoint(..., name_map=...) changes names",
            RuntimeWarning, stacklevel=2,
        )  # fmt: skip
    return [name for name in known if name not in names], [name for name in parameter_dict if name not in told]


def _optimizers(cell: Cell) -> list[Optimizer]:
    return [part for _, part in cell.cells_and_names() if isinstance(part, Optimizer)]


def _computed(optimizer: Optimizer) -> dict[str, Array]:
    """What an optimizer computes and MindSpore's keeps, under the names of this network."""
    return {f"{_prefix(optimizer)}{name}": array for name, array in optimizer.computed().items()}


def _prefix(optimizer: Optimizer) -> str:
    return optimizer.global_step.name.removesuffix("global_step")


def _prefixed(missing: list[str], given: Mapping[str, Any]) -> dict[str, str]:
    """Under which names missing parameters are there with a prefix: that of the first such name holds for all, and if
    some are left, another one for these.
    """
    found: dict[str, str] = {}
    while left := [name for name in missing if name not in found]:
        prefixes = (there[: -len(name)] for name in left for there in given if there.endswith(name))
        prefix = next(prefixes, None)
        if prefix is None:
            break
        warnings.warn(f"parameters are loaded from names that begin with {prefix!r}", RuntimeWarning, stacklevel=4)
        found |= {name: prefix + name for name in left if prefix + name in given}
    return found


def _check_shapes(pairs: Mapping[str, tuple[Parameter, Any]]) -> None:
    """Complain about parameters whose shapes differ, all of them at once."""
    other = {
        name: (parameter.shape, new.shape)
        for name, (parameter, new) in pairs.items()
        if isinstance(new, Tensor) and new.shape != parameter.shape and not _is_padded(new.shape, parameter.shape)
    }
    if not other:
        return
    (first, (here, there)), *rest = other.items()
    layers = {name.rpartition(".")[0] for name in other}
    choice = f'filter_prefix="{layers.pop()}."' if len(layers) == 1 and "." in first else "choice_func=..."
    raise ShapeError(
        f"parameter {first} has shape {here}, in the checkpoint {there}",
        given={name: f"{a}, in the checkpoint {b}" for name, (a, b) in rest[: SHOWN - 1]}
        | ({"and": f"{len(rest) - SHOWN + 1} more"} if len(rest) >= SHOWN else {}),
        hint=f"build the network with the sizes it was saved with, or leave "
        f"them out by load_checkpoint(path, {choice}): nothing was loaded",
    )


def _check_fit(name: str, parameter: Parameter, new: Any, strict: bool) -> None:
    if not isinstance(new, Tensor):
        raise ArgumentError(f"{name} is to get a {type(new).__name__}, not a Parameter")
    if new.dtype is parameter.dtype:
        return
    converts = any({new.dtype, parameter.dtype} <= kinds for kinds in CONVERT)
    if strict or not converts:
        raise DTypeError(
            f"parameter {name} holds {parameter.dtype!r}, in the checkpoint {new.dtype!r}",
            hint="cast one of them" + (", or load with strict_load=False" if converts else ""),
        )
    if parameter.dtype.is_integer and (new.numbers().astype(parameter.dtype.numpy) != new.numbers()).any():
        raise DTypeError(
            f"parameter {name} holds {parameter.dtype!r}, and numbers in the checkpoint are too large for it",
            given={"from": new.numbers().min(), "to": new.numbers().max()},
        )


def _is_padded(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a shape is the wanted one with ones at its end, as some devices save them.

    >>> [_is_padded(shape, (2, 3)) for shape in ((2, 3, 1), (2, 3, 1, 1), (2, 3), (2, 1, 3), (2, 3, 2))]
    [True, True, False, False, False]
    """
    return len(shape) > len(wanted) and shape == wanted + (1,) * (len(shape) - len(wanted))


def _check_there(path: Path, given: Path) -> None:
    """Complain if there is no file at `path`, which is `given` with a suffix, if it had none of ours."""
    if path.is_file():
        return
    if given.is_dir():
        raise ArgumentError(f"{given} is a folder, and a checkpoint is a file", hint=_instead(given / "x"))
    if given.is_file():
        raise ArgumentError(
            f"{given.name} is no checkpoint by its name: those end with {' or '.join(f'.{f}' for f in FORMATS)}",
            hint="in PyTorch, safetensors.torch.save_file(net.state_dict(), path) writes one; name_map changes names",
        )
    raise ArgumentError(f"there is no checkpoint {path}", hint=_instead(path))


def _instead(path: Path) -> str:
    """What there is in the place of a file that is not there: the newest checkpoints of its folder."""
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    there = [p for p in path.parent.iterdir() if p.suffix[1:] in FORMATS and p.is_file()]
    newest = sorted(there, key=lambda p: (-p.stat().st_mtime, p.name))[:SHOWN]
    return f"its folder holds {', '.join(p.name for p in newest)}" if newest else "its folder holds no checkpoints"


def _place(name: Name, format: str) -> tuple[Path, str]:
    """Where the file is, and its format: what the suffix says, else what is asked for."""
    if format not in FORMATS:
        raise ArgumentError(f"there is no checkpoint format {format!r}", hint=f"choose one of {', '.join(FORMATS)}")
    path = Path(name)
    if not path.name:
        raise ArgumentError(
            f"{os.fspath(name)!r} names a folder, and a checkpoint is a file", hint=_instead(path / "x")
        )
    if path.suffix[1:] in FORMATS:
        return path, path.suffix[1:]
    if path.name.endswith(FORMATS):  # as in MindSpore, which asks for the letters only
        return path, next(f for f in FORMATS if path.name.endswith(f))
    return path.with_name(f"{path.name}.{format}"), format


def _named(obj: Any) -> dict[str, Any]:
    """What is to be saved, by name."""
    if isinstance(obj, Cell):
        named: dict[str, Any] = dict(obj.parameters_dict())
        for optimizer in _optimizers(obj):  # as MindSpore's keeps itself, so that a training can go on there
            named[optimizer.global_step.name] = optimizer.global_step.reshape((1,))
            named |= {name: Tensor(array) for name, array in _computed(optimizer).items()}
        return named
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


def _held(name: str, array: Array) -> Parameter | str:
    """What an array of a file stands for."""
    return str(array) if array.dtype.kind == "U" else Parameter(array, name=name)


def _array(name: str, value: Any) -> Array:
    if isinstance(value, str) and not value.endswith("\0"):
        return np.array(value)
    if isinstance(value, Tensor | int | float | bool):
        return value.asnumpy() if isinstance(value, Tensor) else Tensor(value).asnumpy()
    raise ArgumentError(
        f"{name} is a {type(value).__name__}, which a checkpoint cannot hold", hint="save tensors, numbers and texts"
    )


def _checksum(arrays: Mapping[str, Array]) -> int:
    """The CRC-32 of all names and contents, as MindSpore computes it."""
    total = 0
    for name in sorted(arrays):
        total = crc32(arrays[name].tobytes(), crc32(name.encode(), total))
    return total


def _whole_checksum(arrays: Mapping[str, Array]) -> int:
    """The CRC-32 of all names, element types, shapes and contents: MindSpore's does not see types and shapes."""
    total = 0
    for name in sorted(arrays):
        head = f"{name}\0{arrays[name].dtype}\0{arrays[name].shape}\0"
        total = crc32(arrays[name].tobytes(), crc32(head.encode(), total))
    return total


def _prefixes(given: str | Iterable[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _renamed(arrays: dict[str, Array], name_map: Any) -> dict[str, Array]:
    """Arrays under other names, which must differ."""
    if name_map is None:
        return arrays
    renamed: dict[str, Array] = {}
    for name, array in arrays.items():
        new = name_map(name) if callable(name_map) else name_map.get(name, name)
        if not isinstance(new, str) or new in renamed:
            raise ArgumentError(f"name_map calls {name!r} {new!r}, which is no name or that of another")
        renamed[new] = array
    return renamed


def _read(path: Path, kind: str, key: bytes | None = None, checked: bool = False) -> dict[str, Array]:
    if kind == "ckpt":
        return ckpt.read(path, key, checked)
    try:
        raw = content_of(path)  # not mapped: a file that is cut short meanwhile would end the process
        arrays = {name: _tensor(**told) for name, told in deserialize(raw)}  # type: ignore[no-untyped-call]
        given = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")]).get("__metadata__", {})
        sums = {"crc_num": _checksum, "sum": _whole_checksum}
        if any(given[name] != str(computed(arrays)) for name, computed in sums.items() if name in given):
            raise SafetensorError("its checksum is wrong: it was damaged after it was written")
        if checked and not any(name in given for name in sums):
            raise SafetensorError("it has no checksum")
        return arrays
    except (SafetensorError, KeyError, ValueError, OverflowError) as reason:
        raise ArgumentError(
            f"{path.name} cannot be read: {reason}", hint="it is cut off, or of another format"
        ) from None


SAFE_KINDS = {dtype.short.upper(): dtype.numpy for dtype in DTYPES}  # F32, BF16, I64, BOOL


def _tensor(dtype: str, shape: Sequence[int], data: bytes) -> Array:
    """An array of a safetensors file."""
    if dtype not in SAFE_KINDS:
        raise SafetensorError(f"tensors of {dtype} are not known here")
    if dtype == "BOOL" and data.strip(b"\0\1"):
        raise SafetensorError("a truth is 0 or 1")
    return np.frombuffer(data, SAFE_KINDS[dtype]).reshape(shape)


class LoadingLater:
    """A checkpoint that a thread reads; `result()` waits for it, and puts it into the network."""

    def __init__(self, work: Callable[[], dict[str, Any]], net: Cell | None, strict: bool) -> None:
        self.work, self.net, self.strict = work, net, strict
        self.pool = ThreadPoolExecutor(1, "mycelia-loading")
        self.future = self.pool.submit(work)
        self.pool.shutdown(wait=False)

    def result(self) -> dict[str, Any]:
        """The parameters, by name, when they are read."""
        found = self.future.result()
        if self.net is not None:
            load_param_into_net(self.net, found, self.strict)
            self.net = None
        return found


def load_checkpoint_async(
    ckpt_file_name: Name,
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | Iterable[str] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | Iterable[str] | None = None,
    choice_func: Callable[[str], bool] | None = None,
) -> LoadingLater:
    """A checkpoint that is read while other things go on: `result()` gives its parameters.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "net.ckpt"
    >>> save_checkpoint({"w": Tensor([1.0])}, path)
    >>> load_checkpoint_async(path).result()["w"].item()
    1.0
    """
    options: dict[str, Any] = {
        "filter_prefix": filter_prefix, "dec_key": dec_key, "dec_mode": dec_mode, "specify_prefix": specify_prefix,
        "choice_func": choice_func,
    }  # fmt: skip
    return LoadingLater(lambda: load_checkpoint(ckpt_file_name, **options), net, strict_load)


def ckpt_to_safetensors(
    file_path: Name,
    save_path: Name | None = None,
    name_map: Mapping[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write `.ckpt` files, one or all of a folder, as `.safetensors`, beside them or in another folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> save_checkpoint({"w": Tensor([1.0])}, folder / "net.ckpt")
    >>> ckpt_to_safetensors(folder)
    >>> load_checkpoint(folder / "net.safetensors")["w"].item()
    1.0
    """
    _converted(file_path, save_path, name_map, file_name_regex, processes_num, "ckpt", "safetensors")


def safetensors_to_ckpt(
    file_path: Name,
    save_path: Name | None = None,
    name_map: Mapping[str, str] | None = None,
    file_name_regex: str | None = None,
    processes_num: int = 1,
) -> None:
    """Write `.safetensors` files, one or all of a folder, as `.ckpt`, beside them or in another folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> save_checkpoint({"w": Tensor([1.0])}, folder / "net.safetensors")
    >>> safetensors_to_ckpt(folder / "net.safetensors", name_map={"w": "weight"})
    >>> load_checkpoint(folder / "net.ckpt")["weight"].item()
    1.0
    """
    _converted(file_path, save_path, name_map, file_name_regex, processes_num, "safetensors", "ckpt")


def _converted(
    file_path: Name, save_path: Name | None, name_map: Any, regex: str | None, processes: int, old: str, new: str
) -> None:
    if type(processes) is not int or processes < 1:
        raise ArgumentError(f"processes_num is a whole number from 1, not {processes!r}")
    given = Path(file_path)
    files = [given] if given.is_file() else sorted(given.rglob(f"*.{old}"))
    files = [f for f in files if regex is None or re.search(regex, f.name)]
    if not files or any(f.suffix != f".{old}" for f in files):
        raise ArgumentError(f"there is no .{old} file at {given}")

    def convert(file: Path) -> None:
        folder = (
            file.parent
            if save_path is None
            else Path(save_path) / file.parent.relative_to(given if given.is_dir() else given.parent)
        )
        write_whole(folder / f"{file.stem}.{new}", _renamed(_read(file, old), name_map), new, True)

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(convert, files))


__getattr__ = missing_in(__name__)
