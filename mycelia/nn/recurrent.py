"""Recurrent layers: a state walks along the time axis. `mycelia.ops.recurrence` says what one step does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mycelia import checks, ops
from mycelia.common.initializer import Uniform, initializer
from mycelia.eager import Parameter, ParameterTuple, Tensor, cast
from mycelia.errors import CallError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.ops.recurrence import KINDS, step, walk
from mycelia.types import DType, float32

NONLINEARITIES = ("tanh", "relu")


class Recurrent(Cell):
    """What layers and single cells share: the kind of recurrence, its sizes, and how states are given."""

    kind: str
    input_size: int
    hidden_size: int
    has_bias: bool

    def __init__(self, kind: str, input_size: int, hidden_size: int, has_bias: bool) -> None:
        super().__init__()
        self.kind = kind
        self.input_size = checks.whole(self.cls_name, "input_size", input_size, least=1)
        self.hidden_size = checks.whole(self.cls_name, "hidden_size", hidden_size, least=1)
        self.has_bias = checks.truth(self.cls_name, "has_bias", has_bias)

    def weight(self, name: str, columns: int | None, dtype: DType) -> Parameter:
        """Rows for all gates, drawn as for this many hidden features."""
        rows = KINDS[self.kind].gates * self.hidden_size
        shape = (rows,) if columns is None else (rows, columns)
        return Parameter(initializer(Uniform(1 / math.sqrt(self.hidden_size)), shape, dtype), name=name)

    def states(self, hx: Any, shape: tuple[int, ...]) -> tuple[Tensor, ...]:
        """The states as they were given, which are a tensor, or for an LSTM a pair of them."""
        count = KINDS[self.kind].states
        given = hx if isinstance(hx, tuple | list) else (hx,)
        if len(given) != count or not all(isinstance(h, Tensor) for h in given):
            raise CallError(
                f"hx of {self.cls_name} is {'a pair of tensors (h, c)' if count == 2 else 'a tensor'}",
                given={"hx": hx},
                hint=f"each of shape {shape}",
            )
        for h in given:
            if h.shape != shape:
                raise ShapeError(
                    f"hx of {self.cls_name} has shape {shape}, not {h.shape}",
                    hint="or leave it out",
                )
        return tuple(given)

    def returned(self, states: Sequence[Tensor]) -> Any:
        """The states as they are given back."""
        return states[0] if KINDS[self.kind].states == 1 else tuple(states)

    def fit(self, x: Tensor, rank: int, axes: str) -> None:
        """An error unless x has these axes, and the features that the layer was made for."""
        if x.ndim != rank or x.shape[-1] != self.input_size or not x.dtype.is_float:
            raise ShapeError(
                f"{self.cls_name} of {self.input_size} features was given shape {x.shape} of {x.dtype!r}",
                hint=f"it takes floating numbers in {axes}",
            )


class RecurrentLayer(Recurrent):
    """The family: layers of recurrences over (time, batch, features), each on the outputs of the one before it."""

    def __init__(
        self,
        kind: str,
        input_size: int,
        hidden_size: int,
        num_layers: int,
        has_bias: bool,
        batch_first: bool,
        dropout: float,
        bidirectional: bool,
        dtype: DType,
    ) -> None:
        super().__init__(kind, input_size, hidden_size, has_bias)
        self.num_layers = checks.whole(self.cls_name, "num_layers", num_layers, least=1)
        self.batch_first = checks.truth(self.cls_name, "batch_first", batch_first)
        self.dropout = checks.share(self.cls_name, "dropout", dropout)
        self.bidirectional = checks.truth(self.cls_name, "bidirectional", bidirectional)
        ways = ["", "_reverse"][: 1 + bidirectional]
        places = [f"l{layer}{way}" for layer in range(num_layers) for way in ways]
        columns = [input_size if layer == 0 else hidden_size * len(ways) for layer in range(num_layers) for _ in ways]

        def all_places(name: str, columns: Sequence[int | None]) -> ParameterTuple:
            return ParameterTuple(
                self.weight(f"{name}_{place}", n, dtype) for place, n in zip(places, columns, strict=True)
            )

        self.w_ih_list = all_places("weight_ih", columns)
        self.w_hh_list = all_places("weight_hh", [hidden_size] * len(places))
        if has_bias:
            self.b_ih_list = all_places("bias_ih", [None] * len(places))
            self.b_hh_list = all_places("bias_hh", [None] * len(places))

    def weights(self, place: int, dtype: DType) -> list[Tensor]:
        """What one layer in one direction computes with, in this type."""
        lists = [self.w_ih_list, self.w_hh_list] + ([self.b_ih_list, self.b_hh_list] if self.has_bias else [])
        return [cast(each[place], dtype) for each in lists]

    def construct(self, x: Tensor, hx: Any = None, seq_length: Tensor | None = None) -> tuple[Tensor, Any]:
        self.fit(x, 3, "(batch, time, features)" if self.batch_first else "(time, batch, features)")
        if self.batch_first:
            x = x.swapaxes(0, 1)
        ways = 1 + self.bidirectional
        shape = (self.num_layers * ways, x.shape[1], self.hidden_size)
        if hx is None:
            first = [ops.zeros(shape, x.dtype)] * KINDS[self.kind].states
        else:
            first = [cast(h, x.dtype) for h in self.states(hx, shape)]
        last: list[tuple[Tensor, ...]] = []
        for layer in range(self.num_layers):
            outputs = []
            for way in range(ways):
                place = layer * ways + way
                begin = [h[place] for h in first]
                out, *end = walk(self.kind, x, begin, self.weights(place, x.dtype), seq_length, way == 1)
                outputs.append(out)
                last.append(tuple(end))
            x = outputs[0] if ways == 1 else ops.cat(tuple(outputs), 2)
            if self.training and self.dropout and layer + 1 < self.num_layers:
                x = ops.dropout(x, self.dropout)
        ends = [ops.stack(tuple(end[i] for end in last)) for i in range(KINDS[self.kind].states)]
        return x.swapaxes(0, 1) if self.batch_first else x, self.returned(ends)

    def extend_repr(self) -> str:
        return (
            f"input_size={self.input_size}, hidden_size={self.hidden_size}, num_layers={self.num_layers}, "
            f"has_bias={self.has_bias}, batch_first={self.batch_first}, dropout={self.dropout}, "
            f"bidirectional={self.bidirectional}"
        )


class RNN(RecurrentLayer):
    """h = tanh(x W + b + h U + c), or relu, along the time axis; gives all h of the last layer, and the last of all.

    `x` is (time, batch, features), with `batch_first` (batch, time, features); `hx`, with which it begins (zeros if it
    is not given), is (layers * directions, batch, hidden). `seq_length` says how many steps each example has:
    beyond them outputs are zero, and the state stays.

    >>> out, last = RNN(3, 4)(Tensor([[[1.0, 2.0, 3.0]]]))
    >>> out.shape, last.shape
    ((1, 1, 4), (1, 1, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: DType = float32,
        *,
        nonlinearity: str = "tanh",
    ) -> None:
        kind = checks.choice(type(self).__name__, "nonlinearity", nonlinearity, NONLINEARITIES)
        super().__init__(
            kind, input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
        )


class GRU(RecurrentLayer):
    """Gated recurrent units: a gate decides how much of the state is replaced, another what of it enters the new one.

    `x` is (time, batch, features), with `batch_first` (batch, time, features); `hx`, with which it begins (zeros if it
    is not given), is (layers * directions, batch, hidden). `seq_length` says how many steps each example has:
    beyond them outputs are zero, and the state stays.

    >>> out, last = GRU(3, 4, bidirectional=True, batch_first=True)(Tensor([[[1.0, 2.0, 3.0]]]))
    >>> out.shape, last.shape
    ((1, 1, 8), (2, 1, 4))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            "gru", input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
        )


class LSTM(RecurrentLayer):
    """Long short-term memory: beside the state h a memory c, with gates for what enters, stays and leaves.

    `x` is (time, batch, features), with `batch_first` (batch, time, features); `hx`, with which it begins (zeros if it
    is not given), is (h, c), each (layers * directions, batch, hidden). `seq_length` says how many steps each example
    has: beyond them outputs are zero, and the state stays.

    >>> out, (h, c) = LSTM(3, 4, num_layers=2)(Tensor([[[1.0, 2.0, 3.0]]]))
    >>> out.shape, h.shape, c.shape
    ((1, 1, 4), (2, 1, 4), (2, 1, 4))
    >>> x = Tensor([[[1.0], [2.0]], [[3.0], [0.0]]])
    >>> out, _ = LSTM(1, 4, batch_first=True)(x, seq_length=Tensor([2, 1]))
    >>> out[1, 1].tolist()
    [0.0, 0.0, 0.0, 0.0]
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        has_bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: DType = float32,
    ) -> None:
        super().__init__(
            "lstm", input_size, hidden_size, num_layers, has_bias, batch_first, dropout, bidirectional, dtype
        )


class RecurrentCell(Recurrent):
    """The family of single steps: from (batch, features), or one example, and a state to the next state."""

    def __init__(self, kind: str, input_size: int, hidden_size: int, has_bias: bool, dtype: DType) -> None:
        super().__init__(kind, input_size, hidden_size, has_bias)
        self.weight_ih = self.weight("weight_ih", input_size, dtype)
        self.weight_hh = self.weight("weight_hh", hidden_size, dtype)
        self.bias_ih = self.weight("bias_ih", None, dtype) if has_bias else None
        self.bias_hh = self.weight("bias_hh", None, dtype) if has_bias else None

    def construct(self, x: Tensor, hx: Any) -> Any:
        one = x.ndim == 1
        self.fit(x, 1 if one else 2, "(batch, features) or (features,)")
        states = self.states(hx, (*x.shape[:-1], self.hidden_size))
        weights = [w for w in (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh) if w is not None]
        if one:
            x, states = x[None], tuple(h[None] for h in states)
        ends = step(self.kind, x, [cast(h, x.dtype) for h in states], [cast(w, x.dtype) for w in weights])
        return self.returned([h[0] for h in ends] if one else ends)

    def extend_repr(self) -> str:
        return f"input_size={self.input_size}, hidden_size={self.hidden_size}, has_bias={self.has_bias}"


class RNNCell(RecurrentCell):
    """One step of `RNN`.

    >>> RNNCell(3, 4)(Tensor([[1.0, 2.0, 3.0]]), Tensor([[0.0] * 4])).shape
    (1, 4)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        has_bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: DType = float32,
    ) -> None:
        kind = checks.choice(type(self).__name__, "nonlinearity", nonlinearity, NONLINEARITIES)
        super().__init__(kind, input_size, hidden_size, has_bias, dtype)


class GRUCell(RecurrentCell):
    """One step of `GRU`.

    >>> GRUCell(3, 4)(Tensor([[1.0, 2.0, 3.0]]), Tensor([[0.0] * 4])).shape
    (1, 4)
    """

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: DType = float32) -> None:
        super().__init__("gru", input_size, hidden_size, has_bias, dtype)


class LSTMCell(RecurrentCell):
    """One step of `LSTM`: the next (h, c).

    >>> h = Tensor([[0.0] * 4])
    >>> [s.shape for s in LSTMCell(3, 4)(Tensor([[1.0, 2.0, 3.0]]), (h, h))]
    [(1, 4), (1, 4)]
    """

    def __init__(self, input_size: int, hidden_size: int, has_bias: bool = True, dtype: DType = float32) -> None:
        super().__init__("lstm", input_size, hidden_size, has_bias, dtype)
