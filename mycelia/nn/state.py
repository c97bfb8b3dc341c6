"""The state of a cell: its parameters and buffers by name, as it is given out and taken up again."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from mycelia.capture.registered import REGISTERED
from mycelia.eager import Parameter, ParameterTuple, Tensor, assign
from mycelia.errors import ArgumentError, CallError, MyceliaError
from mycelia.frozen import frozen

if TYPE_CHECKING:
    from mycelia.nn.cell import Cell

EXTRA = "_extra_state"  # what `get_extra_state` gives is kept under this name


class StateError(MyceliaError, RuntimeError):
    """A state that does not fit the cell which it is loaded into."""


class IncompatibleKeys(NamedTuple):
    """The names that a cell has and a state has not, and the other way round."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"

    def __str__(self) -> str:
        return repr(self)


class StateDict(OrderedDict[str, Any]):
    """A state by name; `_metadata` holds what hooks note about the cells, by their paths. It looks as what it is."""

    def __repr__(self) -> str:
        return repr(OrderedDict(self))

    _metadata: OrderedDict[str, dict[str, Any]]


@frozen(eq=False)
class StateHook:
    """What is called when a state is given out or taken up; it can be removed."""

    cell: Stateful
    moment: str
    call: Callable[..., Any]

    def remove(self) -> None:
        """Call it no more."""
        kept = tuple(h for h in self.cell._state_hooks.get(self.moment, ()) if h is not self)
        self.cell._state_hooks = MappingProxyType({**self.cell._state_hooks, self.moment: kept})


class Stateful:
    """What has a state: the part of a cell that is about buffers and states."""

    _cells: Mapping[str, Cell]
    _params: Mapping[str, Parameter]
    _persistent: Mapping[str, bool]  # the names of buffers, and whether they belong to the state
    _state_hooks: Mapping[str, tuple[StateHook, ...]]

    # ------------------------------------------------------------------------------------------------------- buffers

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make a tensor the attribute `name` that is no parameter; with `persistent` it belongs to the state.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.register_buffer("seen", Tensor([1, 2]))
        >>> net.seen.tolist(), list(net.state_dict())
        ([1, 2], ['seen'])
        """
        if not isinstance(name, str):
            raise CallError(f"the name of a buffer is a string, not {name!r}")
        if not name or "." in name:
            raise ArgumentError(f"{name!r} cannot name a buffer", hint="use a string without dots")
        if name not in self._persistent and (name in self.__dict__ or hasattr(type(self), name)):
            raise ArgumentError(f"{type(self).__name__} has a {name} already, which is no buffer", hint="rename one")
        if tensor is not None and (not isinstance(tensor, Tensor) or isinstance(tensor, Parameter)):
            raise CallError(f"buffer {name} is a Tensor or None, not a {type(tensor).__name__}")
        for hook in BUFFER_HOOKS:
            given = hook.call(self, name, tensor)
            tensor = tensor if given is None else given
        setattr(self, name, tensor)
        self._persistent = MappingProxyType({**self._persistent, name: bool(persistent)})

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.inner = Cell()
        >>> net.inner.register_buffer("seen", Tensor([1, 2]))
        >>> net.get_buffer("inner.seen").tolist()
        [1, 2]
        """
        path, _, name = target.rpartition(".")
        cell: Stateful = self.get_sub_cell(path)  # type: ignore[attr-defined]
        if name not in cell._persistent:
            raise AttributeError(f"{type(cell).__name__} has no buffer {name!r}")
        return getattr(cell, name)  # type: ignore[no-any-return]

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with the paths to them, each once unless `remove_duplicate` says otherwise.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.register_buffer("seen", Tensor([1, 2]))
        >>> [name for name, _ in net.named_buffers("net")]
        ['net.seen']
        """
        seen = set()
        for path, cell in self.cells_and_names(name_prefix=prefix) if recurse else [(prefix, self)]:  # type: ignore[attr-defined]
            for name in cell._persistent:
                buffer = getattr(cell, name)
                if buffer is not None and id(buffer) not in seen:
                    seen |= {id(buffer)} if remove_duplicate else set()
                    yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once.

        >>> from mycelia.nn import Cell
        >>> list(Cell().buffers())
        []
        """
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    # --------------------------------------------------------------------------------------------- what is given out

    def get_extra_state(self) -> Any:
        """What belongs to the state beside tensors; a kind of cell that has such a thing defines it."""
        raise StateError(f"{type(self).__name__} has no state beside its tensors", hint="define get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take up what `get_extra_state` gave; a kind of cell that has such a thing defines it."""
        raise StateError(f"{type(self).__name__} has no state beside its tensors", hint="define set_extra_state")

    def state_dict(
        self, *args: Any, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """The parameters and persistent buffers by their paths: themselves, not copies.

        They are put into `destination`, if there is one. `keep_vars` is handed to hooks.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.w = Parameter([1.0], name="w")
        >>> net.state_dict(prefix="net.")["net.w"] is net.w
        True
        """
        if args:
            warnings.warn("state_dict takes its arguments by name", FutureWarning, stacklevel=2)
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is not None and not isinstance(destination, dict):
            raise CallError(f"destination is a dictionary, not a {type(destination).__name__}")
        if not isinstance(prefix, str):
            raise CallError(f"prefix is a string, not {prefix!r}")
        if not isinstance(keep_vars, bool):
            raise CallError(f"keep_vars is True or False, not {keep_vars!r}")
        if destination is None:
            destination = StateDict()
            destination._metadata = OrderedDict()
        noted: dict[str, Any] = {}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = noted
        self._call("before giving", prefix, keep_vars)
        for name, held in self._own_state().items():
            destination[prefix + name] = held
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()
        for name, cell in self._cells.items():
            cell.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for given in self._call("after giving", destination, prefix, noted):
            if given is not None:
                raise StateError("a hook after state_dict changes the dictionary, and returns None")
        return destination

    def _own_state(self) -> dict[str, Tensor]:
        """The parameters and persistent buffers of this cell alone."""
        kept = {name: getattr(self, name) for name, persistent in self._persistent.items() if persistent}
        return {**self._params, **{name: buffer for name, buffer in kept.items() if buffer is not None}}

    # ---------------------------------------------------------------------------------------------- what is taken up

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Copy the values of a state into parameters and buffers; with `strict` all names must fit.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.w = Parameter([1.0], name="w")
        >>> net.load_state_dict({"w": Tensor([3.0])})
        <All keys matched successfully>
        >>> net.w.tolist()
        [3.0]
        """
        if not isinstance(state_dict, Mapping):
            raise CallError(f"a state is a dictionary of tensors, not a {type(state_dict).__name__}")
        given, noted = OrderedDict(state_dict), getattr(state_dict, "_metadata", {})
        found, wrong = IncompatibleKeys([], []), list[str]()
        self._load(given, "", noted, found, wrong)
        if strict:
            wrong = [
                *[f"missing are {', '.join(found.missing_keys)}"] * bool(found.missing_keys),
                *[f"unexpected are {', '.join(found.unexpected_keys)}"] * bool(found.unexpected_keys),
                *wrong,
            ]
        if wrong:
            raise StateError(
                f"the state does not fit {type(self).__name__}: {'; '.join(wrong)}",
                hint="strict=False leaves missing and unexpected names alone",
            )
        return found

    def _load(
        self,
        given: dict[str, Any],
        prefix: str,
        noted: Mapping[str, Any],
        found: IncompatibleKeys,
        wrong: list[str],
    ) -> None:
        """Take up what is in a state for this cell and those inside."""
        about = noted.get(prefix[:-1], {})
        self._call("before taking", given, prefix, about, True, found.missing_keys, found.unexpected_keys, wrong)
        mine, extra = self._own_state(), prefix + EXTRA
        for name, held in mine.items():
            if prefix + name in given:
                _copy(prefix + name, given[prefix + name], held, wrong)
            else:
                found.missing_keys.append(prefix + name)
        takes = type(self).set_extra_state is not Stateful.set_extra_state
        if takes and extra in given:
            self.set_extra_state(given[extra])
        elif takes:
            found.missing_keys.append(extra)
        elif extra in given:
            found.unexpected_keys.append(extra)
        for key in given:
            name = key.removeprefix(prefix)
            if key.startswith(prefix) and key != extra and name not in mine:  # of an optimizer, names have dots
                first, dot, _ = name.partition(".")
                if not dot or first not in self._cells:
                    found.unexpected_keys.append(key)
        for name, cell in self._cells.items():
            below = f"{prefix}{name}."
            cell._load({k: v for k, v in given.items() if k.startswith(below)}, below, noted, found, wrong)
        for told in self._call("after taking", found):
            if told is not None:
                raise StateError("a hook after load_state_dict changes the lists of names, and returns None")

    # --------------------------------------------------------------------------------------------------------- hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(cell, prefix, keep_vars)` before the state of the cell is given out.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> handle = net.register_state_dict_pre_hook(lambda cell, prefix, keep: print("now", repr(prefix)))
        >>> _ = net.state_dict()
        now ''
        """
        return self._hook("before giving", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(cell, state, prefix, metadata)` after the state was put together; it may change the dictionary.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> handle = net.register_state_dict_post_hook(lambda cell, state, prefix, about: state.update(version=3))
        >>> net.state_dict()["version"]
        3
        """
        return self._hook("after giving", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(cell, state, prefix, metadata, strict, missing, unexpected, errors)` before a state is taken up.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.w = Parameter([1.0], name="w")
        >>> handle = net.register_load_state_dict_pre_hook(lambda cell, state, *_: state.update(w=state.pop("old")))
        >>> _ = net.load_state_dict({"old": Tensor([3.0])})
        >>> net.w.tolist()
        [3.0]
        """
        return self._hook("before taking", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> StateHook:
        """Call `hook(cell, keys)` after a state was taken up; it may change the lists of names that did not fit.

        >>> from mycelia.nn import Cell
        >>> net = Cell()
        >>> net.w = Parameter([1.0], name="w")
        >>> handle = net.register_load_state_dict_post_hook(lambda cell, keys: keys.missing_keys.clear())
        >>> net.load_state_dict({})
        <All keys matched successfully>
        """
        return self._hook("after taking", hook)

    def _hook(self, moment: str, hook: Callable[..., Any]) -> StateHook:
        if not callable(hook):
            raise CallError(f"a hook is a function, not a {type(hook).__name__}")
        made = StateHook(self, moment, hook)
        now = (*self._state_hooks.get(moment, ()), made)
        self._state_hooks = MappingProxyType({**self._state_hooks, moment: now})
        return made

    def _call(self, moment: str, *args: Any) -> list[Any]:
        return [hook.call(self, *args) for hook in self._state_hooks.get(moment, ())]


def _copy(name: str, value: Any, held: Tensor, wrong: list[str]) -> None:
    """Make a parameter or a buffer hold another value, or say why it cannot."""
    if not isinstance(value, Tensor):
        wrong.append(f"{name} is a {type(value).__name__} in the state, and no Tensor")
    elif value.shape != held.shape:
        wrong.append(f"{name} has shape {value.shape} in the state, and {held.shape} in the cell")
    else:
        assign(held, value)


@frozen(eq=False)
class BufferHook:
    """What is called whenever a buffer is registered; it can be removed."""

    call: Callable[..., Any]

    def remove(self) -> None:
        """Call it no more."""
        BUFFER_HOOKS.remove(self)


BUFFER_HOOKS: list[BufferHook] = []


def register_cell_buffer_registration_hook(hook: Callable[..., Any]) -> BufferHook:
    """Call `hook(cell, name, buffer)` whenever any cell gets a buffer; what it returns, if anything, takes its place.

    >>> from mycelia.nn import Cell
    >>> handle = register_cell_buffer_registration_hook(lambda cell, name, buffer: buffer + 1)
    >>> net = Cell()
    >>> net.register_buffer("seen", Tensor([1, 2]))
    >>> net.seen.tolist()
    [2, 3]
    >>> handle.remove()
    """
    made = BufferHook(hook)
    BUFFER_HOOKS.append(made)
    return made


# ------------------------------------------------------------------------------------------ held, and not owned


def tell_of_unowned(net: Cell, owned: Collection[Parameter]) -> None:
    """Warn of cells and parameters in plain lists, tuples and dictionaries that do not belong to the network anyway.

    What is kept under a name with an underscore at its beginning is meant to stay outside.

    >>> from mycelia.nn import Cell, Dense
    >>> net = Cell()
    >>> net.first, net.layers = Dense(2, 2), [Dense(2, 1)]
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     len(net.trainable_params())
    2
    >>> print(told[0].message)
    layers of Cell is a list of cells, whose 2 parameters are not the network's: no optimizer changes them, ...
    """
    for told in _unowned(net, owned):
        _tell(*told)


def _unowned(net: Cell, owned: Collection[Parameter]) -> Iterator[tuple[str, Cell, Any, int]]:
    """Where things are held, by whom, in what, and how many parameters of them the network does not own."""
    known = {id(p) for p in owned}
    for path, cell in net.cells_and_names():
        for name, value in vars(cell).items():
            if name.startswith("_") or type(value) not in (list, tuple, dict):
                continue
            outside = [p for p in _weights(value) if id(p) not in known]
            if outside:
                yield f"{path}.{name}" if path else name, cell, value, len(outside)


def _told_in_a_program(machine: Any, fn: Any, args: Any, options: Any) -> None:
    """The same in a compiled program, which asks when it is written: Python runs a line that has something to tell."""
    net = args[0]
    if id(net) in machine.store.world.fresh or any(_unowned(net, list(net.get_parameters()))):
        machine.refuse("a network does not own what it holds")


REGISTERED[tell_of_unowned.__code__] = _told_in_a_program


def _weights(held: Any) -> Iterator[Parameter]:
    """The parameters to be trained of what lies in a list, tuple or dictionary."""
    for value in held.values() if isinstance(held, Mapping) else held:
        if isinstance(value, Parameter) and value.requires_grad:
            yield value
        elif isinstance(value, Stateful):
            yield from (p for p in value.get_parameters() if p.requires_grad)  # type: ignore[attr-defined]  # a cell


def _tell(place: str, cell: Cell, held: Any, count: int) -> None:
    kind = type(held).__name__
    loose = any(isinstance(value, Parameter) for value in (held.values() if isinstance(held, Mapping) else held))
    instead = {"dict": "nn.CellDict"}.get(kind, "nn.CellList") if not loose else ParameterTuple.__name__
    what = "parameters, which" if loose else f"cells, whose {count} parameters"
    warnings.warn(
        f"{place} of {cell.cls_name} is a {kind} of {what} are not the network's: no optimizer changes them, and no "
        f"checkpoint holds them; use {instead}({'{...}' if kind == 'dict' and not loose else '[...]'})",
        stacklevel=4,
    )
