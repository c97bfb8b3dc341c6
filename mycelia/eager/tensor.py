"""Tensor: data with arithmetic. The same class holds an array now, or a value of a graph while one is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from math import prod
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from mycelia import primitives as p
from mycelia.backends import home
from mycelia.eager.convert import as_array, shown
from mycelia.eager.dispatch import FOREIGN, Concrete, explained, mode, ready
from mycelia.eager.promotion import as_dtype
from mycelia.eager.tape import Tape, current_tape_of, put, tape_of
from mycelia.eager.writing import writing, written
from mycelia.errors import ArgumentError, CallError, CaptureError, ShapeError
from mycelia.ir import Op, Value, constant
from mycelia.names import listening, missing_attribute
from mycelia.tree import tree_map
from mycelia.types import _BY_NUMPY, Array, DType, Shape

if TYPE_CHECKING:
    from mycelia.eager.signatures import OperatorSignatures
else:
    OperatorSignatures = object

_new = object.__new__


class Tensor(OperatorSignatures):
    """An array of one element type that knows where it came from.

    >>> x = Tensor([1.0, 2.0])
    >>> x * x + 1
    Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  5.00000000e+00])
    """

    __slots__ = ("__weakref__", "_data", "_id", "_kin", "_tape")

    _data: Any  # np.ndarray, never changed in place while anyone else holds it; or ir.Value
    _tape: Tape | None
    _id: int  # place on the tape; not set without one
    _kin: Any  # tensors that share its memory, see `views`; None, or not set, without any
    spread: Callable[[], None]  # tell them that it holds something else
    __array_priority__ = 100.0  # array + tensor is a tensor
    if not TYPE_CHECKING:
        __getattr__ = missing_attribute

    @listening
    def __init__(
        self,
        input_data: Any = None,
        dtype: Any = None,
        shape: int | Shape | None = None,
        init: Callable[[Array], object] | None = None,
        const_arg: bool = False,  # a hint: what is read from outside is a constant here until it changes
    ) -> None:
        if not isinstance(const_arg, bool):
            raise CallError(f"const_arg is True or False, not {const_arg!r}", hint="leave it out")
        self._tape = self._kin = None
        if isinstance(input_data, Tensor):
            same = dtype is None or as_dtype(dtype) is input_data.dtype
            data = input_data._data if same else cast(input_data, as_dtype(dtype))._data
            self._data = data if data.__class__ is not Value else p.stop_gradient(data)  # as it is on no tape
        elif isinstance(input_data, Value):
            self._data = input_data
        elif input_data is not None:
            self._data = as_array(input_data, dtype)
        elif init is None and dtype is not None and _unknown(shape):
            self._data = as_dtype(dtype), None if shape is None else tuple(shape)  # type: ignore[arg-type]  # see _unknown
            self.__class__ = Outline
        elif init is None and dtype is not None:
            self._data = np.zeros(shape, as_dtype(dtype).numpy)
        elif shape is None or dtype is None or init is None:
            raise ArgumentError(
                "a tensor needs data, or a shape, a dtype and an init",
                given={"shape": shape, "dtype": dtype, "init": init},
                hint="for example Tensor([1.0, 2.0]) or Tensor(shape=(2, 2), dtype=ms.float32, init=One())",
            )
        else:
            self._data = np.zeros(shape, as_dtype(dtype).numpy)
            init(self._data)

    # ------------------------------------------------------------------------------------------- how ops meet tensors

    @staticmethod
    def apply(op: Op, inputs: tuple[Any, ...]) -> Any:
        """Run an op on tensors: now, or in the graph if one of them belongs to a graph; several results as a tuple."""
        arrays = []
        for x in inputs:
            data = x._data if isinstance(x, Tensor) else constant(x) if x.closed else x
            if data.__class__ is Value:
                if mode.capturing or not data.closed:
                    return _in_graph(op, inputs)
                data = constant(data)
            arrays.append(data)
        held = tuple(arrays)
        if writing:
            for data in held:
                written(data)
        step = ready(op)
        if not step.static:
            return _in_graph(op, inputs)  # known numbers, in a shape that is not
        out, kind = step.run(held)
        tape = tape_of(inputs)
        place = put(tape, step, inputs, held, out) if tape is not None and (kind.differentiable or tape.whole) else -1
        if out.__class__ is tuple:
            return tuple([wrap(o, tape, place + i if place >= 0 else -1) for i, o in enumerate(out)])
        return wrap(out, tape, place)

    def detached(self) -> Tensor:
        """The same data, from which no gradient flows."""
        return wrap(self._data)

    def alias(self) -> Tensor:
        """Another tensor with the same data, at the same place of the tape."""
        return wrap(self._data, self._tape, -1 if self._tape is None else self._id)

    def apart(self) -> Tensor:
        """The same, with data that nobody outside can write to: `from_numpy` shares the memory of an array."""
        data = self._data
        if data.__class__ is np.ndarray and data.base is not None:
            data = data.copy()
        return wrap(data, self._tape, -1 if self._tape is None else self._id)

    def become(self, other: Tensor) -> None:
        """Hold what `other` holds, from now on, and with it all that share memory; what was computed from the old data
        is not affected.
        """
        self.hold(other)
        if getattr(self, "_kin", None) is not None:
            self.spread()

    def renew(self, data: Any) -> None:
        """Hold this array from now on, from which no gradient flows, and with it all that share memory."""
        self._data, self._tape = data, None
        if getattr(self, "_kin", None) is not None:
            self.spread()

    def hold(self, other: Tensor) -> None:
        """Hold what `other` holds; nobody else is told."""
        if mode.changing is not None:
            mode.changing(self)
        self._data, self._tape = other._data, other._tape
        if other._tape is not None:
            self._id = other._id

    # ---------------------------------------------------------------------------------------------------- attributes

    @property
    def shape(self) -> Shape:
        return self._data.shape  # type: ignore[no-any-return]

    @property
    def dtype(self) -> DType:
        dtype = self._data.dtype
        return _BY_NUMPY[dtype] if dtype.__class__ is not DType else dtype

    @property
    def ndim(self) -> int:
        return len(self._data.shape)

    @property
    def size(self) -> int:
        return prod(self._data.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis, as in a dense row-major array."""
        steps = np.cumprod((self.itemsize, *self.shape[:0:-1]))[::-1]
        return tuple(int(s) for s in steps[len(steps) - self.ndim :])

    @property
    def data(self) -> Tensor:
        """The tensor itself."""
        return self

    @property
    def device(self) -> str:
        """Where the data is.

        >>> Tensor([1.0]).device
        'CPU:0'
        """
        return f"{home(self._data)}:0"

    @property
    def mT(self) -> Tensor:  # as in NumPy
        """The last two axes exchanged."""
        return p.transpose(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    @property
    def T(self) -> Tensor:
        """All axes reversed."""
        return p.transpose(self, tuple(reversed(range(self.ndim))))

    # ---------------------------------------------------------------------------------------------------- conversion

    def asnumpy(self) -> Array:
        """A NumPy array with the same numbers, of its own.

        >>> Tensor([1, 2]).asnumpy()
        array([1, 2])
        """
        return np.array(self.numbers())

    def numbers(self) -> Array:
        """The array inside, not to be written to. A tensor that belongs to a graph has none."""
        data = self._data
        if data.__class__ is not Value:
            return written(data) if writing else data  # type: ignore[no-any-return]
        if not data.closed:
            if not mode.capturing:
                raise CaptureError(
                    f"a tensor {data.type} was kept beyond the function that was being written down for many calls",
                    hint="return it from the function, and keep what vmap or jit gives",
                )
            raise Concrete(f"{data.type} has no numbers before the program runs")
        return constant(data)  # type: ignore[no-any-return]

    def item(self) -> Any:
        """The number in a tensor of one element.

        >>> Tensor([2.5]).item()
        2.5
        """
        data = self.numbers()
        if data.size != 1:
            raise ShapeError(
                f"only a tensor of one element is a number, not one of shape {self.shape}",
                hint="reduce it first (sum, mean, all, any), or choose an element by an index",
            )
        return data.item()

    def tolist(self) -> Any:
        """The numbers as nested lists.

        >>> Tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self.numbers().tolist()

    @staticmethod
    def from_numpy(array: Array) -> Tensor:
        """A tensor that shares the memory of `array`; whoever then writes to the array changes the tensor.

        >>> Tensor.from_numpy(np.arange(3)).shape
        (3,)
        """
        if not isinstance(array, np.ndarray):
            raise CallError(f"from_numpy takes an array, not a {type(array).__name__}", hint="use ms.Tensor(data)")
        if array.dtype not in _BY_NUMPY:
            as_array(array)
        return wrap(array.view(np.ndarray))  # of its own, so that nobody else can give it another shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.numbers(), dtype=dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's functions take tensors as the arrays inside."""
        return function(*tree_map(_plain, args), **tree_map(_plain, kwargs))

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        number = self.item()
        if isinstance(number, float):
            raise CallError(
                f"a tensor of {self.dtype!r} is not an index",
                given={"value": number},
                hint="cast it to int32, or use int(x)",
            )
        return int(number)

    def __len__(self) -> int:
        if not self.shape:
            raise CallError(
                "a tensor without axes has no length, and no elements to go through",
                given={"tensor": self},
                hint="it is one number: use x.item(), or x.reshape(1)",
            )
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self)))

    def __hash__(self) -> int:
        return id(self)

    def __contains__(self, number: Any) -> bool:
        return bool((self.numbers() == getattr(number, "_data", number)).any())

    def __str__(self) -> str:
        data = self._data
        if data.__class__ is Value and not data.closed:
            return repr(self)
        return str(self.numbers())

    def __repr__(self) -> str:
        data = self._data
        if data.__class__ is Value and not data.closed:
            if mode.asked is not None and mode.held is None:  # inside a `vmap` that computes at once
                raise Concrete(f"{data.type} has no numbers before the program runs")
            return f"Tensor(shape={list(data.shape)}, dtype={data.dtype}, value=<not yet computed>)"
        return shown(self.numbers())

    def _repr_html_(self) -> str | None:
        """The tensor as a table, for notebooks; nothing where it has no numbers yet."""
        data = self._data
        if data.__class__ is Value and not data.closed:
            return None
        notebook = import_module("mycelia.eager.notebook")  # few have one
        return str(notebook.table(type(self).__name__, self.numbers()))

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.size == 1 else str(self), spec) if spec else str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (self.asnumpy(),)

    def __copy__(self) -> Tensor:
        return p.reshape(self, self.shape)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return wrap(self.apart()._data if self._data.__class__ is not Value else p.stop_gradient(self._data))


def tensor(
    input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None, const_arg: bool = False
) -> Tensor:
    """A tensor of the given data, as `Tensor` makes one.

    >>> tensor([1, 2]).shape
    (2,)
    """
    return Tensor(input_data, dtype, shape, init, const_arg)


def from_numpy(array: Array) -> Tensor:
    """A tensor that shares the memory of an array.

    >>> from_numpy(np.arange(3)).shape
    (3,)
    """
    return Tensor.from_numpy(array)


def wrap(data: Any, tape: Tape | None = None, place: int = -1) -> Tensor:
    """A tensor around an array or a graph value that nobody will change; on `tape` if it has a place there."""
    t = _new(Tensor)
    t._data, t._kin = data, None
    if place >= 0:
        t._tape, t._id = tape, place
    else:
        t._tape = None
    return t


def created(op: Op) -> Tensor:
    """The tensor that an op without inputs makes."""
    for n in getattr(op, "shape", ()):
        if n.__class__ is not int and (isinstance(n, bool) or not isinstance(n, Integral)):
            raise ArgumentError(f"a size is a whole number, not {n!r}", given={"shape": op.shape})  # type: ignore[attr-defined]
    if mode.capturing:
        return wrap(Value(op))
    try:
        return wrap(op.reference())
    except FOREIGN as error:
        raise explained(op, (), error) from None


def cast(x: Tensor, dtype: DType) -> Tensor:
    """The same numbers in another element type."""
    return x if x.dtype is dtype else p.cast(x, dtype)


def is_late(x: Tensor) -> bool:
    """Whether the numbers of a tensor are known when a program runs, and not now.

    >>> is_late(Tensor([1.0]))
    False
    """
    data = x._data
    return data.__class__ is Value and (mode.capturing or not data.closed)


def as_value(x: Any) -> Value:
    """A tensor as a value of the graph that is being written."""
    data = x._data if isinstance(x, Tensor) else x
    if data.__class__ is Value:
        return data if mode.lift is None or x is data or x._tape is None else mode.lift(x)
    if data.ndim == 0 and x._tape is None and x.__class__ is Tensor:
        return p.full(data.item(), _BY_NUMPY[data.dtype], ())
    return p.constant(data) if mode.lift is None else mode.lift(x)


class Outline(Tensor):
    """A tensor without data: it describes others, of which some dimensions, or even their number, may differ.

    >>> from mycelia.types import float32
    >>> Tensor(shape=(None, 3), dtype=float32)
    Tensor(shape=[None, 3], dtype=Float32, value=<none>)
    """

    __slots__ = ()

    @classmethod
    def of(cls, dtype: DType, shape: tuple[int | None, ...] | None) -> Outline:
        """A description of tensors, which may leave nothing open."""
        made = cls.__new__(cls)
        Tensor.__dict__["_data"].__set__(made, (dtype, shape))
        made._tape = None
        return made

    @property
    def _data(self) -> Any:  # where others hold their numbers
        raise ArgumentError(
            f"{self!r} has no data: it only describes the tensors that a function takes",
            hint="pass it to Cell.set_inputs or enable_dynamic, and call with Tensor(data)",
        )

    @property
    def shape(self) -> Any:  # with None for what may differ
        return _held(self)[1]

    @property
    def dtype(self) -> DType:
        return _held(self)[0]

    @property
    def ndim(self) -> int:
        return -1 if self.shape is None else len(self.shape)

    def __repr__(self) -> str:
        shape = self.shape if self.shape is None else list(self.shape)
        return f"Tensor(shape={shape}, dtype={self.dtype}, value=<none>)"

    def _repr_html_(self) -> None:
        return None

    __str__ = __repr__


def _unknown(shape: Any) -> bool:
    """Whether a shape leaves something open."""
    return shape is None or (isinstance(shape, list | tuple) and None in shape)


def _held(outline: Outline) -> tuple[DType, Any]:
    return Tensor.__dict__["_data"].__get__(outline)  # type: ignore[no-any-return]


def _in_graph(op: Op, inputs: tuple[Any, ...]) -> Any:
    held = tuple([as_value(x) for x in inputs])
    value = Value(op, held)
    out = op.results(value)
    tape = current_tape_of(inputs)  # one that was set aside sees the whole graph as one step
    recorded = tape is not None and (value.type.differentiable or tape.whole)
    place = put(tape, ready(op), inputs, held, out) if recorded else -1  # type: ignore[arg-type]  # there is a tape
    if out.__class__ is tuple:
        return tuple([wrap(o, tape, place + i if place >= 0 else -1) for i, o in enumerate(out)])
    return wrap(out, tape, place)


def _plain(x: Any) -> Any:
    return x.numbers() if isinstance(x, Tensor) else x
