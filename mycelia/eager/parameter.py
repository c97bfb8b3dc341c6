"""Parameter: a tensor with a name that training changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from threading import get_ident
from typing import Any

import numpy as np

from mycelia import primitives as p
from mycelia.eager.convert import as_array
from mycelia.eager.operators import TENSORS, operand
from mycelia.eager.tape import Tape
from mycelia.eager.tensor import Tensor, cast, wrap
from mycelia.errors import ArgumentError, CallError, DTypeError, ShapeError
from mycelia.names import listening
from mycelia.types import Array, DType

UNNAMED = "Parameter#"  # how the name of a parameter begins that was given none
_unnamed = count()


class Parameter(Tensor):
    """A tensor that belongs to a model: it has a name, and optimizers replace its data.

    >>> w = Parameter([1.0, 2.0], name="w")
    >>> w
    Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    >>> (w * 2).asnumpy()
    array([2., 4.], dtype=float32)
    """

    name: str
    requires_grad: bool
    layerwise_parallel: bool  # a part of the data is here, and gradients are not averaged between devices
    parallel_optimizer: bool  # the optimizer may split its work on this parameter between devices
    parallel_optimizer_comm_recompute = False
    comm_fusion = 1  # gradients that are added up between devices together have one number
    inited_param = None  # one that took this one's place, when it got its numbers: it keeps its own
    sliced = False  # whether a part of it is here

    __slots__ = ("__dict__", "_marks")

    _marks: dict[int, list[Any]]  # by thread: its tape, and the place there

    @listening
    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
    ) -> None:
        if name is None:
            name = f"{UNNAMED}{next(_unnamed)}"
        if not isinstance(name, str):
            raise ArgumentError(
                f"the name of a parameter is a string, not {name!r}", hint="for example Parameter(data, name='weight')"
            )
        super().__init__(default_input)
        self.name, self.requires_grad = name, requires_grad
        self.layerwise_parallel, self.parallel_optimizer = layerwise_parallel, parallel_optimizer

    # a gradient that one thread takes is nothing to the others, who read the same parameter

    @property
    def _tape(self) -> Tape | None:
        mark = self._marks.get(get_ident()) if self._marks else None
        return None if mark is None else mark[0]

    @_tape.setter
    def _tape(self, tape: Tape | None) -> None:
        if tape is not None:
            self._marks[get_ident()] = [tape, -1]
        elif not hasattr(self, "_marks"):
            self._marks = {}
        elif self._marks:
            self._marks.pop(get_ident(), None)

    @property
    def _id(self) -> int:
        return self._marks[get_ident()][1]  # type: ignore[no-any-return]

    @_id.setter
    def _id(self, place: int) -> None:
        if (mark := self._marks.get(get_ident())) is not None:
            mark[1] = place

    def hold(self, other: Tensor) -> None:
        """Hold what `other` holds. Gradients end at a parameter: it stays what it was to those who ask for its own, and
        nothing flows into what was assigned to it.
        """
        tape = self._tape
        if tape is not None and tape.open and other.shape == self.shape and other.dtype is self.dtype:
            other = p.in_place_of(other, self.value())
        elif other._tape is not None:
            other = other.detached()
        super().hold(other)

    def renew(self, data: Any) -> None:
        tape = self._tape
        if tape is not None and tape.open:
            self.hold(wrap(data))
        else:
            self._data = data
            if self._marks:
                self._tape = None
        if getattr(self, "_kin", None) is not None:
            self.spread()

    @property
    def data(self) -> Parameter:
        """The parameter itself; assigning to it replaces the data."""
        return self

    @data.setter
    def data(self, data: Any) -> None:
        self.set_data(data)

    def value(self) -> Tensor:
        """What the parameter holds now, as a tensor that later assignments do not change.

        >>> Parameter([1.0], name="w").value()
        Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])
        """
        now = wrap(self._data)
        if self._tape is not None:
            now._tape, now._id = self._tape, self._id
        return now

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Hold other data, of the same shape unless `slice_shape` says that a part of it is meant.

        >>> Parameter([1.0, 2.0], name="w").set_data([3.0, 4.0]).asnumpy()
        array([3., 4.], dtype=float32)
        """
        new = data if isinstance(data, Tensor) else wrap(as_array(data))
        if new.shape != self.shape and not slice_shape:
            raise ShapeError(
                f"parameter {self.name} has shape {self.shape} and cannot hold data of shape {new.shape}",
                hint="make a new Parameter, or say slice_shape=True where a part of the data is meant",
            )
        if new.dtype is not self.dtype and new.dtype.is_float and not self.dtype.is_float:
            raise DTypeError(
                f"parameter {self.name} holds {self.dtype!r} and cannot hold {new.dtype!r} without loss",
                hint="cast the data first",
            )
        self.become(cast(new, self.dtype))
        return self

    def set_dtype(self, dtype: DType) -> Parameter:
        """Hold the same numbers in another element type from now on.

        >>> from mycelia.types import float16
        >>> Parameter([1.0], name="w").set_dtype(float16).dtype
        float16
        """
        self.become(cast(self.value(), dtype))
        return self

    def clone(self, init: str | float | int = "same") -> Parameter:
        """A new parameter with the same data, or with "zeros", "ones" or a number everywhere.

        >>> Parameter([1.0, 2.0], name="w").clone("zeros").asnumpy()
        array([0., 0.], dtype=float32)
        """
        data: Any = self.numbers()
        if init != "same":
            number = {"zeros": 0, "ones": 1}.get(init, init) if isinstance(init, str) else init
            if isinstance(number, str):
                raise ArgumentError(f"a parameter cannot be cloned as {init!r}", hint='say "same", "zeros" or "ones"')
            # zeros take no memory before they are written
            data = wrap(
                np.zeros(data.shape, data.dtype) if init == "zeros" else np.full(data.shape, number, data.dtype)
            )
        new = Parameter(data, self.name, self.requires_grad, self.layerwise_parallel, self.parallel_optimizer)
        return new

    def __repr__(self) -> str:
        return (
            f"Parameter (name={self.name}, shape={self.shape}, dtype={self.dtype}, requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.asnumpy(), dict(self.__dict__))

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        return _rebuilt(self.numbers(), dict(self.__dict__))


def _rebuilt(data: Array, attributes: dict[str, Any]) -> Parameter:
    made = Parameter(data)
    made.__dict__.update(attributes)
    return made


def assign(variable: Tensor, value: Any) -> Any:
    """Make a parameter hold another value, in its own element type; the parameter comes back."""
    new = operand(value)
    if new is None:
        raise ArgumentError(f"{value!r} cannot be assigned to a parameter", hint="assign a tensor or a number")
    tensor = new if isinstance(new, Tensor) else wrap(as_array(new))
    if tensor.shape != variable.shape:
        if tensor.size != 1 or variable.size != 1:
            raise ShapeError(
                f"a value of shape {tensor.shape} cannot be assigned to a tensor of shape {variable.shape}",
                given={
                    "variable": variable.name if isinstance(variable, Parameter) else f"a tensor of {variable.dtype!r}"
                },
                hint="a tensor keeps its shape: reshape the value, or make a new tensor",
            )
        tensor = p.reshape(tensor, variable.shape)
    variable.become(cast(tensor, variable.dtype))
    return variable


class ParameterTuple(tuple[Parameter, ...]):
    """The parameters of a model, in order.

    >>> ParameterTuple([Parameter([1.0], name="w")])[0].name
    'w'
    """

    __slots__ = ()

    def __new__(cls, parameters: Iterable[Parameter] | Iterator[Parameter]) -> ParameterTuple:
        if not isinstance(parameters, Iterable):
            raise CallError(
                f"a ParameterTuple is made of a list of parameters, not a {type(parameters).__name__}",
                hint="for example net.trainable_params()",
            )
        found = tuple(parameters)
        for x in found:
            if not isinstance(x, Parameter):
                raise ArgumentError(
                    f"a ParameterTuple holds parameters, not {type(x).__name__}",
                    given={"item": x},
                    hint="for example net.trainable_params()",
                )
        return super().__new__(cls, found)

    def clone(self, prefix: str, init: str | float | int = "same") -> ParameterTuple:
        """New parameters like these, with `prefix` before their names.

        >>> ParameterTuple([Parameter([1.0], name="w")]).clone("moment", "zeros")[0].name
        'moment.w'
        """
        made = []
        for x in self:
            new = x.clone(init)
            new.name = f"{prefix}.{x.name}"
            made.append(new)
        return ParameterTuple(made)


TENSORS.add(Parameter)
