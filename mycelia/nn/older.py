"""Layers that MindSpore keeps for older programs: functions as layers, and what THOR trains by second derivatives."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import checks, ops
from mycelia.eager import Parameter, Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.basic import Dense, Embedding
from mycelia.nn.cell import Cell
from mycelia.nn.conv import Conv2d
from mycelia.ops.sparse import COOTensor
from mycelia.types import DType, float32


class DiGamma(Cell):
    """The logarithmic derivative of the gamma function.

    >>> round(DiGamma()(Tensor([2.0])).item(), 4)
    0.4228
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.digamma(x)


class LGamma(Cell):
    """The logarithm of the gamma function.

    >>> round(LGamma()(Tensor([4.0])).item(), 4)
    1.7918
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.lgamma(x)


class IGamma(Cell):
    """The share of the gamma function's integral below x.

    >>> round(IGamma()(Tensor([2.0]), Tensor([2.0])).item(), 4)
    0.594
    """

    def construct(self, a: Tensor, x: Tensor) -> Tensor:
        return ops.igamma(a, x)


class LBeta(Cell):
    """The logarithm of the beta function.

    >>> round(LBeta()(Tensor([2.0]), Tensor([2.0])).item(), 4)
    -1.7918
    """

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        return ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)


class MatDet(Cell):
    """The determinant of a positive definite matrix.

    >>> round(MatDet()(Tensor([[4.0, 0.0], [0.0, 9.0]])).item(), 4)
    36.0
    """

    def construct(self, a: Tensor) -> Tensor:
        diagonal = ops.diagonal(ops.cholesky(a), 0, -2, -1)
        return ops.prod(diagonal, -1) ** 2


class MatInverse(Cell):
    """The inverse of a positive definite matrix.

    >>> MatInverse()(Tensor([[4.0]])).tolist()
    [[0.25]]
    """

    def construct(self, a: Tensor) -> Tensor:
        return ops.cholesky_inverse(ops.cholesky(a))


class SparseToDense(Cell):
    """A sparse tensor with its zeros.

    >>> SparseToDense()(COOTensor(Tensor([[0, 1]]), Tensor([2]), (1, 3))).tolist()
    [[0, 2, 0]]
    """

    def construct(self, input: COOTensor) -> Tensor:
        return input.to_dense()


class SparseTensorDenseMatmul(Cell):
    """A sparse matrix, given by positions, values and its shape, times a dense one; each may be transposed first.

    >>> SparseTensorDenseMatmul()(Tensor([[0, 1]]), Tensor([2.0]), (1, 2), Tensor([[1.0], [3.0]])).tolist()
    [[6.0]]
    """

    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None:
        super().__init__()
        self.adjoint_st = checks.truth("SparseTensorDenseMatmul", "adjoint_st", adjoint_st)
        self.adjoint_dt = checks.truth("SparseTensorDenseMatmul", "adjoint_dt", adjoint_dt)

    def construct(self, indices: Tensor, values: Tensor, sparse_shape: Any, dense: Tensor) -> Tensor:
        return ops.SparseTensorDenseMatmul(self.adjoint_st, self.adjoint_dt)(indices, values, sparse_shape, dense)


class ParameterUpdate(Cell):
    """Gives a parameter the value that it is called with.

    >>> ParameterUpdate(Parameter([1.0], name="w"))(Tensor([2.0])).tolist()
    [2.0]
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(param, Parameter):
            raise ArgumentError(f"ParameterUpdate changes a Parameter, not a {type(param).__name__}")
        self.param = param

    def construct(self, x: Tensor) -> Tensor:
        return ops.assign(self.param, x)


class DenseThor(Dense):
    """`nn.Dense`; MindSpore's gathers what its optimizer THOR needs, and THOR is not here.

    >>> DenseThor(3, 1, "ones")(Tensor([[1.0, 2.0, 3.0]])).tolist()
    [[6.0]]
    """

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bias: bool = True, activation: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, weight_init, bias_init, has_bias, activation)


class Conv2dThor(Conv2d):
    """`nn.Conv2d`; MindSpore's gathers what its optimizer THOR needs, and THOR is not here.

    >>> Conv2dThor(1, 2, 3)(ops.ones((1, 1, 4, 4))).shape
    (1, 2, 4, 4)
    """

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same",
        padding: Any = 0, dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal",
        bias_init: Any = "zeros",
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init,
            bias_init,
        )  # fmt: skip


class EmbeddingThor(Embedding):
    """`nn.Embedding`; MindSpore's gathers what its optimizer THOR needs, and THOR is not here.

    >>> EmbeddingThor(3, 2)(Tensor([0, 1])).shape
    (2, 2)
    """

    def __init__(
        self, vocab_size: int, embedding_size: int, use_one_hot: bool = False, embedding_table: Any = "normal",
        dtype: DType = float32, padding_idx: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(vocab_size, embedding_size, use_one_hot, embedding_table, dtype, padding_idx)
