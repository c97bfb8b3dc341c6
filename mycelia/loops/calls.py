"""Library calls, described: what is computed over which layouts. The runtime prepares them; nothing here runs."""

from __future__ import annotations

from math import prod
from typing import TypeVar

from mycelia.frozen import frozen
from mycelia.sizes import Dim, hint
from mycelia.types import DType, Shape

Part = TypeVar("Part", bound=type)

DESCRIBED: dict[str, type] = {}  # what the text of a call may name


def described(part: Part) -> Part:
    """A class of which calls are made: its name and its fields are its text."""
    DESCRIBED[part.__name__] = part
    return part


@frozen
class Strided:
    """An operand of a call: the extent of each axis and its step in memory, in elements, and the element type."""

    shape: Shape
    strides: tuple[Dim, ...]
    dtype: DType


@described
@frozen
class Matmul:
    """out = lhs @ rhs over batches: (*batch, m, k) @ (*batch, k, n) -> (*batch, m, n). Inputs lhs, rhs, and a bias for
    each column if there is one, of the type of out.
    """

    lhs: Strided
    rhs: Strided
    out: Strided
    bias: bool = False

    @property
    def multiplications(self) -> Dim:
        """How many products it adds up."""
        return prod(self.out.shape) * self.lhs.shape[-1]


@described
@frozen
class Moves:
    """How a kernel moves over space."""

    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    dilation: tuple[int, ...]
    groups: int = 1


@described
@frozen
class ConvolutionCall:
    """One of three: out = x * w ("forward", inputs x w), dx ("input", inputs w ct), dw ("weight", inputs x ct).

    The layouts are those of x, w and out; w is always dense. `packed` are the operands, in the order of the call, that
    it pays to pack as the library likes them, when that was decided; the library then needs memory for them.
    """

    direction: str
    x: Strided
    w: Strided
    out: Strided
    window: Moves
    bias: bool = False
    packed: tuple[int, ...] | None = None

    @property
    def multiplications(self) -> Dim:
        """How many products it adds up, whichever of the three it is."""
        return prod(self.out.shape) * prod(self.w.shape[1:])


@described
@frozen
class Axis:
    """An axis of a product: its extent, and the step of each operand along it, in elements."""

    extent: Dim
    lhs: Dim
    rhs: Dim
    out: Dim


@described
@frozen
class TileKind:
    """What a function of tiles is written for: the element types of the operands, that of the result, in which sums are
    made, and the tile of the result that registers hold, as rows and vectors of so many columns.
    """

    lhs: DType
    rhs: DType
    out: DType
    rows: int
    vectors: int
    lanes: int

    @property
    def columns(self) -> int:
        """The columns of a tile."""
        return self.vectors * self.lanes


@described
@frozen
class Tiles:
    """out[b, i, j] = the sum over k of lhs[b, i, k] * rhs[b, k, j], where b, i, j and k each run over several axes: our
    own function, for element types and layouts that the library has not.
    """

    kind: TileKind
    batch: tuple[Axis, ...]
    rows: tuple[Axis, ...]
    columns: tuple[Axis, ...]
    summed: tuple[Axis, ...]

    @property
    def multiplications(self) -> Dim:
        """How many products it adds up."""
        return prod(axis.extent for axis in (*self.batch, *self.rows, *self.columns, *self.summed))


@described
@frozen
class FourierKind:
    """What a function of Fourier transforms is written for: the type of real and imaginary parts, and the lanes of a
    vector of them.
    """

    dtype: DType
    lanes: int


@described
@frozen
class OrderCall:
    """The first `kept` elements of every row in order, and the positions, int64, where they were, as far as they are
    wanted: outputs values, positions. Equal elements keep their order, and nan is largest. The operand is a dense
    (outer, length, inner), whose rows lie along the axis in the middle.
    """

    dtype: DType
    outer: Dim
    length: Dim
    inner: Dim
    kept: Dim
    descending: bool
    values: bool
    positions: bool

    @property
    def multiplications(self) -> Dim:
        """What takes as long: a sort passes some times over its rows."""
        return self.outer * self.length * self.inner * 4 * self.dtype.itemsize


@described
@frozen
class FourierCall:
    """out = the transform of each of `lines` of dense numbers, complex ones as pairs: our own function.

    Of `sort` "complex", `length` numbers each; "real", of as many real ones the first half of the transform, and
    "half", of such a half the real ones again, unscaled. `inverse` is the sign of the exponent, of complex ones.
    """

    kind: FourierKind
    sort: str
    lines: Dim
    length: Dim
    inverse: bool = False

    @property
    def multiplications(self) -> Dim:
        """How many products it adds up, about."""
        return self.lines * self.length * (2 * hint(self.length).bit_length())


@described
@frozen
class SearchCall:
    """Where values would go in sequences that are in order, before equal elements or (`right`) behind them, int64:
    inputs a dense (sequences, length) and (sequences, count) or, of one sequence, (count). Nan is largest.
    """

    dtype: DType
    sequences: Dim
    length: Dim
    count: Dim
    right: bool

    @property
    def multiplications(self) -> Dim:
        """What takes as long: about twenty steps for each value."""
        return self.sequences * self.count * 16


@described
@frozen
class PrefixCall:
    """The running sums ("add"), or extremes ("max", "min"), along the axis in the middle of a dense (outer, length,
    inner), by vectors of so many lanes.
    """

    combine: str
    dtype: DType
    lanes: int
    outer: Dim
    length: Dim
    inner: Dim

    @property
    def multiplications(self) -> Dim:
        """What takes as long: an addition for each element."""
        return self.outer * self.length * self.inner


@described
@frozen
class SparseCall:
    """A matrix of so many `rows`, held row by row as starts, columns and `count` numbers, times a dense (height,
    width), by vectors of so many lanes.
    """

    dtype: DType
    index: DType
    lanes: int
    rows: Dim
    count: Dim
    height: Dim
    width: Dim

    @property
    def multiplications(self) -> Dim:
        """A product for each number and column, and a step for each row."""
        return self.count * self.width + self.rows


@described
@frozen
class EliminationCall:
    """What `kind` says of `count` small square matrices, dense ones: the X of A @ X = B for matrices B of so many
    columns, and whether there is one; determinants; their signs and logarithms; Cholesky factors, if there are.
    """

    kind: str
    dtype: DType
    count: Dim
    size: Dim
    columns: Dim = 0

    @property
    def operands(self) -> int:
        """How many arrays it takes and gives."""
        return {"solve": 4, "determinant": 2, "slogdet": 3, "cholesky": 3}[self.kind]

    @property
    def multiplications(self) -> Dim:
        """How many products it adds up, about."""
        return self.count * (self.size * self.size * (self.size + 3 * self.columns) + 16 * self.size)


RoutineCall = (
    OrderCall | SearchCall | PrefixCall | SparseCall | EliminationCall
)  # what a routine computes, see `routines/ordering.py`
LibraryCall = Matmul | ConvolutionCall | Tiles | FourierCall | RoutineCall
