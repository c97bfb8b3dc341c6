"""The world outside of a program: numbered objects, and the list of first reads, which is the guard."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mycelia.capture.holding import held, lasts, there
from mycelia.capture.sizing import Naming, Shapes
from mycelia.capture.slots import DATA, ITEMS, Slot, fetch
from mycelia.capture.values import MISSING, Break, HostNumber, is_atom
from mycelia.eager import Parameter, Tensor
from mycelia.frozen import frozen
from mycelia.ir import Value, fresh_params, located
from mycelia.sizes import NeedsSize, Sym, comes_from_data, hint
from mycelia.types import _BY_NUMPY, TensorType, type_of

MOST_ITEMS = 20_000  # of a container that a guard compares one by one
MANY_ITEMS = 100_000  # of all of them; one that stands in several places counts as often
OF_A_TUPLE = 20  # items that take as long as to look at a tuple itself: a guard has several lines for each
DEEPEST = 100  # tuples in tuples
Path = tuple[Any, ...]  # how an object is reached from the root: slots, outermost first


@frozen
class SameValue:
    """A value that must be the same."""

    value: Any


@frozen
class Object:
    """The object with this number: a new one if the number is new, else the same. So aliases are guarded exactly."""

    number: int
    type: Any


@frozen
class Array:
    """The data of a tensor, an input of the program: of this type."""

    input: int
    type: TensorType


@frozen
class Varying:
    """A Python number of this type, whatever its value."""

    step: int
    type: type


@frozen
class NotANumber:
    """A nan: containers find it by its identity, so which of them are one object is guarded as for objects."""

    step: int  # where the guard keeps it
    sample: float


@frozen
class KnownTuple:
    """A tuple of these, of this class; it has a number, so that who is given it gets this very tuple."""

    parts: tuple[Any, ...]
    kind: Any = tuple
    number: int | None = None


@frozen
class Content:
    """An array with these numbers."""

    array: np.ndarray[Any, Any]


Expect = SameValue | Object | Array | Varying | NotANumber | KnownTuple | Content


@frozen
class Read:
    """A guard: this slot of the object with this number holds what it held."""

    parent: int
    slot: Slot
    expect: Expect


@frozen
class Pinned:
    """A guard: the object with this number is this very one."""

    number: int
    thing: Any


@frozen
class Compute:
    """A number that Python computes from others, before the program runs. Operands are hosts or constants."""

    step: int
    function: Callable[..., Any]
    operands: tuple[Any, ...]
    kind: type  # of the number, which must be the same


@frozen
class Measure:
    """A number that is a size of the tensors that were read."""

    step: int
    size: Sym


@frozen
class Check:
    """A guard: a computed number is what it was."""

    step: int
    value: Any


@frozen
class NumberInput:
    """An input of the program that is made of a computed number: an array of this type."""

    input: int
    step: int
    type: TensorType


@dataclass
class World:
    """What one capture has seen outside."""

    root: Any
    varying: frozenset[Path] = frozenset()  # numbers that changed between calls
    reads: list[Any] = field(default_factory=list)
    naming: Naming | None = None  # of sizes that change

    def __post_init__(self) -> None:
        self.objects: list[Any] = [self.root]
        self.index: dict[int, int] = {id(self.root): 0}
        self.paths: list[Path] = [()]
        self.seen: dict[tuple[int, Slot], Any] = {}
        self.fresh: dict[int, Any] = {}  # made by the program; kept alive so that ids stay unique
        self.inputs: list[Value] = []
        self.steps = 0
        self.checked: dict[int, Any] = {}
        self.sizes: dict[Sym, HostNumber] = {}
        self.given: dict[tuple[int, TensorType], Value] = {}
        self.kinds: dict[int, str] = {}  # how the contents of a dict are read: key by key, or all together
        self.pinned: set[int] = set()
        self.nans: dict[int, NotANumber] = {}
        self.copies: list[np.ndarray[Any, Any]] = []  # of arrays from outside
        self.items = 0  # in all nests
        self.hiding: dict[int, tuple[bool, type]] = {}
        self.touched_classes = False  # whether one of them is a class
        self.touched: set[int] = set()  # objects from outside that the program writes to
        self.shapes: Shapes = {}
        self.tuples: dict[int, tuple[Any, int]] = {}  # as the program sees them: themselves, and their numbers
        self.types: list[Any] = []  # of the objects, once these are let go

    def kind(self, number: int) -> type:
        """The class of an object when it was met."""
        return there(self.types[number]) if self.types else type(self.objects[number])

    def release(self) -> None:
        """Let go of all that would die without us. What is kept of it are numbers, types and weak references."""
        known: dict[type, Any] = {t: held(t) for t in set(map(type, self.objects))}
        self.types = [known[type(x)] for x in self.objects]
        self.objects = list(map(held, self.objects))
        self.reads = list(map(kept, self.reads))
        self.root = None
        self.copies.clear()
        for table in (self.index, self.seen, self.fresh, self.tuples, self.hiding):
            table.clear()

    def number(self, obj: Any) -> int:
        """Classes, modules and things of ours may be reached by name; every other object was read from a slot."""
        found = self.index.get(id(obj))
        if found is None:
            found = self.index[id(obj)] = len(self.objects)
            self.reads.append(Read(0, ("constant", obj), Object(found, type(obj))))
            self.objects.append(obj)
            self.paths.append(("constant", id(obj)))
        return found

    def read(self, obj: Any, slot: Slot) -> Any:
        """What the program sees in a slot of an object: a first read is a guard."""
        if id(obj) in self.fresh:
            return MISSING
        key = id(obj), slot
        if key not in self.seen:
            if slot[0] in ("key", "items") and self.kinds.setdefault(id(obj), slot[0]) != slot[0]:
                raise Break("a dictionary is read as variables and as a whole")
            parent = self.number(obj)
            value, expect = self.admit(fetch(obj, slot), (*self.paths[parent], slot), obj)
            self.reads.append(Read(parent, slot, expect))
            self.seen[key] = value
        return self.seen[key]

    def admit(self, raw: Any, path: Path, owner: Any = None) -> tuple[Any, Expect]:
        """An outside value as the program sees it, and what to expect of it at the next call."""
        kind = type(raw)
        if not kind.__flags__ & 1 << 8 and kind is not Sym and self.hides(kind):
            raise Break(f"{kind.__name__} says itself what its attributes are")
        if kind.__module__ == "mycelia.api.mutable":
            host = HostNumber(self.step(), float(raw) if isinstance(raw, float) else int(raw), mutable=True)
            return host, Varying(host.step, kind)
        if (kind is int or kind is float) and path in self.varying:
            host = HostNumber(self.step(), raw)
            return host, Varying(host.step, kind)
        if kind is float and raw != raw:
            if id(raw) not in self.nans:
                self.nans[id(raw)] = NotANumber(self.step(), raw)
            return raw, self.nans[id(raw)]
        if is_atom(raw):
            if kind is slice and not lasts(raw):
                raise Break("a slice of objects")
            return raw, SameValue(raw)
        if isinstance(raw, tuple):
            return self.nest(raw, path)
        if kind is np.ndarray and path[-1:] == (DATA,):
            self.shapes[path] = raw.shape
            return self.array(raw, None if self.naming is None else self.naming.type_of(owner, path, raw))
        if kind is Value:
            raise Break("a tensor belongs to a graph that is being written")
        known = self.index.get(id(raw))
        if known is None:
            known = self.index[id(raw)] = len(self.objects)
            self.objects.append(raw)
            self.paths.append(path)
        return raw, Object(known, kind)

    def hides(self, kind: type) -> bool:
        """See `hides_itself`, asked once of each class."""
        found = self.hiding.get(id(kind))
        if found is None:
            found = self.hiding[id(kind)] = hides_itself(kind), kind
        return found[0]

    def adds_names(self, kind: type) -> bool:
        """Whether a subclass of tuple adds names only, at every call: what its classes say is read."""
        for c in kind.__mro__:
            if not c.__flags__ & 1 << 8:
                self.read(c, ("names", None))
        return only_names(kind)

    def nest(self, raw: tuple[Any, ...], path: Path) -> tuple[Any, Expect]:
        """A tuple, or what is one but for its name."""
        kind = type(raw)
        if hasattr(kind, "n_sequence_fields") and all(map(is_atom, raw)):  # of Python's own, such as sys.version_info
            return raw, SameValue(raw)
        if kind is not tuple and not self.adds_names(kind):
            raise Break(f"a {kind.__name__} is a tuple with a way of its own")
        if len(path) >= DEEPEST and type(path[-DEEPEST]) is int:
            raise Break(f"a tuple in more than {DEEPEST} others")
        self.items += len(raw) + OF_A_TUPLE
        if len(raw) > MOST_ITEMS or self.items > MANY_ITEMS:
            raise Break(f"{max(len(raw), self.items)} items would be compared one by one at every call")
        pairs = [self.admit(r, (*path, i)) for i, r in enumerate(raw)]
        value, parts = tuple.__new__(kind, [v for v, _ in pairs]), tuple([e for _, e in pairs])
        if not raw or path[-1] == ITEMS or (type(path[-1]) is tuple and path[-1][0] == "field"):  # nobody holds it
            return value, KnownTuple(parts, kind)
        self.tuples[id(value)] = value, len(self.objects)
        self.objects.append(raw)
        self.paths.append(path)
        return value, KnownTuple(parts, kind, len(self.objects) - 1)

    def array(self, raw: np.ndarray[Any, Any], symbolic: TensorType | None = None) -> tuple[Value, Array]:
        """The data of a tensor as an input."""
        if raw.dtype not in _BY_NUMPY:
            raise Break(f"a tensor of {raw.dtype}")
        kind = type_of(raw) if symbolic is None else symbolic
        return self.input(kind), Array(len(self.inputs) - 1, kind)

    def input(self, kind: TensorType) -> Value:
        """A new input of the program."""
        with located(None):
            (param,) = fresh_params((kind,))
        self.inputs.append(param)
        return param

    # -------------------------------------------------------------------------------------------------------- numbers

    def step(self) -> int:
        self.steps += 1
        return self.steps - 1

    def compute(self, function: Callable[..., Any], *operands: Any) -> Any:
        """A number that Python will compute at every call. What it raises now is the user's error."""
        operands = tuple([self.size(x) if type(x) is Sym else x for x in operands])
        try:
            sample = function(*[x.sample if isinstance(x, HostNumber) else x for x in operands])
        except Exception:
            for x in operands:
                self.constant(x)  # it is an error for these numbers, and perhaps not for others
            raise
        if type(sample) not in (int, float, bool):
            return self.constant_of(function, operands, sample)
        host = HostNumber(self.step(), sample)
        self.reads.append(
            Compute(
                host.step,
                function,
                tuple(x if isinstance(x, HostNumber) else SameValue(x) for x in operands),
                type(sample),
            )
        )
        return host

    def size(self, n: Sym) -> HostNumber:
        """A size as a number that is known at every call, before the program runs."""
        if n not in self.sizes:
            if comes_from_data(n):
                raise NeedsSize(n)
            self.sizes[n] = HostNumber(self.step(), hint(n))
            self.reads.append(Measure(self.sizes[n].step, n))
        return self.sizes[n]

    def constant_of(self, function: Callable[..., Any], operands: tuple[Any, ...], sample: Any) -> Any:
        for x in operands:
            self.constant(x)
        return sample

    def constant(self, x: Any) -> Any:
        """A use that needs the value: from now on the program is for this value only."""
        if not isinstance(x, HostNumber):
            return x
        if x.sample != x.sample:
            raise Break("a number that changes is no number, and is looked at")
        if x.step not in self.checked:
            self.checked[x.step] = x.sample
            self.reads.append(Check(x.step, x.sample))
        return x.sample

    def tensor_of(self, x: HostNumber, kind: TensorType) -> Value:
        """A number as an input of the program."""
        key = x.step, kind
        if key not in self.given:
            self.given[key] = self.input(kind)
            self.reads.append(NumberInput(len(self.inputs) - 1, x.step, kind))
        return self.given[key]

    def pin(self, thing: Any, weakly: bool = True) -> None:
        """From now on the program is for this very object. What cannot be known weakly, or must not, is kept: that is
        right for things that the function itself holds, as variables around it.
        """
        number = self.number(thing)
        path = self.paths[number]
        given = len(path) > 0 and path[0] != "constant" and path[0][0] != "fn"
        if given and (not weakly or held(thing) is None) and not lasts(thing):
            raise Break(f"a program would have to keep a {type(thing).__name__} that it was given")
        if number not in self.pinned:
            self.pinned.add(number)
            self.reads.append(Pinned(number, thing))

    def content(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The numbers of an outside array, as constants; guarded by a copy."""
        key = id(array), ("content", None)
        if key not in self.seen:
            copy = self.seen[key] = array.copy()
            self.copies.append(copy)
            self.reads.append(Read(self.number(array), ("itself", None), Content(copy)))
        return self.seen[key]  # type: ignore[no-any-return]

    def is_looked_into(self, data: np.ndarray[Any, Any]) -> bool:
        """Whether these numbers are in the memory of an outside array, as the program sees it."""
        return any(np.may_share_memory(data, copy) for copy in self.copies)


def kept(step: Any) -> Any:
    """A guard, or what it expects, that keeps nothing alive."""
    if isinstance(step, Object):
        return step if lasts(step.type) else Object(step.number, held(step.type))
    if isinstance(step, SameValue):
        return step if lasts(step.value) else SameValue(held(step.value))
    if isinstance(step, KnownTuple):
        return KnownTuple(tuple(map(kept, step.parts)), held(step.kind), step.number)
    if isinstance(step, Read):
        slot = step.slot if step.slot[0] != "constant" else ("constant", held(step.slot[1]))
        return Read(step.parent, slot, kept(step.expect))
    if isinstance(step, Pinned):
        thing = held(step.thing)
        return Pinned(step.number, step.thing if thing is None else thing)
    return step


def hides_itself(kind: type) -> bool:
    """Whether asking an object of this class for its class runs code of the user: then even `isinstance` does.

    >>> hides_itself(dict), hides_itself(type("Odd", (), {"__getattribute__": lambda x, name: 1}))
    (False, True)
    """
    return any(n in vars(c) for c in type.__dict__["__mro__"].__get__(kind)
               if not c.__flags__ & 1 << 8 and c.__module__ != "mycelia.api.jit"
               for n in ("__getattribute__", "__class__"))  # fmt: skip


def only_names(kind: type) -> bool:
    """Whether a subclass of tuple adds names only: it says nothing of its own about what Python asks of a tuple.

    >>> from typing import NamedTuple
    >>> only_names(NamedTuple("Pair", [("a", int)])), only_names(type("Odd", (tuple,), {"__len__": lambda x: 3}))
    (True, False)
    """
    own = {n for c in kind.__mro__[: kind.__mro__.index(tuple)] for n in vars(c) if n.startswith("__")}
    return kind.__dictoffset__ == 0 and type(kind) is type and own <= USUAL_OF_TUPLES


USUAL_OF_TUPLES = frozenset((
    "__doc__", "__module__", "__slots__", "__new__", "__repr__", "__getnewargs__", "__match_args__", "__annotations__",
    "__orig_bases__", "__static_attributes__", "__firstlineno__", "__replace__", "__class_getitem__", "__parameters__",
))  # fmt: skip


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor of a class that we know."""
    return type(x) is Tensor or type(x) is Parameter
