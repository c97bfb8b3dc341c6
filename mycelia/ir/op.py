"""Op: everything the system knows about one primitive, in one class.

The fields of an op are its attributes; its methods are its rules:

    infer      types of inputs -> type of output; raises the user's error
    reference  the meaning, in NumPy                        (oracle of every test; eager on small arrays)
    element    one output element from input elements       (lowering; fusion is free)
    expand     or: the same computation in other ops         (lowering by definition)
    native     or: which kind of code it becomes             (a fold, a step, data: see `Lowered`; checked at import)
    in_parts   the same on real and imaginary parts         (complex numbers: an op without it takes none)
    on_pairs   or: on tensors in which both lie side by side
    cheap      whether computing it again costs less than writing and reading it
    vjp        cotangent of output -> cotangents of inputs  (gradient)
    augment    or: the op with residuals, and its pull-back  (ops that contain functions)
    jvp        tangents of inputs -> tangent of output      (derived from vjp where the op does not say)
    vmap       the same op with a leading batch axis        (vectorisation)
    axes       which axes correspond across operands        (sharding)
    purity     whether it may be moved, repeated or dropped (motion of code: mycelia/ir/purity.py)
    samples    example calls                                (inputs of every law)
    mistakes   bad calls and a piece of the message each must give

An op that lacks a rule must say why: `vjp = no_gradient("its output is an integer")`.
A class that neither defines a rule nor says why does not import.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from mycelia.errors import GradientError
from mycelia.frozen import frozen
from mycelia.ir.purity import Purity
from mycelia.ir.value import Value
from mycelia.loops import Expr, Index
from mycelia.sizes import Name, Sym
from mycelia.types import Array, DType, Shape, TensorType, TupleType, Type

Cotangents = tuple[Any, ...]  # a value, or None where nothing flows, for each input
Back = Callable[[Sequence[Any]], Cotangents]

registry: dict[str, type[Op]] = {}
PLAIN = frozenset((int, float, bool, str, DType, type(None)))  # attributes that say nothing of sizes
REQUIRED = ("infer", "reference", "vmap", "axes", "samples")


Operand = TypeVar("Operand", bound="Applicable")


class Applicable(Protocol):
    """What ops are applied to: values of a graph, tensors, patterns. Its class knows what that means."""

    @staticmethod
    def apply(op: Any, inputs: tuple[Any, ...]) -> Any: ...

    @property
    def shape(self) -> Shape: ...

    @property
    def dtype(self) -> DType: ...


class Lowered(Enum):
    """What an op becomes that has no `element` and does not `expand`. Importing `mycelia.lowering` checks that there is
    a rule for what an op says, and that no rule is for something else (lowering/complete.py).
    """

    FOLD = "a fold inside a kernel"  # by its `combine`
    STEP = "a step of its own"  # a library call, loops, or control flow: a rule of `lower_step`
    DATA = "data beside the program"
    CALLED = "the function inside, in its place"  # by the pass `inline`


@frozen
class Reader:
    """An input as a lowering rule sees it: a type, and a way to read one element."""

    type: TensorType
    at: Callable[[Sequence[Index]], Expr]


class Pair(NamedTuple):
    """A complex value as a rule sees it: its real and its imaginary part."""

    real: Any
    imag: Any


def each_part(self: Op, *inputs: Any) -> Pair:
    """A `in_parts` rule: what the op does with real numbers it does with either part."""
    sides = [[x[i] if isinstance(x, Pair) else x for x in inputs] for i in range(2)]
    return Pair(self(*sides[0]), self(*sides[1]))


@frozen
class Sample:
    """An example call: the op with its attributes, and arrays to apply it to."""

    op: Op
    inputs: tuple[Any, ...]
    smooth: bool = True  # whether finite differences may be taken at these inputs
    note: str = ""

    def __str__(self) -> str:
        shapes = ",".join(f"{x.dtype}{list(x.shape)}" if hasattr(x, "shape") else "?" for x in self.inputs)
        return f"{self.op}({shapes})" + (f" {self.note}" if self.note else "")


@frozen
class Mistake:
    """A call that must fail, and words that its message must contain."""

    call: Callable[[], object]
    error: type[Exception]
    message: str


def _exactly(one: Any, other: Any) -> bool:
    """Whether equal attributes are of one class, with one sign: 2, 2.0 and True are equal, and 0.0 and -0.0."""
    if one.__class__ is not other.__class__:
        return False
    if one.__class__ is tuple:
        return all(map(_exactly, one, other))
    return one.__class__ is not float or one.hex() == other.hex()


def _static(attribute: Any) -> bool:
    if attribute.__class__ in PLAIN:
        return True
    if isinstance(attribute, tuple):
        return all(map(_static, attribute))
    return type(attribute) is not Sym and getattr(attribute, "static", True)  # types and functions know it


class OpClass(ABCMeta):
    """The type of classes of ops. None is registered as if it were another's subclass: the quick answer is the right
    one, and it is asked for at every node.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


@cache
def _names(kind: type[Op]) -> tuple[str, ...]:
    """The names of the attributes of an op."""
    return tuple(f.name for f in fields(kind))


@frozen
class Op(metaclass=OpClass):
    """Base of every primitive."""

    name: ClassVar[str]
    purity: ClassVar[Purity]  # a family says it for all its members; ops with functions inside derive it from those
    native: ClassVar[Lowered | None] = None
    cheap: ClassVar[bool] = False  # computing it again costs less than writing and reading it: it is not kept
    commutative: ClassVar[bool] = False
    born: ClassVar[Name | None] = None  # the size that comes out of its data: it is there for those who mention it

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        if abstract:
            return
        cls.name = cls.__dict__.get("name", cls.__name__.lower())
        missing = [rule for rule in REQUIRED if getattr(getattr(cls, rule), "__isabstractmethod__", False)]
        if cls.vjp is Op.vjp and cls.augment is Op.augment:
            missing.append("vjp or augment")
        if not hasattr(cls, "purity"):
            missing.append("purity")
        if cls.element is Op.element and cls.expand is Op.expand and cls.native is None:
            missing.append("element, expand or native")
        if cls.element is not Op.element and cls.native is not None:
            raise TypeError(f"op {cls.name} is lowered by element, and says that it becomes {cls.native.value}")
        if cls.native is Lowered.FOLD and not hasattr(cls, "combine"):
            missing.append("combine")
        if missing:
            raise TypeError(f"op {cls.name} must define {', '.join(missing)} (see mycelia/ir/op.py)")
        registry[cls.name] = cls

    def __call__(self, *inputs: Operand) -> Operand:
        """Apply to values, tensors or patterns: the operand's class knows how. Several results come as a tuple."""
        for x in inputs:
            if type(x) is not Value:
                return type(x).apply(self, inputs)  # type: ignore[no-any-return]  # of the operands' class
        return self.results(Value(self, inputs))  # type: ignore[no-any-return,arg-type]  # all are values

    @property
    def static(self) -> bool:
        """Whether its attributes are numbers; with a symbolic size among them it is computed when the program runs."""
        for name in _names(type(self)):  # noqa: SIM110  # this is asked of every value, and a generator takes longer
            if not _static(getattr(self, name)):
                return False
        return True

    def exactly(self, other: Op) -> bool:
        """Whether an equal op is the same, to the classes of its attributes: 2.0 may be refused where 2 is not."""
        return all(_exactly(getattr(self, name), getattr(other, name)) for name in _names(type(self)))

    def results(self, value: Value) -> Any:
        """A value as its results: itself, or a tuple of projections."""
        if isinstance(value.type, TupleType):
            return tuple(Value(Project(i), (value,)) for i in range(len(value.type.elements)))
        return value

    @abstractmethod
    def infer(self, *inputs: Any) -> Type: ...

    @abstractmethod
    def reference(self, *inputs: Any) -> Any: ...

    def element(self, index: Sequence[Index], *inputs: Any) -> Expr:
        raise AssertionError(f"{self.name} is not lowered by element")

    def expand(self, *inputs: Any) -> Any:
        """The same in other ops, or None to be lowered otherwise."""
        return None

    def in_parts(self, *inputs: Any) -> Any:
        """The result, or its `Pair`, from inputs of which the complex ones are `Pair`."""
        raise AssertionError(f"{self.name} takes no complex numbers")

    def on_pairs(self, *inputs: Any) -> Any:
        """Or: the result from tensors in which both parts lie along a further axis, at the end; it has one too."""
        raise AssertionError(f"{self.name} takes no complex numbers")

    def vjp(self, ct: Any, out: Any, *inputs: Any) -> Cotangents:
        raise AssertionError(f"{self.name} is differentiated by augment")

    def augment(self, live: Sequence[bool], inputs: Sequence[Value]) -> tuple[tuple[Value, ...], Back] | None:
        """For ops that contain functions: results as values, and a function from cotangents of the live results
        (None elsewhere) to cotangents of the inputs. None: differentiate by `vjp`.
        """
        return None

    def jvp(self, tangents: Sequence[Any], out: Any, *inputs: Any) -> Any:
        """Tangent of the output from tangents of the inputs (None is zero); NotImplemented: derive it from `vjp`."""
        return NotImplemented

    @abstractmethod
    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Any) -> Any:
        """The op where the inputs said to be `mapped` have a leading axis of `size`. All results are mapped."""

    @abstractmethod
    def axes(self, *inputs: Any) -> str:
        """`a b, b c -> a c`: a name on both sides may be split, one only on the left is summed, 1 stays whole."""

    @classmethod
    @abstractmethod
    def samples(cls) -> Iterable[Sample]: ...

    @classmethod
    def mistakes(cls) -> Iterable[Mistake]:
        return ()

    def held(self) -> list[Any]:
        """The values of its attributes."""
        return [getattr(self, name) for name in _names(type(self))]

    def attributes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _names(type(self))}

    def __str__(self) -> str:
        shown = {k: v.short if isinstance(v, DType) else v for k, v in self.attributes().items()}
        attributes = ", ".join(f"{k}={v}" for k, v in shown.items())
        return f"{self.name}[{attributes}]" if attributes else self.name


@frozen
class Several(Op, abstract=True):
    """An op with several results, always a tuple of them."""

    def __call__(self, *inputs: Operand) -> tuple[Operand, ...]:  # type: ignore[override]  # that is the difference
        return super().__call__(*inputs)  # type: ignore[return-value]  # see `Op.results`


@frozen
class Project(Op, abstract=True):
    """One of several results."""

    index: int
    name: ClassVar[str] = "project"
    purity: ClassVar[Purity] = Purity.TOTAL

    def infer(self, x: TupleType) -> Type:
        return x.elements[self.index]

    def reference(self, x: tuple[Array, ...]) -> Array:
        return x[self.index]

    def vmap(self, size: int, mapped: tuple[bool, ...], *inputs: Any) -> Any:
        raise AssertionError("transforms see through projections")

    def axes(self, *inputs: Any) -> str:
        raise AssertionError("partitioning sees through projections")

    @classmethod
    def samples(cls) -> Iterable[Sample]:
        return ()


registry["project"] = Project


def no_gradient(reason: str) -> Callable[..., Cotangents]:
    """A vjp rule for an op that has none, and must not be asked for one."""

    def vjp(self: Op, ct: Any, out: Any, *inputs: Any) -> Cotangents:
        raise GradientError(
            f"{self.name} has no gradient: {reason}", at=getattr(out, "location", None), hint="use stop_gradient on it"
        )

    return vjp


def zero_gradient(reason: str) -> Callable[..., Cotangents]:
    """A vjp rule for an op through which nothing flows (a comparison, a rounding): all cotangents are zero."""

    def vjp(self: Op, ct: Any, out: Any, *inputs: Any) -> Cotangents:
        return (None,) * len(inputs)

    vjp.__doc__ = reason
    return vjp
