"""Prints, checks and Python functions inside compiled programs: once, in order, in one native call."""

import subprocess
import sys
import threading
import traceback

import numpy as np
import pytest

import mycelia as ms
from mycelia import Tensor, grad, jit, ops, vmap
from mycelia.runtime.executable import Calls

X = Tensor([1.0, 2.0])


class Seen(list):
    """What a program showed."""

    def __call__(self, *arrays):
        self.append(tuple(a.tolist() for a in arrays))

    def since(self, run, *args):
        self.clear()
        run(*args)
        return list(self)


@pytest.fixture
def seen():
    return Seen()


def noisy(seen):
    """A program that shows something on every way through it."""

    def below(x, n):
        ops.pyfunc(seen, None, x, n)
        return x if n < 1.0 else below(x * 0.5, n - 1.0) + x

    def more(x):
        ops.pyfunc(seen, None, x)
        return x.sum() < 20.0

    def program(x):
        ops.pyfunc(seen, None, x)
        for _ in range(2):
            ops.pyfunc(seen, None, x)
        if x.sum() > 2.5:
            ops.pyfunc(seen, None, x * 2)
            x = x + 1.0
        else:
            ops.pyfunc(seen, None, x * 3)
        while more(x):
            ops.pyfunc(seen, None, x + 0.5)
            x = x * 2.0
        for row in x:
            ops.pyfunc(seen, None, row)
        if x.sum() > 1e6 and more(x):
            x = x - 1.0
        ops.pyfunc(seen, None, ops.pyfunc(lambda a: a.astype(np.int64) * 2, Tensor([1, 1]), x))
        return below(x, Tensor(2.0))

    return program


def plainly(seen):
    """One that has no ways."""

    def program(x):
        ops.pyfunc(seen, None, x)
        return x * x * x

    return program


def test_a_compiled_program_shows_what_python_shows(seen):
    program = noisy(seen)
    compiled = jit(program)
    for x in (X, X * 0.1, X * 50.0):
        wanted = seen.since(program, x)
        for _ in range(2):
            assert seen.since(compiled, x) == wanted
    assert "runs in Python" not in compiled.explain()
    before = Calls.count
    compiled(X)
    assert Calls.count == before + 1


@pytest.mark.parametrize(
    "way", ["grad", "grad jit", "jit grad", "jit grad jit", "grad grad", "grad grad jit", "jit grad grad", "jvp jit"]
)
@pytest.mark.parametrize("made", [noisy, plainly])
def test_a_gradient_shows_it_once(seen, way, made):
    program = made(seen)

    def total(x):
        return program(x).sum()

    first = grad(total)
    ways = {
        "grad": first,
        "grad jit": grad(jit(total)),
        "jit grad": jit(first),
        "jit grad jit": jit(grad(jit(total))),
        "grad grad": grad(lambda x: first(x).sum()),
        "grad grad jit": grad(lambda x: grad(jit(total))(x).sum()),
        "jit grad grad": jit(grad(lambda x: first(x).sum())),
        "jvp jit": lambda x: ms.jvp(jit(total), x, x),
    }
    wanted = seen.since(total, X)
    assert seen.since(ways[way], X) == wanted
    assert seen.since(ways[way], X) == wanted


def test_examples_show_it_one_after_the_other(seen):
    program = noisy(seen)
    xs = ops.stack([X, X * 0.1, X * 50.0])
    wanted = seen.since(lambda: [program(x) for x in xs])
    assert seen.since(vmap(program), xs) == wanted
    assert seen.since(jit(vmap(program)), xs) == wanted
    assert seen.since(vmap(jit(program)), xs) == wanted
    assert seen.since(grad(lambda xs: vmap(program)(xs).sum()), xs) == wanted
    assert seen.since(jit(vmap(grad(lambda x: program(x).sum()))), xs) == wanted
    np.testing.assert_array_equal(vmap(program)(xs).asnumpy(), [program(x).asnumpy() for x in xs])


def test_the_gradient_around_a_python_function_is_right(seen):
    def f(x):
        ops.pyfunc(seen, None, x)
        return (ops.stop_gradient(ops.pyfunc(np.floor, x, x)) * x * x).sum()

    np.testing.assert_array_equal(grad(f)(X).asnumpy(), [2.0, 8.0])
    np.testing.assert_array_equal(jit(grad(f))(X).asnumpy(), [2.0, 8.0])
    np.testing.assert_array_equal(grad(jit(f))(X).asnumpy(), [2.0, 8.0])


@pytest.mark.parametrize("way", [lambda f: f, jit])
def test_the_result_of_a_python_function_has_no_gradient(way):
    f = way(lambda x: ops.pyfunc(np.sin, x, x).sum())
    with pytest.raises(ms.errors.GradientError, match="Python computes it"):
        grad(f)(X)
    with pytest.raises(ms.errors.GradientError, match="Python computes it"):
        jit(grad(f))(X)
    with pytest.raises(ms.errors.GradientError, match="Python computes it"):
        ms.jvp(f, X, X)


def test_prints_stay_in_the_program(capsys):
    @jit
    def f(x):
        print("x", x, f"sum {x.sum():.1f}, {x!r:>5}", (1, [x.max(), "m"]), sep=" | ", end=".\n")
        for i in range(3):
            if x.sum() > i + 2.0:
                ops.print_(i, x)
        ops.Print()("done", x.shape)
        list(map(print, [x, 1]))
        return x

    def printed(run):
        run(X)
        return capsys.readouterr().out

    assert printed(f) == printed(f) == printed(f.__captured__)
    assert "runs in Python" not in f.explain()
    assert "calls Python: print" in f.explain()


def test_a_text_that_is_more_than_printed_is_left_to_python(capsys):
    names = []

    @jit
    def f(x):
        text = f"{x.sum()}"
        print(text)
        names.append(text)
        return x

    f(X)
    f(X)
    assert names == ["3.0", "3.0"]
    assert capsys.readouterr().out == "3.0\n3.0\n"


def test_an_assertion_raises_what_python_raises_and_tells_the_line():
    @jit
    def f(x):
        y = x * 2
        assert y.sum() < 10.0, f"the sum is {y.sum()}"
        return y

    f(X)
    with pytest.raises(AssertionError, match=r"the sum is 12\.0") as caught:
        f(X * 2)
    assert "assert y.sum() < 10.0" in traceback.extract_tb(caught.value.__traceback__)[-1].line
    assert "one native call" in f.explain()
    with pytest.raises(AssertionError, match=r"the sum is 12\.0"):
        grad(lambda x: f(x).sum())(X * 2)
    with pytest.raises(AssertionError, match=r"the sum is 600\.0"):
        vmap(f)(ops.stack([X, X * 100.0, X * 200.0]))


def test_an_assertion_that_is_caught_is_caught():
    @jit
    def f(x):
        try:
            assert x.sum() > 10.0
        except AssertionError:
            return x * 0
        return x

    assert f(X).tolist() == [0.0, 0.0]
    assert f(X * 10.0).tolist() == [10.0, 20.0]


def test_what_python_raises_comes_out_whole_and_ends_the_program(seen):
    class Broken(Exception):
        pass

    def fails(a):
        raise Broken(a.tolist())

    @jit
    def f(x):
        for row in x:
            ops.pyfunc(seen, None, row)
            if row > 1.5:
                ops.pyfunc(fails, None, row)
        ops.pyfunc(seen, None, x)
        return x

    for _ in range(3):
        seen.clear()
        with pytest.raises(Broken, match=r"2\.0") as caught:
            f(X)
        assert seen == [(1.0,), (2.0,)]
    assert "fails" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert f(X * 0.1).tolist() == pytest.approx([0.1, 0.2])


def test_a_step_that_fails_leaves_what_python_leaves():
    weight = ms.Parameter(Tensor(np.ones((3, 3), "f")), name="weight")

    def fails(a):
        raise ValueError("no")

    @jit
    def step(x, ok):
        ops.assign(weight, weight * x)
        if not ok:
            ops.pyfunc(fails, None, weight)
        ops.assign(weight, weight + 1.0)
        return weight.sum()

    good, bad = Tensor(True), Tensor(False)
    step(Tensor(2.0), good)
    held = weight.asnumpy().copy()
    with pytest.raises(ValueError, match="no"):
        step(Tensor(2.0), bad)
    np.testing.assert_array_equal(weight.asnumpy(), held * 2.0)
    step(Tensor(2.0), good)
    np.testing.assert_array_equal(weight.asnumpy(), held * 4.0 + 1.0)


def test_arrays_that_a_function_keeps_or_changes_are_its_own():
    kept = []

    def grabs(a):
        kept.append(a)
        a[...] = -1.0

    @jit
    def f(x):
        y = x * 2
        ops.pyfunc(grabs, None, y)
        y = y * 2
        ops.pyfunc(kept.append, None, y)
        return y

    assert f(X).tolist() == f(X).tolist() == [4.0, 8.0]
    assert [a.tolist() for a in kept] == [[-1.0, -1.0], [4.0, 8.0]] * 2


def test_a_program_may_be_called_by_python_that_it_calls():
    @jit
    def power(x):
        def below(a):
            return power(Tensor(a - 1)).asnumpy() if a > 0 else a + 1

        return ops.pyfunc(below, x, x) * 2.0

    assert power(Tensor(3.0)).item() == 16.0

    @jit
    def factorial(n):
        ops.pyfunc(lambda a: None, None, n)
        return n if n < 2 else n * factorial(n - 1)

    @jit
    def both(n):
        other = ops.pyfunc(lambda a: factorial(Tensor(a)).asnumpy(), n, n)
        return n if n < 2 else other + both(n - 1)

    assert both(Tensor(4.0)).item() == 24 + 6 + 2 + 1


def test_python_is_called_on_the_thread_that_called_the_program():
    where = []

    def here(a):
        where.append(threading.get_ident())

    @jit
    def f(n):  # recursive programs run in a thread with a larger stack
        ops.pyfunc(here, None, n)
        return n if n < 2 else f(n - 1) + 1.0

    def other():
        f(Tensor(3.0))
        assert set(where) == {threading.get_ident()}

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    where.clear()
    f(Tensor(3.0))
    assert set(where) == {threading.get_ident()}


def test_changing_what_the_program_reads_is_told():
    weight = ms.Parameter(Tensor([1.0, 1.0]), name="weight")

    @jit
    def f(x):
        ops.pyfunc(lambda a: weight.set_data(Tensor([7.0, 7.0])), None, x)
        return weight * x

    with pytest.raises(ms.errors.MyceliaError, match="has changed weight, which the program reads"):
        f(X)


def test_changing_a_number_that_the_program_reads_is_told_at_every_call():
    factor = [1.0]

    def grow(a):
        factor[0] += 1.0

    @jit
    def f(x):
        ops.pyfunc(grow, None, x)
        return x * factor[0]

    for _ in range(4):  # from the second call on it is known to change
        with pytest.raises(ms.errors.MyceliaError, match="which the program reads"):
            f(X)


def test_threads_do_not_mix_what_they_show():
    shown = {}

    def note(a):
        shown.setdefault(threading.current_thread().name, []).append(a.item())

    @jit
    def f(x):
        while x < 50.0:
            ops.pyfunc(note, None, x)
            x = x + 2.0
        return x

    def work(start):
        for _ in range(5):
            f(Tensor(start))
        mine = shown[threading.current_thread().name]
        assert mine == [*np.arange(start, 50.0, 2.0)] * 5, mine

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    failed = []
    hook, threading.excepthook = threading.excepthook, lambda what: failed.append(what.exc_value)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        threading.excepthook = hook
    assert not failed
    assert len(shown) == 4


def test_variables_around_a_function_are_as_they_were(seen):
    @jit
    def f(x):
        for i in range(3):
            ops.pyfunc(lambda a: seen.append(i), None, x)  # noqa: B023  # which is the point
        return x

    assert seen.since(f, X) == [0, 1, 2]
    assert "one native call" in f.explain()


def test_a_function_that_reads_tensors_around_it_is_left_to_python(seen):
    @jit
    def f(x):
        total = x.sum()
        ops.pyfunc(lambda a: seen.append(float(total)), None, x)
        return x

    assert seen.since(f, X) == [3.0]
    assert seen.since(f, X * 2) == [6.0]


def test_a_function_without_a_state_is_left_out_where_nobody_reads_it():
    calls = []

    def note(a):
        calls.append(1)
        return a

    @jit
    def f(x):
        ops.pyfunc(note, x, x, stateful=False)
        return x + ops.pyfunc(note, x, x * 2, stateful=False)

    assert f(X).tolist() == [3.0, 6.0]
    assert len(calls) == 1


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float64, ms.int8, ms.uint8, ms.int64, ms.bool_])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3, 4)])
def test_all_types_and_shapes_arrive(dtype, shape, seen):
    x = Tensor(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2, dtype)

    @jit
    def f(x):
        ops.pyfunc(seen, None, x, x.T)
        return ops.pyfunc(lambda a: a, x, x)

    out = f(x)
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(out.asnumpy(), x.asnumpy())
    assert seen == [(x.asnumpy().tolist(), x.asnumpy().T.tolist())]


def test_mistakes_are_told():
    with pytest.raises(ms.errors.ShapeError, match=r"gave an array of shape \(1,\)"):
        jit(lambda x: ops.pyfunc(lambda a: a[:1], x, x))(X)
    with pytest.raises(ms.errors.DTypeError, match="gave numbers of type float32"):
        jit(lambda x: ops.pyfunc(lambda a: a, Tensor([1, 2]), x))(X)
    with pytest.raises(ms.errors.ArgumentError, match="gave 1 results, and the program expects 2"):
        jit(lambda x: ops.pyfunc(lambda a: (a,), (x, x), x))(X)
    with pytest.raises(ms.errors.ArgumentError, match="`like` holds tensors"):
        ops.pyfunc(np.sin, 3.0, X)
    with pytest.raises(ms.errors.ArgumentError, match="pyfunc calls functions"):
        ops.pyfunc(3.0, X, X)


def test_python_functions_as_operations():
    double = ops.PyFunc(lambda x: x * 2, [ms.float32], [(2,)], [ms.float32], [(2,)])
    assert double(X)[0].tolist() == jit(double)(X)[0].tolist() == [2.0, 4.0]
    with pytest.raises(ms.errors.ArgumentError, match="other tensors than it was said to take"):
        double(Tensor([1.0]))


def test_an_interrupt_ends_the_program():
    def interrupted(a):
        raise KeyboardInterrupt

    @jit
    def f(x):
        while x.sum() > -1.0:
            ops.pyfunc(interrupted, None, x)
        return x

    with pytest.raises(KeyboardInterrupt):
        f(X)


SIZES = """
import mycelia as ms
from mycelia import Tensor, jit, ops
import numpy as np
seen = []
@jit(dynamic=1)
def f(x):
    ops.pyfunc(lambda a: seen.append(a.shape), None, x)
    return x * 2
for n in (3, 4, 5, 9):
    assert f(Tensor(np.ones((n, 2), "f"))).shape == (n, 2)
assert seen == [(3, 2), (4, 2), (5, 2), (9, 2)], seen
"""


def test_sizes_that_change_are_seen_as_they_are():
    ran = subprocess.run([sys.executable, "-c", SIZES], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
