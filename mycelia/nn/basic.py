"""The layers that everything is built of: affine maps, tables of vectors, dropout, and reshaping."""

from __future__ import annotations

import math
from typing import Any

from mycelia import checks, ops
from mycelia.common.initializer import HeUniform, Uniform, initializer
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError, ShapeError
from mycelia.nn.activation import get_activation
from mycelia.nn.cell import Cell
from mycelia.types import DType, float32


class Identity(Cell):
    """What comes in goes out.

    >>> Identity()(Tensor([1.0])).asnumpy()
    array([1.], dtype=float32)
    """

    def construct(self, x: Any) -> Any:
        return x


class Dense(Cell):
    """y = activation(x @ weight.T + bias), over the last axis.

    >>> layer = Dense(3, 2, weight_init="ones", bias_init="zeros")
    >>> layer(Tensor([[1.0, 2.0, 3.0]])).asnumpy()
    array([[6., 6.]], dtype=float32)
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = None,
        bias_init: Any = None,
        has_bias: bool = True,
        activation: Any = None,
        dtype: DType = float32,
    ) -> None:
        super().__init__()
        self.in_channels = checks.whole(self.cls_name, "in_channels", in_channels, least=1)
        self.out_channels = checks.whole(self.cls_name, "out_channels", out_channels, least=1)
        self.has_bias = checks.truth(self.cls_name, "has_bias", has_bias)
        weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(weight_init, (out_channels, in_channels), dtype))
        self.bias: Parameter | None = None
        if has_bias:
            bias_init = Uniform(1 / math.sqrt(in_channels)) if bias_init is None else bias_init
            self.bias = Parameter(initializer(bias_init, (out_channels,), dtype))
        self.activation = get_activation(activation) if isinstance(activation, str) else activation

    def construct(self, x: Tensor) -> Tensor:
        y = ops.dense(x, self.weight, self.bias)
        return y if self.activation is None else self.activation(y)

    def extend_repr(self) -> str:
        return f"input_channels={self.in_channels}, output_channels={self.out_channels}, has_bias={self.has_bias}"


class Embedding(Cell):
    """A table of vectors, looked up by number; `padding_idx` begins as zeros.

    >>> table = Embedding(3, 2, embedding_table="ones")
    >>> table(Tensor([2, 0])).shape
    (2, 2)
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        use_one_hot: bool = False,
        embedding_table: Any = "normal",
        dtype: DType = float32,
        padding_idx: int | None = None,
    ) -> None:
        super().__init__()
        self.vocab_size = checks.whole(self.cls_name, "vocab_size", vocab_size, least=1)
        self.embedding_size = checks.whole(self.cls_name, "embedding_size", embedding_size, least=1)
        self.use_one_hot, self.padding_idx = use_one_hot, padding_idx
        table = initializer(embedding_table, (vocab_size, embedding_size), dtype)
        if padding_idx is not None:
            if not -vocab_size <= padding_idx < vocab_size:
                raise ArgumentError(f"a table of {vocab_size} vectors has none at padding_idx {padding_idx}")
            numbers = table.asnumpy()
            numbers[padding_idx] = 0
            table = Tensor(numbers)
        self.embedding_table = Parameter(table)

    def construct(self, ids: Tensor) -> Tensor:
        if self.use_one_hot:
            return ops.one_hot(ids, self.vocab_size).astype(self.embedding_table.dtype) @ self.embedding_table  # type: ignore[no-any-return]
        return ops.gather(self.embedding_table, ids, 0)

    def extend_repr(self) -> str:
        return f"vocab_size={self.vocab_size}, embedding_size={self.embedding_size}"


class Dropout(Cell):
    """In training, sets a random share `p` of the elements to zero and scales up the rest; else changes nothing.

    >>> Dropout(p=0.5)(Tensor([1.0, 2.0])).asnumpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, keep_prob: float = 0.5, p: float | None = None) -> None:
        super().__init__()
        kept = checks.number(self.cls_name, "keep_prob", keep_prob, above=0, most=1)
        self.p = 1 - kept if p is None else checks.share(self.cls_name, "p", p)

    def construct(self, x: Tensor) -> Tensor:
        return ops.dropout(x, self.p) if self.training and self.p > 0 else x

    def extend_repr(self) -> str:
        return f"p={self.p}"


class Flatten(Cell):
    """The axes from `start_dim` to `end_dim` as one.

    >>> Flatten()(Tensor([[[1, 2], [3, 4]]])).shape
    (1, 4)
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Tensor) -> Tensor:
        rank = x.ndim
        start, end = self.start_dim % max(rank, 1), self.end_dim % max(rank, 1)
        if rank and (start > end or not -rank <= self.start_dim < rank or not -rank <= self.end_dim < rank):
            raise ShapeError(
                f"axes {self.start_dim} to {self.end_dim} of a tensor of shape {x.shape} cannot be made one"
            )
        return x.reshape((*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))
