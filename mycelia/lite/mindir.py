"""Graphs in files: a network's function and its weights, written by `export` and run again by `GraphCell`.

A `.mindir` of ours is a safetensors file. Its arrays are the weights, by name; among the texts at its beginning is the
function (`mycelia.ir.text`), and what each of its parameters is. MindSpore's own files of this name hold operators of
its C++ code; they are not read here, and ours not there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from mycelia import ops
from mycelia.capture.sizing import Naming, Sizes
from mycelia.eager import Parameter, Tensor
from mycelia.eager.indexing import BoundsError
from mycelia.eager.tensor import Outline
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.frozen import frozen
from mycelia.ir import Function, names_of, sized, sizes_of
from mycelia.ir.text import parse, show
from mycelia.lite.described import CFunction, written_down
from mycelia.nn import Cell
from mycelia.plainfiles import content_of
from mycelia.primitives import barrier
from mycelia.primitives.control.call import Call
from mycelia.sizes import NeedsSize
from mycelia.train.encryption import check_key, decrypted, encrypted, is_encrypted
from mycelia.train.serialization import SAFE_KINDS
from mycelia.tree import flatten, unflatten
from mycelia.types import Array, TensorType

VERSION = 1
FIELDS = ("inputs", "results", "writes", "flags")
BOTH = 3  # so many open dimensions are exported for all mixtures of one and more, others for all of a kind
OPEN = (7, 11, 13, 17, 19, 23, 29, 31)  # sizes that stand for open dimensions while a function is written down
ELSEWHERE = {
    "ONNX": "operators of ONNX are not written here: `mycelia.stablehlo` writes programs that other compilers read",
    "AIR": "it is read by one kind of device (Ascend)",
}


@frozen
class WrittenForm:
    """A network as a function of some sizes.

    A parameter of the function is an argument (a number) or a weight (a name). `writes` are weights that a call
    changes, with the results that they become; `flags` are results that say that a position does not exist.
    """

    function: Function
    inputs: tuple[int | str, ...]
    results: tuple[int, ...]
    writes: tuple[tuple[str, int], ...]
    flags: tuple[int, ...]

    def at(self, types: tuple[TensorType, ...]) -> Function | None:
        """The function at operands of these types; None if it was written for others."""
        if types == self.function.types:
            return self.function
        try:
            sizes = sizes_of(self.function, [_Shaped(t.shape) for t in types])  # type: ignore[misc]  # of shapes only
            if not all(name.scope.holds(sizes) for name in names_of(self.function)):
                return None
            made = sized(self.function, sizes)
        except (NeedsSize, ValueError, IndexError):  # other ranks, or sizes that do not go together
            return None
        return made if made.types == types else None

    def __str__(self) -> str:
        types = zip(self.inputs, self.function.types, strict=True)
        return ", ".join(str(t) for to, t in sorted((to, t) for to, t in types if isinstance(to, int)))


@frozen(eq=False)
class Graph:
    """A network with its weights, as `load` reads it; `nn.GraphCell` runs it. Sizes of one have forms of their own.

    >>> graph = _graph(lambda x: x + 1, (Tensor(shape=(None,), dtype=Tensor([1.0]).dtype),))
    >>> [str(form) for form in graph.forms]
    ['f32[s0]', 'f32[1]']
    """

    forms: tuple[WrittenForm, ...]
    arguments: int
    weights: Mapping[str, Array]
    trained: Mapping[str, bool]  # the weights that are parameters, and whether they want gradients

    @cached_property
    def _calls(self) -> dict[tuple[TensorType, ...], tuple[Call, WrittenForm]]:
        return {}

    def at(self, given: tuple[TensorType, ...]) -> tuple[Call, WrittenForm]:
        """The function at arguments of these types; an error if it was written for others."""
        if given not in self._calls:
            self._calls[given] = self._fitting(given)
        return self._calls[given]

    def _fitting(self, given: tuple[TensorType, ...]) -> tuple[Call, WrittenForm]:
        kinds: dict[int | str, TensorType] = dict(enumerate(given))
        kinds |= {name: TensorType(Tensor(a).dtype, a.shape) for name, a in self.weights.items()}
        for form in self.forms:
            fn = form.at(tuple(kinds[to] for to in form.inputs))
            if fn is not None:
                return Call(fn), form
        raise ArgumentError(
            "this graph was exported for other arguments",
            given={"exported for": " or ".join(map(str, self.forms)), "called with": ", ".join(map(str, given))},
            hint="a dimension that changes is exported as None: Tensor(shape=(None, 3), dtype=ms.float32)",
        )


@frozen
class _Shaped:
    shape: tuple[int, ...]


class GraphCell(Cell):
    """A network that was read from a file. Its parameters can be trained, saved and replaced.

    >>> import tempfile, mycelia as ms
    >>> from mycelia import nn
    >>> folder, x = tempfile.mkdtemp(), Tensor([[1.0, 2.0]])
    >>> ms.export(nn.Dense(2, 1, "ones", has_bias=False), x, file_name=f"{folder}/net", file_format="MINDIR")
    >>> nn.GraphCell(ms.load(f"{folder}/net.mindir"))(x).tolist()
    [[3.0]]
    """

    def __init__(
        self, graph: Graph, params_init: Mapping[str, Tensor] | None = None, obf_random_seed: int | None = None
    ) -> None:
        super().__init__(auto_prefix=True)
        if not isinstance(graph, Graph):
            raise ArgumentError(f"a GraphCell runs what load reads, not a {type(graph).__name__}", hint="ms.load(file)")
        if obf_random_seed is not None:
            raise ArgumentError("graphs are not obfuscated here", given={"obf_random_seed": obf_random_seed})
        if params_init is not None and not (
            isinstance(params_init, Mapping)
            and all(isinstance(k, str) and isinstance(v, Tensor) for k, v in params_init.items())
        ):
            raise ArgumentError("params_init is a dictionary of tensors by name", given={"params_init": params_init})
        self.graph = graph
        self._weights: dict[str, Tensor] = {}
        for name, array in graph.weights.items():
            if name not in graph.trained:
                self._weights[name] = Tensor(array)
                continue
            value = Parameter(array, name=name, requires_grad=graph.trained[name])
            new = (params_init or {}).get(name)
            if new is not None:
                value.set_data(new)
            self._weights[name] = value
            self.insert_param_to_cell(name.replace(".", "_"), value)
            value.name = name

    def construct(self, *inputs: Any) -> Any:
        """What the network gives for these arguments."""
        graph = self.graph
        tensors = [leaf for leaf in flatten(inputs)[0] if isinstance(leaf, Tensor)]
        if len(tensors) != graph.arguments:
            raise ArgumentError(f"this graph takes {graph.arguments} tensors, not {len(tensors)}")
        call, form = graph.at(tuple([TensorType(t.dtype, tuple(t.shape)) for t in tensors]))
        results = call(*[tensors[to] if isinstance(to, int) else self._weights[to] for to in form.inputs])
        for place in form.flags:
            if bool(results[place]):
                raise BoundsError("a position that this graph is asked for does not exist")
        for name, place in form.writes:
            ops.assign(self._weights[name], results[place])
        found = tuple([results[i] for i in form.results])
        return found[0] if len(found) == 1 else found


def export(net: Callable[..., Any], *inputs: Any, file_name: str, file_format: str, **kwargs: Any) -> None:
    """Write a network and its weights into `file_name`.mindir, for `load`. Nothing is run, and nothing changes.

    `inputs` are arguments like those to come; `Tensor(shape=(None, 3), dtype=ms.float32)` leaves a dimension open. What
    is no tensor is a constant of the graph. Several results come back as a tuple. With `enc_key` the file is
    encrypted (AES-GCM). The format is "MINDIR".

    >>> export(lambda x: x + 1, Tensor([1.0]), file_name="net", file_format="ONNX")
    Traceback (most recent call last):
    mycelia.errors.ArgumentError: graphs are exported as MINDIR, not as ONNX
    ...
    """
    key, mode = kwargs.pop("enc_key", None), kwargs.pop("enc_mode", "AES-GCM")
    if file_format != "MINDIR":
        hint = ELSEWHERE.get(file_format, 'give file_format="MINDIR"; docs/export.md')
        raise ArgumentError(f"graphs are exported as MINDIR, not as {file_format}", hint=hint)
    if kwargs:
        raise ArgumentError(f"export has no argument {', '.join(kwargs)} here", hint="there are enc_key and enc_mode")
    if key is not None:
        check_key(key, mode)
    path = Path(file_name if str(file_name).endswith(".mindir") else f"{file_name}.mindir")
    content = _content(_graph(net, inputs))
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(content if key is None else encrypted(content, key))
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load(file_name: str, **kwargs: Any) -> Graph:
    """The graph that `export` wrote; `nn.GraphCell` runs it.

    >>> load("nothing.mindir")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nothing.mindir'
    """
    key, mode = kwargs.pop("dec_key", None), kwargs.pop("dec_mode", "AES-GCM")
    if kwargs:
        raise ArgumentError(f"load has no argument {', '.join(kwargs)} here", hint="there are dec_key and dec_mode")
    if not str(file_name).endswith(".mindir"):
        raise ArgumentError(
            f"{file_name!r} is no graph",
            hint="graphs are in files that end in .mindir; ms.load_checkpoint reads weights",
        )
    raw = content_of(file_name)
    if key is not None:
        raw = decrypted(raw, check_key(key, mode))
    elif is_encrypted(raw):
        raise ArgumentError(f"{Path(file_name).name} is encrypted", hint="give its key: load(file, dec_key=key)")
    try:
        return _read(raw)
    except (SafetensorError, MyceliaError, AssertionError, LookupError, TypeError, ValueError, OverflowError) as reason:
        raise ArgumentError(
            f"{Path(file_name).name} is no graph that Mycelia has written: {reason}",
            hint="MindSpore's own .mindir files hold operators of its C++ code: export the network here",
        ) from None


def _graph(net: Callable[..., Any], inputs: tuple[Any, ...]) -> Graph:
    """A network at arguments like these: for sizes of two and more where they are open, and for those of one."""
    leaves = flatten(inputs)[0]
    outlines = [leaf.shape for leaf in leaves if isinstance(leaf, Outline)]
    if any(shape is None for shape in outlines):
        raise ArgumentError("the number of dimensions of an argument must be known", given={"arguments": inputs})
    left = sum(n is None for shape in outlines for n in shape)
    if left > len(OPEN):
        raise ArgumentError(f"at most {len(OPEN)} dimensions can be open", given={"open": left})
    choices = product((False, True), repeat=left) if left <= BOTH else [(False,) * left, (True,) * left]
    found: list[CFunction] = []
    for ones in choices:
        found.append(_written(net, inputs, iter([1 if one else n for one, n in zip(ones, OPEN, strict=False)])))
        if not found[0].function.types or found[0].function.static:
            break
    state: dict[int, Tensor] = {id(p): p for p in net.get_parameters()} if isinstance(net, Cell) else {}
    used = {id(t): t for each in found for t in each.state}
    state = {key: t for key, t in (state | used).items() if key in used}  # in the order of the network
    names = _names(list(state.values()))
    forms = [_form(each, names) for each in found]
    return Graph(
        tuple(forms),
        sum(isinstance(leaf, Tensor) for leaf in leaves),
        {names[key]: t.asnumpy() for key, t in state.items()},
        {names[key]: t.requires_grad for key, t in state.items() if isinstance(t, Parameter)},
    )


def _form(found: CFunction, names: Mapping[int, str]) -> WrittenForm:
    fn = found.asking or found.function
    asks = len(fn.results) - len(found.function.results)  # results in front that are flags
    return WrittenForm(
        fn,
        tuple(what if kind == "argument" else names[id(what)] for kind, what in found.inputs),
        tuple(asks + place for place in found.results),
        tuple((names[id(tensor)], asks + place) for tensor, place in found.writes),
        (*range(asks), *[asks + place for place in found.flags]),
    )


def _written(net: Callable[..., Any], inputs: tuple[Any, ...], extents: Iterator[int]) -> CFunction:
    """A network as one function, with these sizes where they are open; those above one are symbols."""
    leaves, structure = flatten(inputs)
    asked: dict[int, list[int]] = {}
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor):  # each an argument of its own
            shape = tuple(next(extents) if n is None else n for n in leaf.shape)
            leaves[i] = Tensor(np.zeros(shape, leaf.dtype.numpy))
            asked[id(leaves[i])] = [axis for axis, n in enumerate(leaf.shape) if n is None]
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    try:
        return written_down(
            "the network", net, unflatten(structure, leaves), tensors, Naming(Sizes(), asked), lambda x: barrier(x, x)
        )
    except NeedsSize as reason:
        raise ArgumentError(f"the network needs a number where a size is open: {reason}", at=reason.at) from None


def _names(state: list[Tensor]) -> dict[int, str]:
    """A name for each tensor, by its identity: that of a parameter is its own."""
    names: dict[int, str] = {}
    for tensor in state:
        name = tensor.name if isinstance(tensor, Parameter) else f"constant.{len(names)}"
        names[id(tensor)] = name if name not in names.values() else f"{name}.{len(names)}"
    return names


def _content(graph: Graph) -> bytes:
    """The file of a graph."""
    arrays = {name: np.asarray(a, order="C") for name, a in graph.weights.items()}
    forms = [{**{n: getattr(form, n) for n in FIELDS}, "function": show(form.function)} for form in graph.forms]
    about = {"version": VERSION, "forms": forms, "arguments": graph.arguments}
    about |= {"trained": graph.trained, "order": list(arrays)}
    told = json.dumps(about)
    return save(arrays, {"mindir": told, "sum": str(_sum(arrays, told))})


def _sum(arrays: Mapping[str, Array], told: str) -> int:
    total = crc32(told.encode())
    for name in sorted(arrays):
        total = crc32(arrays[name].tobytes(), crc32(f"{name}{arrays[name].shape}{arrays[name].dtype}".encode(), total))
    return total


def _read(raw: bytes) -> Graph:
    """The graph in a file."""
    arrays = {
        name: np.frombuffer(told["data"], SAFE_KINDS[told["dtype"]]).reshape(told["shape"]).copy()
        for name, told in deserialize(raw)  # type: ignore[no-untyped-call]
    }
    told = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])["__metadata__"]
    if told["sum"] != str(_sum(arrays, told["mindir"])):
        raise ValueError("it was damaged")
    about = json.loads(told["mindir"])
    if about["version"] != VERSION:
        raise ValueError(f"it is of version {about['version']}, and this is {VERSION}")
    forms = [WrittenForm(parse(form["function"]), **{n: _tuples(form[n]) for n in FIELDS}) for form in about["forms"]]
    return Graph(tuple(forms), about["arguments"], {n: arrays[n] for n in about["order"]}, about["trained"])


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
