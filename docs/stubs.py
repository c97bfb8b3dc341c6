"""What editors and type checkers see of names that are made while Mycelia is loaded: writes stubs from what exists.

    python docs/stubs.py     write mycelia/eager/methods.pyi (methods of tensors), mycelia/ops/classes.pyi (operations)
                             and mycelia/dataset/readers/__init__.pyi (readers of published datasets)

They are read by type checkers only: nothing of them exists when a program runs. A test holds them to what is there.
"""

from __future__ import annotations

import builtins
import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1] / "mycelia"
FILES = {
    "methods": ROOT / "eager" / "methods.pyi",
    "classes": ROOT / "ops" / "classes.pyi",
    "readers": ROOT / "dataset" / "readers" / "__init__.pyi",
}
HEAD = '"""{}; written by docs/stubs.py."""\n\n'
IMPORTS = """from builtins import bool as _bool
from builtins import dict as _dict
from builtins import float as _float
from builtins import int as _int
from builtins import list as _list
from builtins import object as _object
from builtins import str as _str
from builtins import tuple as _tuple
from collections.abc import Callable as _Callable
from collections.abc import Iterable as _Iterable
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from mycelia.eager.tensor import Tensor as _Tensor
from mycelia.types import DType as _DType
"""
KNOWN = {
    "bool", "dict", "float", "int", "list", "object", "str", "tuple", "Callable", "Iterable", "Sequence", "Any",
    "Tensor", "DType",
}  # fmt: skip
READERS = """from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike

from mycelia.dataset.caches.cache import DatasetCache
from mycelia.dataset.plan.samplers import Sampler, Shuffle
from mycelia.dataset.readers.hub import HubDataset as HubDataset
from mycelia.dataset.sources.memory import MappableDataset
"""
TAKES = {  # what the parameters of readers may be
    **dict.fromkeys(("annotation_file", "dataset_file"), "str"),
    **dict.fromkeys(("background", "compat", "decode", "extra_metadata", "small"), "bool | None"),
    **dict.fromkeys(("base_seed", "num_classes", "num_images", "scale"), "int"),
    **dict.fromkeys(("downgrade", "quality_mode", "release", "task"), "str"),
    **dict.fromkeys(("image_set", "name", "target_type", "test_set", "usage", "valid_set"), "str | None"),
    **dict.fromkeys(("num_parallel_workers", "num_samples", "num_shards", "shard_id"), "int | None"),
    "cache": "DatasetCache | None",
    "class_indexing": "Mapping[str, int] | None",
    "classes": "str | Sequence[str] | None",
    "dataset_dir": "str | PathLike[str]",
    "dataset_files": "str | Sequence[str]",
    "decrypt": "Callable[[str], bytes] | None",
    "extensions": "Sequence[str] | None",
    "image_size": "Sequence[int]",
    "language_pair": "Sequence[str] | None",
    "sampler": "Sampler | Iterable[int] | None",
    "shuffle": "bool | Shuffle | None",
}
WORDS = {"Axis": "int | Sequence[int] | None", "Shape": "tuple[int, ...]", "None": "None"}


def written(annotation: Any) -> str:
    """An annotation in words that the stub imports; `Any` for others.

    >>> written("Axis"), written("Array | Tensor"), written("Sequence[int]")
    ('_int | _Sequence[_int] | None', '_Any', '_Sequence[_int]')
    """
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "?")
    for word, meaning in WORDS.items():
        text = re.sub(rf"\b{word}\b", meaning, text)
    names = re.findall(r"[A-Za-z_]\w*", text)
    if annotation is inspect.Parameter.empty or any(n not in KNOWN and n != "None" for n in names) or "?" in text:
        return "_Any"
    return re.sub(r"[A-Za-z_]\w*", lambda m: m[0] if m[0] == "None" else f"_{m[0]}", text)


def default(value: Any) -> str:
    """A default value as it is written, if that is short."""
    plain = value is None or type(value) in (bool, int, float, str, tuple)
    text = repr(value)
    return text if plain and len(text) < 30 and not re.search(r"[<>]|inf|nan", text) else "..."


def parameters(signature: inspect.Signature, skip: tuple[str, ...] = ()) -> Iterator[str]:
    """The parameters of a function, as they stand between brackets."""
    starred = False
    for p in signature.parameters.values():
        if p.name in skip:
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred = starred or p.kind is p.VAR_POSITIONAL
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        text = f"{mark}{p.name}: {written(p.annotation)}"
        yield text if p.default is p.empty else f"{text} = {default(p.default)}"


def methods() -> str:
    """The stub of the methods that `ops` gives to tensors."""
    tensor = import_module("mycelia").Tensor
    own = set(re.findall(r"^    def (\w+)", (ROOT / "eager" / "tensor.py").read_text(), re.MULTILINE))
    lines = [HEAD.format("Methods of tensors, which the functions of `ops` are"), IMPORTS, "\n\nclass TensorMethods:\n"]
    lines.append('    """What tensors can do, beside what `Tensor` itself says."""\n\n')
    for name, found in sorted(vars(tensor).items()):
        if name.startswith("_") or name in own or isinstance(found, classmethod | staticmethod):
            continue
        if isinstance(found, property):
            returns = written(inspect.signature(found.fget).return_annotation) if found.fget else "_Any"
            lines.append(f"    @property\n    def {name}(self) -> {returns}: ...\n")
        elif callable(found):
            signature = inspect.signature(found)
            first, *_ = [*signature.parameters, "self"]
            inside = ", ".join(["self", *parameters(signature, (first,))])
            lines.append(f"    def {name}({inside}) -> {written(signature.return_annotation)}: ...\n")
    return "".join(lines)


def classes() -> str:
    """The stub of the operations that tables declare, and of names that `ops` finds when they are asked for."""
    ops = import_module("mycelia.ops")
    primitive = import_module("mycelia.ops.primitive").Primitive
    late = import_module("mycelia.names.paths").SHORT["mycelia.ops"]
    rows = [HEAD.format("Operations as objects, and names of `ops` that are found when they are asked for"), IMPORTS]
    rows.append("from mycelia.ops.primitive import Primitive as _Primitive\n")
    late = {n: path for n, path in late.items() if n not in vars(import_module("mycelia.ops.functional"))}
    made: list[str] = []
    for module in sorted({path.rpartition(".")[0] for path in late.values()}):
        names = sorted(
            (path.rpartition(".")[2], name) for name, path in late.items() if path.rpartition(".")[0] == module
        )
        source = Path(str(import_module(f"mycelia.{module}").__file__)).read_text()
        for here, name in names:
            if re.search(rf"^(def|class) {here}\b", source, re.MULTILINE):
                rows.append(f"from mycelia.{module} import {here} as {name}\n")
            else:
                made.append(f"def {name}(*args: _Any) -> _Any: ...\n")
    rows.extend(made)
    for name in sorted(n for n in {*dir(ops), *import_module("mycelia.ops.later").LATER} if not n.startswith("_")):
        kind = getattr(ops, name)
        if isinstance(kind, type) and issubclass(kind, primitive) and kind.takes is not None:
            rows.append(_class(name, kind))
    return "".join(rows)


def _class(name: str, kind: Any) -> str:
    takes = ", ".join(["self", *(_typed(p) for p in parameters(kind.takes))])
    called = _signature(kind.meant)
    given = [p for p in parameters(called, tuple(kind.takes.parameters)) if p != "*"]  # they are called by place
    inside = ", ".join(["self", *[re.sub("^self:", "x:", p) for p in given]])
    doc = (kind.__doc__ or name).split("\n")[0].replace('"""', "'''")
    returns = written(called.return_annotation)
    return (
        f'\nclass {name}(_Primitive):\n    """{doc}"""\n\n    def __init__({takes}) -> None: ...\n'
        f"    def __call__({inside}) -> {returns}: ...\n"
    )


def readers() -> str:
    """The stub of the readers of published datasets, whose signatures are told in words."""
    module = import_module("mycelia.dataset.readers")
    rows = [HEAD.format("Readers of datasets, from local folders in the formats they were published in"), READERS]
    for name in module.__all__:
        kind = getattr(module, name)
        if "words" in dir(kind):
            doc = kind.__doc__.split("\n")[0]
            inside = ", ".join(["self", *map(_taken, inspect.signature(kind).parameters.values())])
            begin = f"    def __init__({inside}) -> None: ...\n"
            rows.append(f'\nclass {name}(MappableDataset):\n    """{doc}"""\n\n{begin}')
    return "".join(rows)


def _taken(parameter: inspect.Parameter) -> str:
    kind, value = TAKES[parameter.name], parameter.default
    if value is parameter.empty:
        return f"{parameter.name}: {kind.removesuffix(' | None')}"
    kind = f"{kind} | None" if value is None and "None" not in kind else kind
    return f"{parameter.name}: {kind} = {'...' if isinstance(value, Enum) else repr(value)}"


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def _typed(parameter: str) -> str:
    """A parameter whose type its default tells."""
    found = re.fullmatch(r"(\w+): _Any = (.*)", parameter)
    if found is None:
        return parameter
    name, value = found.groups()
    try:
        kind = type(eval(value, {"__builtins__": {}}))  # a literal that was written above
    except NameError:
        kind = type(None)
    exact = kind in (bool, str)
    return f"{name}: _{kind.__name__} = {value}" if exact and kind.__name__ in vars(builtins) else parameter


def main() -> None:
    """Write all."""
    for name, path in FILES.items():
        path.write_text({"methods": methods, "classes": classes, "readers": readers}[name]())


if __name__ == "__main__":
    main()
