"""What is read across memory is read in tiles; the elements are those of NumPy, whatever the sizes."""

from __future__ import annotations

import numpy as np
import pytest

import mycelia as ms
from mycelia import ops
from mycelia.cost import LINE, LINES_KEPT
from mycelia.loops import Index, Kernel, Store, Sweep, Update, Variable, index
from mycelia.loops.expr import Buffer, load
from mycelia.lowering.across import WIDTH, in_tiles
from mycelia.types import TensorType, bfloat16, float32, uint8

MANY = LINES_KEPT + 1
SIZES = [(1, MANY), (2, MANY), (16, 512), (17, 513), (33, 1000), (64, 640), (MANY, MANY), (3, 2 * WIDTH)]


def transposition(rows: int, columns: int, dtype=float32, action=Store) -> Kernel:
    x = Buffer.dense("x", TensorType(dtype, (columns, rows)))
    y = Buffer.dense("y", TensorType(dtype, (rows, columns)))
    i, j = Variable(rows), Variable(columns)
    more = ("add",) if action is Update else ()
    write = action(y, index(i) * columns + index(j), *more, load(x, (index(j), index(i))))
    return Kernel((i,), (Sweep((j,), (), (write,)),))


@pytest.mark.many(
    ("shape", "dtype"),
    [(s, "float32") for s in SIZES] + [((33, 600), d) for d in ("float64", "float16", "bfloat16", "int8", "bool_")],
)
def test_a_transposition_moves_every_element(shape, dtype):
    rows, columns = shape
    x = np.arange(rows * columns).reshape(columns, rows) % 251 - 125
    kind = getattr(ms, dtype)
    tensor = ms.Tensor(x.astype(np.int32)).astype(kind)
    turned = ms.jit(lambda t: ops.transpose(t, (1, 0)))(tensor)
    np.testing.assert_array_equal(turned.astype(ms.float32).asnumpy(), tensor.astype(ms.float32).asnumpy().T)


def test_other_operands_lie_as_they_do():
    rng = np.random.default_rng(0)
    x, y, z = (rng.standard_normal(s).astype(np.float32) for s in ((300, 2, 90), (90, 300, 2), (90,)))

    @ms.jit
    def mixed(x, y, z):
        return ops.transpose(x, (2, 0, 1)) * 2 + y - z.reshape(90, 1, 1)

    got = mixed(ms.Tensor(x), ms.Tensor(y), ms.Tensor(z)).asnumpy()
    np.testing.assert_allclose(got, x.transpose(2, 0, 1) * 2 + y - z[:, None, None], rtol=1e-6)


def test_one_program_serves_all_sizes():
    turned = ms.jit(lambda x: x.T + 1, dynamic=True)
    for shape in [(300, 70), (513, 17), (2, 3), (1, 400), (400, 1), (640, 640), (0, 5)]:
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(turned(ms.Tensor(x)).asnumpy(), x.T + 1)


def test_the_bits_of_what_is_not_a_number_are_moved_as_they_are():
    bits = np.resize(np.array([0x7F81, 0xFFC1, 0x0001, 0x8000, 0x7F80], np.uint16), (MANY, 20))
    x = ms.Tensor(bits.view(bfloat16.numpy))
    got = ms.jit(lambda t: t.T)(x)
    np.testing.assert_array_equal(got.asnumpy().view(np.uint16), bits.T)


def test_a_tile_uses_all_bytes_of_the_lines_that_it_reads():
    tiled = in_tiles(transposition(640, 1024))
    assert [v.extent for v in tiled.rows] == [640 * 4 // LINE]
    assert [v.extent for v in tiled.sweeps[0].columns] == [1024 // WIDTH, LINE // 4, WIDTH]
    narrow = in_tiles(transposition(640, 1024, uint8))
    assert [v.extent for v in narrow.sweeps[0].columns] == [1024 // WIDTH, LINE, WIDTH]


def test_what_gains_nothing_or_has_an_order_is_left_alone():
    few, sums = transposition(640, LINES_KEPT), transposition(640, 1024, action=Update)
    along = transposition(640, 1024)
    (write,) = along.sweeps[0].actions
    row, column = along.rows[0], along.sweeps[0].columns[0]
    source, target = write.value.attribute[0], write.buffer

    def reading(what: Buffer, *at: Index) -> Kernel:
        return Kernel((row,), (Sweep((column,), (), (Store(target, write.offset, load(what, at)),)),))

    straight = reading(Buffer.dense("z", target.type), index(row), index(column))
    divided = reading(source, index(column) // 2, index(row))
    in_place = Store(source, write.offset, write.value)
    of_its_own = Kernel((row,), (Sweep((column,), (), (in_place,)),))
    for kernel in (few, sums, straight, divided, of_its_own):
        assert in_tiles(kernel) is kernel
