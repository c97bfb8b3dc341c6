"""What is noted about a cell: flags, scopes, prefixes, and what concerns several devices, of which one is here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from time import time_ns
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mycelia import checks
from mycelia.eager import Parameter, Tensor, as_dtype, assign, wrap
from mycelia.eager.placement import holder
from mycelia.errors import ArgumentError, CallError
from mycelia.types import DType

if TYPE_CHECKING:
    from mycelia.nn.cell import Cell

C = TypeVar("C", bound="Annotated")


def _noted(name: str, kind: type, said: str, first: Any = None, least: int | None = None) -> Any:
    """An attribute that holds a checked value; `first` until somebody says one."""

    def read(self: Annotated) -> Any:
        return self._notes.get(name, first)

    def write(self: Annotated, value: Any) -> None:
        if type(value) is not kind:
            raise CallError(f"{name} is {said}, not {value!r}")
        if least is not None and value < least:  # type: ignore[operator]  # a number
            raise ArgumentError(f"{name} is {said}, not {value!r}")
        self._note(**{name: value})

    return property(read, write, doc=f"{said[0].upper()}{said[1:]}, as it was set; {first} before.")


class Annotated:
    """What notes are made about: the part of a cell that says what it is, and computes nothing."""

    _cells: Mapping[str, Cell]
    _params: Mapping[str, Parameter]
    _flags: Mapping[str, Any]
    _notes: Mapping[str, Any]  # beside flags: what has a name of its own

    pipeline_stage = _noted("pipeline_stage", int, "a whole number from 0: the stage of a pipeline", least=0)
    pipeline_segment = _noted("pipeline_segment", int, "a whole number from 0: the segment of a pipeline", least=0)
    compile_phase = _noted("compile_phase", str, "a text: what the cell is being compiled for")
    bprop_debug = _noted(
        "bprop_debug", bool, "True or False: whether bprop is looked at; eagerly Python always runs it", False
    )

    def _note(self, **notes: Any) -> None:
        self._notes = MappingProxyType({**self._notes, **notes})

    # --------------------------------------------------------------------------------------------------------- flags

    def add_flags(self: C, **flags: Any) -> C:
        """Note something about the cell, to be read from `get_flags` or as an attribute.

        >>> from mycelia.nn import Cell
        >>> Cell().add_flags(frozen=True).frozen
        True
        """
        self._flags = MappingProxyType({**self._flags, **flags})
        for name, value in flags.items():
            setattr(self, name, value)
        return self

    def add_flags_recursive(self: C, **flags: Any) -> C:
        """Note something about the cell and all inside.

        >>> from mycelia.nn import Cell
        >>> Cell().add_flags_recursive(depth=1).get_flags()
        {'depth': 1}
        """
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """What was noted about the cell.

        >>> from mycelia.nn import Cell
        >>> Cell(flags={"a": 1}).get_flags()
        {'a': 1}
        """
        return dict(self._flags)

    # --------------------------------------------------------------------------------------------- names and scopes

    @property
    def create_time(self) -> int:
        """When the cell was made, in nanoseconds since 1970; from the first time it is asked for."""
        if "create_time" not in self._notes:
            self._note(create_time=time_ns())
        return self._notes["create_time"]  # type: ignore[no-any-return]

    @property
    def param_prefix(self) -> str:
        """The path to the cell, as `update_cell_prefix` of a cell around it has noted it."""
        return str(self._notes.get("param_prefix", ""))

    def update_cell_prefix(self) -> None:
        """Note in each cell the path to it, as `param_prefix`.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.inner = Cell()
        >>> net.update_cell_prefix()
        >>> net.inner.param_prefix
        'inner'
        """
        for path, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell._note(param_prefix=path)

    def update_cell_type(self, cell_type: str) -> None:
        """Note what kind of cell it is, such as "second-order", as `cell_type`.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.update_cell_type("second-order")
        >>> net.cell_type
        'second-order'
        """
        self.cell_type = cell_type

    def get_scope(self) -> str | None:
        """The place of the cell in the network, as `generate_scope` of the network noted it.

        >>> from mycelia.nn import Cell
        >>> Cell().get_scope()
        """
        return self._notes.get("scope")

    def generate_scope(self) -> None:
        """Note in each cell inside its place: the names and kinds of the cells around it.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.inner = Cell()
        >>> net.generate_scope()
        >>> net.inner.get_scope()
        'Default/inner-Cell'
        """
        for scope, cell in self._scopes("Default"):
            if cell.get_scope() is None:
                cell._note(scope=scope)

    def _scopes(self, above: str) -> Iterator[tuple[str, Annotated]]:
        for name, cell in self.name_cells().items():  # type: ignore[attr-defined]
            scope = f"{above}/{name}-{type(cell).__name__}"
            yield scope, cell
            yield from cell._scopes(scope)

    def check_names(self) -> None:
        """Complain where two parameters have one name.

        >>> from mycelia.nn import Cell
        >>> Cell().check_names()
        """
        self.parameters_dict()  # type: ignore[attr-defined]

    def check_names_and_refresh_name(self) -> None:
        """Name parameters by their paths where two of them have one name.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.a, net.b = Parameter([1.0], name="w"), Parameter([1.0], name="w")
        >>> net.check_names_and_refresh_name()
        >>> net.a.name, net.b.name
        ('a', 'b')
        """
        named = [(path, p) for path, p in self.parameters_and_names()]  # type: ignore[attr-defined]
        if len({p.name for _, p in named}) < len(named):
            for path, parameter in named:
                parameter.name = path

    # ------------------------------------------------------------------------------------- several devices: one is here

    def parameters_broadcast_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter] | None:
        """The parameters that all devices hold alike, by name; None where there are none.

        >>> from mycelia.nn import Cell
        >>> Cell().parameters_broadcast_dict()
        """
        held = self.get_parameters(recurse)  # type: ignore[attr-defined]
        return OrderedDict((p.name, p) for p in held if not p.layerwise_parallel) or None

    @property
    def parameter_layout_dict(self) -> dict[str, Any]:
        """How parameters are spread over devices, by name: empty on one device, unless somebody sets it."""
        return self._notes.get("parameter_layout_dict", {})  # type: ignore[no-any-return]

    @parameter_layout_dict.setter
    def parameter_layout_dict(self, value: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            raise CallError(f"parameter_layout_dict is a dictionary, not a {type(value).__name__}")
        self._note(parameter_layout_dict=value)

    def set_broadcast_flag(self: C, mode: bool = True) -> C:
        """Note that the parameters are to be alike on all devices; `init` of a group reads it.

        >>> from mycelia.nn import Cell
        >>> Cell().set_broadcast_flag().get_flags()
        {'broadcast_flag': True}
        """
        return self.add_flags_recursive(broadcast_flag=checks.truth(type(self).__name__, "mode", mode))

    def set_comm_fusion(self: C, fusion_type: int, recurse: bool = True) -> C:
        """Note in trainable parameters, as `comm_fusion`, whose gradients are sent between devices together.

        >>> from mycelia.nn import Dense
        >>> Dense(1, 1).set_comm_fusion(2).weight.comm_fusion
        2
        """
        number = checks.whole(type(self).__name__, "fusion_type", fusion_type, least=0)
        for parameter in self.trainable_params(recurse):  # type: ignore[attr-defined]
            parameter.comm_fusion = number
        return self

    def set_data_parallel(self) -> None:
        """Wish that examples, and nothing else, are spread over devices: what is done here in any case.

        >>> from mycelia.nn import Cell
        >>> Cell().set_data_parallel()
        """
        self._note(data_parallel=True)

    def shard(
        self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Mapping[str, Any] | None = None
    ) -> None:
        """Note how inputs, results and parameters are to be spread over devices. With one device all is on it.

        >>> from mycelia.nn import Dense
        >>> Dense(2, 2).shard(in_strategy=((2, 1),), parameter_plan={"weight": (2, 1)})
        """
        for name, value in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            if value is not None and not isinstance(value, tuple):
                raise CallError(f"{name} is a tuple with a layout for each tensor, not a {type(value).__name__}")
        if in_strategy is None:
            raise CallError("in_strategy is a tuple with a layout for each input", hint="for example ((2, 1),)")
        if parameter_plan is not None and not isinstance(parameter_plan, Mapping):
            raise CallError(f"parameter_plan is a dictionary of layouts, not a {type(parameter_plan).__name__}")
        self._note(shard=(in_strategy, out_strategy, parameter_plan))

    def offload(self, backward_prefetch: str | int = "Auto") -> None:
        """Wish that what waits for the way back lies in the memory of the processor: here it always does.

        `backward_prefetch` says how early it is fetched from there; nothing has to be fetched.

        >>> from mycelia.nn import Cell
        >>> Cell().offload()
        """
        if backward_prefetch != "Auto":
            checks.whole(type(self).__name__, "backward_prefetch", backward_prefetch, least=1)
        self._note(offload=backward_prefetch)

    def remove_redundant_parameters(self) -> None:
        """Let go of parameters that another device holds: there is none on one device.

        >>> from mycelia.nn import Cell
        >>> Cell().remove_redundant_parameters()
        """

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """Each parameter, and the one that holds its numbers: itself, since parameters here are never without.

        >>> from mycelia.nn import Dense
        >>> net = Dense(1, 1)
        >>> net.init_parameters_data()[net.weight] is net.weight
        True
        """
        checks.truth(type(self).__name__, "auto_parallel_mode", auto_parallel_mode)
        return {p: p for p in self.get_parameters()}  # type: ignore[attr-defined]

    # --------------------------------------------------------------------------------------------- types and memory

    def to(self: C, *args: Any, **kwargs: Any) -> C:
        """Hold parameters and buffers in another floating type.

        Arguments are (dtype), (tensor), whose type is meant, or (device, dtype), each with non_blocking after it.

        Whole numbers stay as they are. There is one device, "CPU".

        >>> from mycelia.nn import Dense
        >>> from mycelia.types import float16
        >>> Dense(1, 1).to(float16).weight.dtype
        float16
        """
        dtype = asked_type(args, kwargs)
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            for parameter in cell._params.values():
                if dtype is not None and parameter.dtype.is_float:
                    parameter.set_dtype(dtype)
            for name in cell._persistent:
                held = getattr(cell, name)
                if dtype is not None and held is not None and held.dtype.is_float:
                    setattr(cell, name, held.astype(dtype))
        return self

    def to_empty(self: C, *, device: str | None = None, recurse: bool = True) -> C:
        """Let parameters and buffers hold memory that nobody has written to: zeros here.

        >>> from mycelia.nn import Dense
        >>> Dense(1, 1, weight_init="ones").to_empty().weight.tolist()
        [[0.0]]
        """
        if device is not None:
            holder(device)
        chosen: list[tuple[str, Any]] = list(self.cells_and_names()) if recurse else [("", self)]  # type: ignore[attr-defined]
        for _, cell in chosen:
            for held in (*cell._params.values(), *[getattr(cell, name) for name in cell._persistent]):
                if held is not None:
                    assign(held, wrap(np.zeros(held.shape, held.dtype.numpy)))
        return self


def asked_type(args: tuple[Any, ...], kwargs: dict[str, Any]) -> DType | None:
    """The floating type that arguments of `Cell.to` ask for, if they do.

    >>> from mycelia.types import float16
    >>> asked_type((), {"device": "CPU", "dtype": float16})
    float16
    """
    names = ("tensor",) if args and isinstance(args[0], Tensor) else ("device", "dtype")
    if args and not isinstance(args[0], str | Tensor) and args[0] is not None:
        names = ("dtype",)
    given = dict(zip((*names, "non_blocking"), args, strict=False))
    if len(args) > len(names) + 1 or given.keys() & kwargs.keys():
        raise CallError("to takes (device, dtype, non_blocking), (dtype, non_blocking) or (tensor, non_blocking)")
    given |= kwargs
    for name in given:
        if name not in ("device", "dtype", "tensor", "non_blocking"):
            raise CallError(f"to has no {name}", hint="it takes device, dtype, tensor and non_blocking")
    if given.get("tensor") is not None:
        given["dtype"] = given["tensor"].dtype
    if given.get("device") is not None:
        holder(str(given["device"]))
    checks.truth("to", "non_blocking", given.get("non_blocking", False))
    if given.get("dtype") is None:
        return None
    dtype = as_dtype(given["dtype"])
    if not dtype.is_float:
        raise CallError(f"a cell holds its weights in a floating type, not in {dtype!r}", hint="such as ms.float16")
    return dtype
