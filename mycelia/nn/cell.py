"""Cell: a piece of a network. It holds parameters and other cells, and `construct` says what it computes."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from mycelia.api.context import GRAPH_MODE, get_context
from mycelia.api.described import Described
from mycelia.api.given import by_place, with_gradient
from mycelia.api.recompute import check, computed_again
from mycelia.capture.values import alternatives
from mycelia.eager import Parameter, ParameterTuple, Tensor, as_dtype
from mycelia.eager.dispatch import mode
from mycelia.eager.parameter import UNNAMED
from mycelia.eager.tape import recording
from mycelia.errors import ArgumentError, MyceliaError
from mycelia.names import FOREIGN, missing_attribute, translated
from mycelia.nn.casting import all_in_type, constructed_in
from mycelia.nn.compiled import Compiled
from mycelia.nn.hooks import Hooked, WayBack, before_way_back
from mycelia.nn.state import Stateful, tell_of_unowned
from mycelia.types import DType

C = TypeVar("C", bound="Cell")
# what MindSpore lets one say of communication inside a cell that is computed again
COMMUNICATION = ("mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation")
NONE: Mapping[str, Any] = MappingProxyType({})
TABLES = ("_cells", "_params", "_flags", "_persistent", "_state_hooks", "_notes")  # what is noted by name


class UnfinishedCell(MyceliaError, AttributeError):
    """A cell was given something before its `__init__` had run."""


class Cell(Hooked, Compiled, Stateful):
    """A piece of a network.

    Parameters and cells that are assigned to attributes belong to it, under the names of the attributes.

    >>> class Scale(Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = Parameter([2.0])
    ...     def construct(self, x):
    ...         return x * self.factor
    >>> net = Scale()
    >>> net(Tensor([3.0])).asnumpy()
    array([6.], dtype=float32)
    >>> [p.name for p in net.trainable_params()]
    ['factor']
    """

    __watched__ = True  # every change of an attribute turns the epoch, so that compiled programs see it
    if not TYPE_CHECKING:
        __getattr__ = missing_attribute

    training: bool
    requires_grad: bool
    phase: str = "train"
    _cells: Mapping[str, Cell]  # replaced when it changes, as all that is noted about a cell
    _auto_prefix: bool
    kept_whole: tuple[str, ...] = ()  # parameters that `to_float` does not cast, such as what is remembered of batches
    as_one = False  # whether eager mode too runs it as one program, where no gradient is being taken
    bprop: Callable[..., Any] | None = None  # the gradient, where a class gives its own: bprop(self, *args, out, dout)

    def __init__(self, auto_prefix: bool = True, flags: Mapping[str, Any] | None = None) -> None:
        if not isinstance(auto_prefix, bool):
            raise ArgumentError(
                f"{self.cls_name} is made without a {type(auto_prefix).__name__}",
                hint=f"make the layer first, then call it: {self.cls_name}()(x)",
            )
        self.__dict__.update(
            _cells=NONE, _params=NONE, _auto_prefix=auto_prefix, _flags=MappingProxyType(dict(flags or {})),
            _extras=(), _persistent=NONE, _state_hooks=NONE, _notes=NONE, training=False, requires_grad=False,
        )  # fmt: skip

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """What the cell computes; every kind of cell defines its own."""
        hint = "construct(self, ...)" if not hasattr(type(self), "forward") else "construct in place of forward"
        raise ArgumentError(f"{self.cls_name} does not say what it computes", hint=f"define {hint}")

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if mode.capturing or self._extras or self.bprop is not None:
            graph = not mode.capturing and get_context("mode") == GRAPH_MODE
            return (self._compiled() if graph else self._run)(*args, **kwargs)
        if get_context("mode") == GRAPH_MODE or (self.as_one and not recording()):
            return self._compiled()(*args, **kwargs)
        try:
            return self.construct(*args, **kwargs)  # the common case, without a detour
        except FOREIGN as error:
            own = translated(error, self.construct, args, kwargs, self.cls_name)
            if own is error:
                raise
            raise own from None

    @staticmethod
    def __interpreted__(machine: Any, cell: Cell, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What a call means inside a captured program: `construct`, where there are no hooks and no other type."""
        call = machine.lookup(type(cell), "__call__")
        machine.store.world.pin(call)
        if call is not Cell.__call__:
            return machine.call(call, (cell, *args), options)
        if machine.whole(cell, ("attr", "_extras")) == () and machine.attribute(cell, "bprop") is None:
            return machine.call(machine.attribute(cell, "construct"), args, options)
        return machine.call(Cell._run, (cell, *args), options)

    def _run(self, /, *args: Any, **kwargs: Any) -> Any:
        """What a call does: `construct`, between the hooks, in the type that was chosen."""
        if self._described is not None:
            self._described.fit(args, kwargs)
        if any(handle.always for handle in self._after):
            return self._run_always(args, kwargs)
        for handle in self._before:
            args, kwargs = handle.before(args, kwargs)
        out = self._computed(args, kwargs)
        for handle in self._after:
            out = handle.after(args, kwargs, out)
        return before_way_back(self, out) if self._before_back else out

    def _run_always(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same, where some of the hooks are called also after a failure."""
        out, left = None, list(self._after)
        try:
            for handle in self._before:
                args, kwargs = handle.before(args, kwargs)
            out = self._computed(args, kwargs)
            while left:
                out = left.pop(0).after(args, kwargs, out)
        except Exception:
            for handle in [handle for handle in left if handle.always]:
                try:
                    out = handle.after(args, kwargs, out)
                except Exception as error:
                    warnings.warn(f"a hook failed after {self.cls_name} had failed: {error}", stacklevel=3)
            raise
        return before_way_back(self, out) if self._before_back else out

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `construct` gives, in the type that was chosen, with parameters as hooks make them."""
        back = WayBack(self) if self._after_back else None
        args = args if back is None else back.entered(args)
        if self._float is None and not self._on_parameters:
            out = self._constructed(args, kwargs)
        else:
            out = constructed_in(self, args if self._float is None else self.cast_inputs(args, self._float), kwargs)
        return out if back is None else back.left(out)

    def _constructed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `construct` gives; its gradient is that of `bprop`, where there is one."""
        if self.bprop is None:
            return computed_again(self.construct, args, kwargs) if self._recomputed else self.construct(*args, **kwargs)
        return with_gradient(self.construct, self.bprop, by_place(self.construct, args, kwargs) if kwargs else args)

    # --------------------------------------------------------------------------------------- what belongs to the cell

    def __setattr__(self, name: str, value: Any) -> None:
        if "_cells" not in self.__dict__:
            raise UnfinishedCell(
                f"{type(self).__name__} was given {name} before it was a Cell",
                given={name: type(value).__name__},
                hint=f"call super().__init__() first in {type(self).__name__}.__init__",
            )
        if isinstance(value, Parameter):
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            self.insert_child_to_cell(name, value)
        elif isinstance(value, Tensor) and name in self._params:
            self._params[name].set_data(value)
        else:
            self._hold(name, value)
            if isinstance(value, ParameterTuple):
                self._give_names(value)
                self._params = MappingProxyType({**self._params, **{p.name: p for p in value}})

    def _give_names(self, parameters: ParameterTuple) -> None:
        """Give those without names the next ones of the cell, so that checkpoints find them again."""
        count = 0
        for parameter in parameters:
            while parameter.name.startswith(UNNAMED):
                count += 1
                if f"Parameter${count}" not in self._params:
                    parameter.name = f"Parameter${count}"

    @staticmethod
    def __interpreted_set__(machine: Any, cell: Cell, name: str, value: Any) -> None:
        """What setting an attribute means inside a captured program: of parameters and cells, Python does it."""
        value, before = machine.settled(value), machine.read(cell, ("attr", name))
        params, cells, buffers = (
            machine.items_of(machine.whole(cell, ("attr", n))) for n in ("_params", "_cells", "_persistent")
        )
        plain = all(isinstance(v, Tensor) and not isinstance(v, Parameter) for v in alternatives(value))
        if isinstance(before, Parameter) and name in params and plain:
            machine.call(Parameter.set_data, (before, value), {})
            return
        owned = Parameter | Cell | ParameterTuple
        if any(isinstance(v, owned) for v in (*alternatives(value), *alternatives(before))) or name in cells:
            machine.refuse(f"{type(cell).__name__}.{name}, which belongs to the cell, is set")
        if name in params:
            machine.refuse(f"the parameter {name} is set")
        if name in buffers and not all(isinstance(v, Tensor | None) for v in alternatives(value)):
            machine.refuse(f"the buffer {name} becomes something else")
        machine.set_usual(cell, name, (value,))

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            self._let_go(name, None)
            if name in self._persistent:
                self.__dict__["_persistent"] = without(self._persistent, [name])
        object.__delattr__(self, name)

    def _hold(self, name: str, value: Any) -> None:
        """Make `value` the attribute `name`; what was called so belongs to the cell no more."""
        self._let_go(name, value)
        object.__setattr__(self, name, value)

    def _let_go(self, name: str, value: Any) -> None:
        """Note that what is called `name` belongs to the cell no more, but where `value` takes its place."""
        if name in self._params and not isinstance(value, Parameter):  # another takes its place in the order
            object.__setattr__(self, "_params", without(self._params, [name]))
        if name in self._cells and not isinstance(value, Cell):
            object.__setattr__(self, "_cells", without(self._cells, [name]))
        if name in self._persistent and (isinstance(value, Parameter) or not isinstance(value, Tensor | None)):
            object.__setattr__(self, "_persistent", without(self._persistent, [name]))
        before = self.__dict__.get(name)
        if isinstance(before, ParameterTuple):
            object.__setattr__(self, "_params", without(self._params, [p.name for p in before]))

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Make `param` the attribute `param_name`; None keeps the name free of a parameter.

        >>> net = Cell()
        >>> net.insert_param_to_cell("bias", Parameter([1.0]))
        >>> net.bias
        Parameter (name=bias, shape=(1,), dtype=Float32, requires_grad=True)
        """
        self._check_name(param_name, check_name_contain_dot)
        if param is not None and not isinstance(param, Parameter):
            raise ArgumentError(f"{param_name} must be a Parameter or None, not {type(param).__name__}")
        if param is not None and param.name.startswith(UNNAMED):
            param.name = param_name
        self._hold(param_name, param)
        if param is not None:
            self._params = MappingProxyType({**self._params, param_name: param})

    def insert_child_to_cell(self, child_name: str, child_cell: Cell) -> None:
        """Make `child_cell` the attribute `child_name`; the names of its parameters begin with it from now on.

        >>> net = Cell()
        >>> inner = Cell()
        >>> inner.w = Parameter([1.0])
        >>> net.insert_child_to_cell("inner", inner)
        >>> inner.w.name
        'inner.w'
        """
        self._check_name(child_name)
        if not isinstance(child_cell, Cell):
            raise ArgumentError(
                f"{child_name} must be a Cell, not {type(child_cell).__name__}",
                given={child_name: child_cell},
                hint="layers are made first, such as nn.ReLU()",
            )
        if self._auto_prefix:
            child_cell.update_parameters_name(child_name + ".")
        self._hold(child_name, child_cell)
        self._cells = MappingProxyType({**self._cells, child_name: child_cell})

    @staticmethod
    def _check_name(name: str, whole: bool = True) -> None:
        if not isinstance(name, str) or not name or (whole and "." in name):
            raise ArgumentError(f"{name!r} cannot name a part of a cell", hint="use a string without dots")

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name parameters by where they are, after `prefix`.

        >>> net = Cell()
        >>> net.w = Parameter([1.0])
        >>> net.update_parameters_name("old.")
        >>> net.w.name
        'old.w'
        """
        if prefix:
            for name, parameter in self.parameters_and_names(expand=recurse):
                parameter.name = prefix + name

    # ----------------------------------------------------------------------------------------------------- parameters

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Each parameter once, with the path to it.

        >>> net = Cell()
        >>> net.w = Parameter([1.0])
        >>> [name for name, _ in net.parameters_and_names()]
        ['w']
        """
        seen: dict[Parameter, None] = {}  # which a program may fill; a set it leaves to Python
        for path, cell in self.cells_and_names(name_prefix=name_prefix) if expand else [(name_prefix, self)]:
            for name, parameter in cell._params.items():
                if parameter not in seen:
                    seen[parameter] = None
                    yield (f"{path}.{name}" if path else name), parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Each parameter once; with `expand`, those of inner cells too.

        >>> list(Cell().get_parameters())
        []
        """
        return (parameter for _, parameter in self.parameters_and_names(expand=expand))

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by their names, which must differ.

        >>> net = Cell()
        >>> net.w = Parameter([1.0], name="weight")
        >>> list(net.parameters_dict())
        ['weight']
        """
        by_name: OrderedDict[str, Parameter] = OrderedDict()
        for path, parameter in self.parameters_and_names(expand=recurse):
            if parameter.name in by_name:
                raise ArgumentError(
                    f"two parameters of {self.cls_name} are called {parameter.name!r}",
                    given={"second": path},
                    hint="give them names of their own: Parameter(..., name=...)",
                )
            by_name[parameter.name] = parameter
        return by_name

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that training changes.

        >>> net = Cell()
        >>> net.w, net.mean = Parameter([1.0]), Parameter([1.0], requires_grad=False)
        >>> [p.name for p in net.trainable_params()]
        ['w']
        """
        parameters = list(self.get_parameters(recurse))
        tell_of_unowned(self, parameters)
        return [parameter for parameter in parameters if parameter.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that training leaves alone.

        >>> Cell().untrainable_params()
        []
        """
        return [parameter for parameter in self.get_parameters(recurse) if not parameter.requires_grad]

    # ---------------------------------------------------------------------------------------------------- inner cells

    def cells_and_names(self, cells: set[Cell] | None = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """The cell and every cell inside, each once, with the path to it; those in `cells` are left out.

        >>> net = Cell()
        >>> net.inner = Cell()
        >>> [name for name, _ in net.cells_and_names()]
        ['', 'inner']
        """
        if cells is None:
            yield from self._walked({}, name_prefix)
            return
        seen = dict.fromkeys(cells)
        for path, cell in self._walked(seen, name_prefix):
            cells.add(cell)
            yield path, cell

    def _walked(self, seen: dict[Cell, None], path: str) -> Iterator[tuple[str, Cell]]:
        if self in seen:
            return
        seen[self] = None
        yield path, self
        for name, cell in self._cells.items():
            yield from cell._walked(seen, f"{path}.{name}" if path else name)

    def cells(self) -> list[Cell]:
        """The cells directly inside.

        >>> Cell().cells()
        []
        """
        return list(self.name_cells().values())

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The cells directly inside, each once, by name.

        >>> net = Cell()
        >>> net.inner = Cell()
        >>> list(net.name_cells())
        ['inner']
        """
        once = {id(cell): name for name, cell in reversed(list(self._cells.items()))}
        return OrderedDict((name, cell) for name, cell in self._cells.items() if once[id(cell)] == name)

    def get_sub_cell(self, target: str) -> Cell:
        """The inner cell at a path; the cell itself at the empty one.

        >>> net = Cell()
        >>> net.inner = Cell()
        >>> net.get_sub_cell("inner") is net.inner
        True
        """
        cell = self
        for name in target.split(".") if target else []:
            if name not in cell._cells:
                raise AttributeError(f"{cell.cls_name} has no cell {name!r} on the way to {target!r}")
            cell = cell._cells[name]
        return cell

    def apply(self: C, fn: Callable[[Cell], object]) -> C:
        """Call `fn` on every cell inside, then on this one.

        >>> net = Cell().apply(lambda cell: cell.add_flags(seen=True))
        >>> net.get_flags()
        {'seen': True}
        """
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # ---------------------------------------------------------------------------------------------------------- modes

    def set_train(self: C, mode: bool = True) -> C:
        """Say whether the cell, with all inside, is being trained: dropout and batch statistics depend on it.

        >>> Cell().set_train().training
        True
        """
        if not isinstance(mode, bool):
            raise ArgumentError(f"set_train takes True or False, not {mode!r}", hint="net.set_train(False) is for use")
        for _, cell in self.cells_and_names():
            cell.training = mode
            cell.phase = "train" if mode else "predict"
        return self

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Describe the arguments: dimensions that are None may change, and are symbolic when the cell is compiled.

        Tensors without data stand for the tensors to come, in the order of `construct` or by its names. A call with
        other shapes or element types is an error.

        >>> from mycelia.types import float32
        >>> net = Cell()
        >>> net.construct = lambda x: x * 2
        >>> net.set_inputs(Tensor(shape=(None, 2), dtype=float32))
        >>> net(Tensor([[1.0, 2.0]])).tolist()
        [[2.0, 4.0]]
        >>> net.get_inputs()
        (Tensor(shape=[None, 2], dtype=Float32, value=<none>),)
        """
        if not inputs and not kwargs:
            raise ArgumentError("set_inputs describes the arguments of a cell", hint="pass a tensor for each of them")
        self._described = Described.of(self.construct, inputs, kwargs)

    def get_inputs(self) -> tuple[Any, ...] | None:
        """What `set_inputs` was given, in the order of the parameters; None without it."""
        return None if self._described is None else self._described.tensors

    def set_grad(self: C, requires_grad: bool = True) -> C:
        """Say whether gradients of the cell are going to be asked for.

        >>> Cell().set_grad().requires_grad
        True
        """
        self.requires_grad = requires_grad
        return self

    def recompute(
        self,
        *,
        use_reentrant: bool = True,
        output_recompute: bool = False,
        early_stop: bool = True,
        context_fn: Callable[[], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keep nothing of what the cell computes inside for its gradient: it is computed again on the way back.

        What the arguments choose between in MindSpore comes to the same here; those about communication
        (`mp_comm_recompute` and the like) have nothing to steer. See `ms.recompute` and docs/memory.md.

        >>> class Cube(Cell):
        ...     def construct(self, x):
        ...         return x * x * x
        >>> cube = Cube()
        >>> cube.recompute()
        >>> from mycelia.api.grad import grad
        >>> grad(cube)(Tensor(2.0)).item()
        12.0
        """
        check(self, context_fn)
        for name in kwargs:
            if name not in COMMUNICATION:
                raise ArgumentError(f"recompute has no option {name}", hint=f"it takes {', '.join(COMMUNICATION)}")
        self._recomputed = True

    def to_float(self: C, dst_type: Any) -> C:
        """Compute in this floating type: inputs and parameters are cast as the cell, and all inside, are called.

        >>> class Twice(Cell):
        ...     def construct(self, x):
        ...         return x + x
        >>> Twice().to_float("float16")(Tensor([1.0])).dtype
        float16
        """
        dtype = as_dtype(dst_type)
        if not dtype.is_float:
            raise ArgumentError(f"a cell computes in a floating type, not in {dtype!r}", hint="for example ms.float16")
        for _, cell in self.cells_and_names():
            cell._float = dtype
        return self

    def cast_inputs(self, inputs: tuple[Any, ...], dst_type: DType) -> tuple[Any, ...]:
        """The inputs with all floating tensors among them in another type.

        >>> Cell().cast_inputs((Tensor([1.0]), 3), as_dtype("float16"))[0].dtype
        float16
        """
        return all_in_type(inputs, dst_type)

    # ------------------------------------------------------------------------------------------- copies and looks

    def __getstate__(self) -> dict[str, Any]:
        held = {name: value for name, value in self.__dict__.items() if name != "_jitted"}
        return held | {name: dict(held[name]) for name in TABLES}

    def __setstate__(self, held: dict[str, Any]) -> None:
        self.__dict__.update(held)
        self.__dict__.update({name: MappingProxyType(held.get(name, {})) for name in TABLES})

    @property
    def cls_name(self) -> str:
        """The name of the kind of cell."""
        return type(self).__name__

    def extend_repr(self) -> str:
        """What to show of the cell between its parentheses.

        >>> Cell().extend_repr()
        ''
        """
        return ""

    def __repr__(self) -> str:
        inside = [f"({name}): {cell!r}".replace("\n", "\n  ") for name, cell in self._cells.items()]
        shown = self.extend_repr()
        if not inside:
            return f"{self.cls_name}({shown})"
        return "\n  ".join([f"{self.cls_name}({shown}", *inside]) + "\n)"

    def _repr_html_(self) -> str:
        return str(import_module("mycelia.nn.notebook").tree(self))


def without(members: Mapping[str, Any], names: list[str]) -> Mapping[str, Any]:
    """The members that are not called so.

    >>> dict(without({"a": 1, "b": 2}, ["a"]))
    {'b': 2}
    """
    return MappingProxyType({name: member for name, member in members.items() if name not in names})
