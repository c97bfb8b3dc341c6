"""Products by our own tiles equal their reference, however the operands lie and whatever their types are."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from llvmlite import binding

from mycelia import primitives as p
from mycelia.api.options import options
from mycelia.codegen.tiles import emit_tiles
from mycelia.ir import Function, interpret
from mycelia.loops import Tiles
from mycelia.lowering.tiles import tile_kind
from mycelia.sizes import Scope
from mycelia.testing import compile, lower, optimise
from mycelia.transforms import vjp
from mycelia.types import TensorType, dtype_named, float64, type_of

TYPES = ["f64", "i8", "u8", "i16", "i32", "i64", "u64"]


def drawn(rng, dtype, *shape):
    numbers = rng.normal(size=shape) if dtype.is_float else rng.integers(0, 100, shape)
    return np.asarray(numbers).astype(dtype.numpy)


def calls(run):
    return [run.binding.calls[recipe.call] for recipe in run.binding.recipes]


def check(fn, *inputs):
    """Compiled as tiles, and equal to the interpreter."""
    run = compile(fn)
    assert calls(run)
    assert all(isinstance(c, Tiles) for c in calls(run))
    for got, want in zip(run(*inputs), interpret(fn, *inputs), strict=True):
        assert got.dtype == want.dtype
        if want.dtype.kind == "f":
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11 * max(np.abs(want).max(), 1))
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("short", TYPES)
@pytest.mark.many(
    ("equation", "sizes"),
    [
        ("mk,kn->mn", {"m": 37, "k": 300, "n": 29}),
        ("mk,kn->nm", {"m": 37, "k": 11, "n": 29}),
        ("km,nk->mn", {"m": 13, "k": 517, "n": 8}),
        ("bmk,bkn->bmn", {"b": 3, "m": 20, "k": 30, "n": 40}),
        ("abk,kcd->cadb", {"a": 5, "b": 6, "k": 40, "c": 7, "d": 9}),
        ("amkb,bkn->nbma", {"a": 3, "m": 7, "k": 12, "b": 5, "n": 24}),
        ("mk,kn->mn", {"m": 2, "k": 5000, "n": 2}),
        ("mk,kn->mn", {"m": 700, "k": 1, "n": 700}),
        ("mjk,kjn->mn", {"m": 130, "j": 2, "k": 130, "n": 1100}),
    ],
)
def test_contractions(short, equation, sizes):
    dtype, rng = dtype_named(short), np.random.default_rng(0)
    operands, out = equation.split("->")
    left, right = operands.split(",")
    x, y = (drawn(rng, dtype, *(sizes[c] for c in letters)) for letters in (left, right))
    fn = Function.build(p.Contract(left, right, out), *map(type_of, (x, y)))
    if sizes["k"] == 1:
        np.testing.assert_array_equal(compile(fn)(x, y)[0], interpret(fn, x, y)[0])
    else:
        check(fn, x, y)


def test_operands_may_be_parts_of_others():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, 80)), rng.normal(size=(70, 90))
    check(
        Function.build(
            lambda x, y: p.matmul(p.transpose(p.slice_(x, (3, 5), (43, 65)), (1, 0)), p.slice_(y, (10, 20), (50, 60))),
            *map(type_of, (x, y)),
        ),
        x,
        y,
    )


def random_convolution(rng, small=False):
    """Sizes of a convolution that is large enough for tiles, or too small for them."""
    while True:
        rank, groups = int(rng.integers(1, 4)), int(rng.choice([1, 1, 2, 3]))
        channels, outputs = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        space = [int(rng.integers(1, 16 if rank < 3 else 8)) for _ in range(rank)]
        window = [int(rng.integers(1, 5)) for _ in range(rank)]
        strides, dilation = ([int(rng.integers(1, 4)) for _ in range(rank)] for _ in range(2))
        padding = [tuple(int(n) for n in rng.integers(0, 4, 2)) for _ in range(rank)]
        op = p.Conv(tuple(strides), tuple(padding), tuple(dilation), groups)
        x, w = (int(rng.integers(1, 6)), channels * groups, *space), (outputs * groups, channels, *window)
        fits = [n + a + b - d * (k - 1) > 0 for n, (a, b), d, k in zip(space, padding, dilation, window, strict=True)]
        if all(fits) and (prod(op.output(x, w)) * prod(w[1:]) >= 1 << 13) != small:
            return op, x, w


@pytest.mark.many("seed", range(40), pack=10)
def test_convolutions_and_their_gradients(seed):
    rng = np.random.default_rng(seed)
    op, x, w = random_convolution(rng)
    arrays = rng.normal(size=x), rng.normal(size=w)
    fn = Function.build(op, *map(type_of, arrays))
    check(vjp(fn), *arrays, rng.normal(size=op.output(x, w)))


@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_small_convolutions_and_their_gradients_are_loops(seed):
    rng = np.random.default_rng(seed)
    op, x, w = random_convolution(rng, small=True)
    x = (0, *x[1:]) if seed == 0 else x  # of no images
    inputs = rng.normal(size=x), rng.normal(size=w), rng.normal(size=op.output(x, w))
    fn = vjp(Function.build(op, *map(type_of, inputs[:2])))
    run = compile(fn)
    assert not calls(run)
    for got, want in zip(run(*inputs), interpret(fn, *inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("short", ["i8", "i32"])
def test_convolutions_of_whole_numbers(short):
    rng, dtype = np.random.default_rng(1), dtype_named(short)
    op, x, w = random_convolution(rng)
    arrays = drawn(rng, dtype, *x), drawn(rng, dtype, *w)
    check(Function.build(op, *map(type_of, arrays)), *arrays)


def test_many_threads_share_one_product():
    """More threads than jobs of columns: rows are divided too, and every element is written once."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 64)), rng.normal(size=(64, 40))
    fn = Function.build(p.matmul, *map(type_of, (x, y)))
    alone = compile(fn, threads=1)(x, y)[0]
    np.testing.assert_allclose(alone, x @ y, rtol=1e-12, atol=1e-12)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(compile(fn, threads=threads)(x, y)[0], alone)


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("short", TYPES)
def test_functions_for_every_width_of_vectors_are_legal(short, vector_bytes):
    dtype = dtype_named(short)
    chosen = replace(options(), target=replace(options().target, vector_bytes=vector_bytes))
    kind = tile_kind(dtype, dtype, dtype, chosen)
    assert kind.columns * dtype.itemsize == 2 * vector_bytes
    binding.parse_assembly(emit_tiles(kind, chosen)).verify()


@pytest.mark.parametrize("case", ["matmul", "conv"])
def test_one_program_serves_many_sizes(case):
    n = Scope().name("n", hint=40)
    conv = p.Conv((2, 1), ((1, 1), (1, 1)), (1, 1), 1)
    op, first, second = {
        "matmul": (p.matmul, lambda n: (n, 64), (64, 48)),
        "conv": (conv, lambda n: (n, 8, 9, 10), (12, 8, 3, 3)),
    }[case]
    kinds = TensorType(float64, first(n)), TensorType(float64, second)
    run = compile(vjp(Function.build(op, *kinds)))
    for size in (40, 3, 111):
        rng = np.random.default_rng(size)
        inputs = [rng.normal(size=s) for s in (first(size), second)]
        static = Function.build(op, *map(type_of, inputs))
        inputs.append(rng.normal(size=static.result_types[0].shape))
        for got, want in zip(run(*inputs), interpret(vjp(static), *inputs), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "equation", ["mk,k->m", "km,k->m", "k,kn->n", "k,nk->n", "bkm,bk->bm", "xmk,kx->mx", "mk,nk->mn"]
)
def test_a_matrix_times_a_vector_reads_along_the_lines_of_the_matrix(equation):
    """The innermost loop steps by one through the matrix, whichever side it stands on."""
    sizes = {"m": 96, "k": 128, "n": 112, "b": 3, "x": 1} | ({"n": 1} if equation == "mk,nk->mn" else {})
    operands, out = equation.split("->")
    left, right = operands.split(",")
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=[sizes[c] for c in letters]) for letters in (left, right)]
    fn = Function.build(p.Contract(left, right, out), *map(type_of, inputs))
    np.testing.assert_allclose(compile(fn)(*inputs)[0], np.einsum(equation, *inputs), rtol=1e-12, atol=1e-12)
    program = lower(optimise(fn))
    matrix = max(program.inputs, key=lambda b: b.type.size)
    (launch,) = program.block.steps
    found = [(s, e) for s in launch.kernel.sweeps for e in (*(t for _, t in s.folds), *(a.value for a in s.actions))]
    reads = [(s, x) for s, e in found for x in e.walk() if x.kind == "load" and x.attribute[0] is matrix]
    assert reads
    assert all(x.attribute[1].coefficient(s.columns[-1]) == 1 for s, x in reads)
