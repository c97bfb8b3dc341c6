"""Updates in place: what is written is the part, where the operand dies; and nobody reads what was overwritten."""

import numpy as np
import pytest

from mycelia import primitives as p
from mycelia.ir import Function, interpret
from mycelia.loops import Copy, Launch, Repeat
from mycelia.sizes import hint
from mycelia.testing import compile, lower, optimise
from mycelia.transforms import value_and_grad
from mycelia.types import TensorType, float32, float64, int64
from tests.fuzz.judge import difference
from tests.fuzz.programs import random_case

ROWS, COLUMNS = 6, 4
T, N = TensorType(float64, (ROWS, COLUMNS)), TensorType(int64, ())


def whole(n):
    return p.full(n, int64, ())


UPDATES = {
    "dynamic_update": lambda x, i, u: p.dynamic_update(x, p.take(u, 0, 0, 2), (i, whole(0))),
    "scatter_add": lambda x, i, u: p.scatter_add(x, p.reshape(i, (1,)) + p.iota(int64, (3,), 0), p.take(u, 0, 0, 3), 0),
    "scatter_update": lambda x, i, u: p.scatter_update(
        x, p.reshape(i, (1,)) * p.ones(int64, (2,)), p.take(u, 0, 1, 3), 0
    ),
}


def written(steps):
    """The most elements that one step writes: those of its loops, or of what it copies."""
    sizes = [0]
    for step in steps:
        if isinstance(step, Launch):
            for sweep in step.kernel.sweeps:
                loops = (*step.kernel.rows, *sweep.columns)
                sizes.append(int(np.prod([hint(v.extent) for v in loops], initial=1)))
        elif isinstance(step, Copy):
            sizes.append(hint(step.source.type.size))
    return max(sizes)


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_a_donated_parameter_writes_its_part_only(name):
    fn = optimise(Function.build(UPDATES[name], T, N, T))
    assert written(lower(fn, {0: 0}).block.steps) < ROWS * COLUMNS
    assert written(lower(fn, {}).block.steps) == ROWS * COLUMNS  # somebody else holds it


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_a_constant_leaves_it_as_it_was(name):
    known = np.arange(24.0).reshape(ROWS, COLUMNS)
    fn = Function.build(lambda i, u: p.sin(UPDATES[name](p.constant(known), i, u)), N, T)
    program, given = compile(fn), (np.array(2), np.full(T.shape, 100.0))
    for _ in range(2):
        np.testing.assert_allclose(program(*given)[0], interpret(fn, *given)[0], rtol=1e-12)


@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_something_that_dies_writes_its_part_only(name):
    wide = TensorType(float64, (100, COLUMNS))
    fn = optimise(Function.build(lambda x, i, u: UPDATES[name](UPDATES[name](p.sin(x), i, u), i, u), wide, N, T))
    first, *others = lower(fn, {}).block.steps
    assert written([first]) == 100 * COLUMNS
    assert written(others) < 100


@pytest.mark.parametrize("name", UPDATES)
def test_what_is_read_later_is_kept(name):
    def both(x, i, u):
        y = p.sin(x)
        z = UPDATES[name](y, i, u)
        return z * 2.0, y + z

    fn = Function.build(both, T, N, T)
    x, u = np.random.default_rng(0).normal(size=(2, ROWS, COLUMNS))
    for got, want in zip(compile(fn)(x, np.array(2), u), interpret(fn, x, np.array(2), u), strict=True):
        np.testing.assert_allclose(got, want, 1e-12)


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize(
    "view", [lambda x: p.transpose(p.reshape(x, (COLUMNS, ROWS)), (1, 0)), lambda x: p.take(x, 0, 0, ROWS)]
)
def test_a_view_that_is_overwritten_and_given_is_kept(name, view):
    wide = TensorType(float64, (ROWS + 1, COLUMNS)) if "take" in view.__code__.co_names else T
    fn = Function.build(lambda x, i, u: (UPDATES[name](view(x), i, u), view(x)), wide, N, T)
    x, u = np.random.default_rng(0).normal(size=wide.shape), np.full(T.shape, 7.0)
    for got, want in zip(compile(fn)(x, np.array(2), u), interpret(fn, x, np.array(2), u), strict=True):
        np.testing.assert_allclose(got, want, 1e-12)


def cached(length):
    """Rows written into a carry, one in each turn."""
    c, q = TensorType(float32, (length, 8)), TensorType(float32, (8,))
    condition = Function.build(lambda q, c, i: p.less(i, whole(length)), q, c, N)
    row = lambda q, c, i: p.dynamic_update(c, p.reshape(q, (1, 8)) * 2.0, (i, whole(0)))  # noqa: E731
    body = Function.build(lambda q, c, i: (row(q, c, i), i + whole(1)), q, c, N)
    return Function.build(lambda q, c: p.While(condition, body, 1)(q, c, whole(0))[0], q, c)


def recurrent(length):
    """The gradient of reading one row in each turn."""
    x, h = TensorType(float32, (length, 8)), TensorType(float32, (8,))
    condition = Function.build(lambda x, h, i: p.less(i, whole(length)), x, h, N)

    def turn(x, h, i):
        row = p.reshape(p.dynamic_slice(x, (i, whole(0)), (1, 8)), (8,))
        picked = p.gather(x, i, 0)
        return p.tanh(h * 0.5 + row * picked), i + whole(1)

    body = Function.build(turn, x, h, N)
    total = Function.build(lambda x, h: p.reduce_sum(p.While(condition, body, 1)(x, h, whole(0))[0]), x, h)
    return value_and_grad(total, (True, False))


@pytest.mark.parametrize("program", [cached, recurrent], ids=lambda f: f.__name__)
def test_the_cost_of_a_turn_does_not_grow_with_the_length(program):
    def turns(length):
        steps = lower(optimise(program(length))).block.walk()
        return [written(s.body.walk()) for s in steps if isinstance(s, Repeat)]

    assert turns(50) == turns(2000)
    assert max(turns(50)) <= 8 * 4


@pytest.mark.parametrize("program", [cached, recurrent], ids=lambda f: f.__name__)
def test_loops_with_updates_in_place_are_right(program):
    fn = program(20)
    rng = np.random.default_rng(1)
    inputs = [rng.normal(size=t.shape).astype("f") for t in fn.types]
    for got, want in zip(compile(fn)(*inputs), interpret(fn, *inputs), strict=True):
        np.testing.assert_allclose(got, want, 1e-5, 1e-6)


def random_program(rng):
    """Updates, reads and sums of a few tensors in any order; some results take over parameters."""

    def build(x, y, i, j):
        pool, counts = [x, y], [i, j, whole(1)]
        for _ in range(rng.integers(3, 9)):
            a, b = (pool[rng.integers(len(pool))] for _ in range(2))
            k = counts[rng.integers(len(counts))]
            kind = rng.integers(7)
            if kind < 3:
                pool.append(list(UPDATES.values())[kind](a, k, b))
            elif kind == 3:
                pool.append(p.sin(a) + b * 0.5)
            elif kind == 4:
                row = p.dynamic_slice(a, (k, whole(0)), (1, COLUMNS))
                pool.append(p.dynamic_update(b, row * 2.0, (k + whole(1), whole(0))))
            else:  # a view, which may be kept as it is
                view = p.transpose(p.reshape(a, (COLUMNS, ROWS)), (1, 0))
                pool.append(view + b if kind == 5 else view)
        return tuple(pool[rng.integers(2 if rng.random() < 0.8 else 0, len(pool))] for _ in range(rng.integers(1, 4)))

    return Function.build(build, T, T, N, N)


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_of_updates_are_right(seed):
    rng = np.random.default_rng(seed)
    fn = random_program(rng)
    donated = dict(zip(rng.permutation(len(fn.results))[:2].tolist(), rng.permutation(2).tolist(), strict=False))
    x, y = rng.normal(size=(2, ROWS, COLUMNS))
    inputs = x, y, np.array(rng.integers(-2, 8)), np.array(rng.integers(-2, 8))
    wanted = interpret(fn, *inputs)
    for got, want in zip(compile(fn, donated)(*[a.copy() for a in inputs]), wanted, strict=True):
        np.testing.assert_allclose(got, want, 1e-9, 1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_of_updates_are_right_as_bodies_of_loops(seed):
    rng = np.random.default_rng(seed)
    inside = random_program(rng)
    results = (*inside.results, *inside.params)[:2]
    pick = inside.with_results(results)

    def turn(x, y, i):
        a, b = pick(x, y, i, whole(2))
        return p.tanh(a), p.tanh(b), i + whole(1)

    condition = Function.build(lambda x, y, i: p.less(i, whole(4)), T, T, N)
    body = Function.build(turn, T, T, N)
    fn = Function.build(lambda x, y: p.While(condition, body, 0)(x, y, whole(0))[:2], T, T)
    x, y = rng.normal(size=(2, ROWS, COLUMNS))
    for got, want in zip(compile(fn)(x, y), interpret(fn, x, y), strict=True):
        np.testing.assert_allclose(got, want, 1e-9, 1e-12)


SQUARE = TensorType(float32, (24, 24))
ACROSS = {  # what one row reads and another one stores
    "transposed": lambda x: p.transpose(x, (1, 0)),
    "rows backwards": lambda x: p.flip(x, (0,)),
    "columns backwards": lambda x: p.flip(x, (1,)),
    "one row on": lambda x: p.concat((p.slice_(x, (1, 0), (24, 24)), p.slice_(x, (0, 0), (1, 24))), 0),
    "one column on": lambda x: p.concat((p.slice_(x, (0, 1), (24, 24)), p.slice_(x, (0, 0), (24, 1))), 1),
    "the first row": lambda x: p.Broadcast((24, 24))(p.slice_(x, (0, 0), (1, 24))),
    "the first column": lambda x: p.Broadcast((24, 24))(p.slice_(x, (0, 0), (24, 1))),
    "as it is": lambda x: x,
}
USES = {
    "folded over columns": lambda x, z: z - p.reduce_sum(x, (1,), keepdims=True),
    "folded over rows": lambda x, z: z - p.reduce_sum(x, (0,), keepdims=True),
    "a maximum": lambda x, z: z * p.reduce_max(p.sin(x), (1,), keepdims=True),
    "element by element": lambda x, z: z - x,
    "softmax": lambda x, z: (
        p.exp(x - p.reduce_max(x, (1,), keepdims=True)) / p.reduce_sum(p.exp(x), (1,), keepdims=True)
    ),
    "both ways": lambda x, z: z - x / p.reduce_sum(x * x + 1.0, (1,), keepdims=True),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("across", ACROSS)
def test_a_donated_parameter_is_not_overwritten_before_all_rows_have_read_it(across, use):
    fn = Function.build(lambda x, z: USES[use](ACROSS[across](x), z), SQUARE, SQUARE)
    x, z = np.random.default_rng(0).standard_normal((2, 24, 24)).astype("f")
    want = interpret(fn, x, z)[0]
    np.testing.assert_allclose(compile(fn, {0: 0})(x.copy(), z)[0], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("use", ["element by element", "softmax", "folded over columns"])
def test_what_a_row_reads_and_stores_itself_is_one_memory(use):
    program = lower(optimise(Function.build(USES[use], SQUARE, SQUARE)), {0: 0})
    assert program.outputs == (program.inputs[0],)
    assert not any(isinstance(s, Copy) for s in program.block.steps)


def test_random_programs_with_donated_parameters_are_right():
    for seed in range(60):
        case = random_case(seed)
        for i, result in enumerate(case.fn.result_types):
            for k, param in enumerate(case.fn.types):
                if result == param:
                    found = difference(case, lambda fn, i=i, k=k: copying(compile(fn, {i: k})))
                    assert found is None, f"program {seed}, result {i} over parameter {k}: {found}\n{case.fn}"


def copying(run):
    return lambda *arrays: run(*[np.array(x) for x in arrays])
