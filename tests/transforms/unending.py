"""Programs with a computation that does not end, which is never reached; each must still end after every motion.

Run as a script in a process of its own, so that a mistake is a failure and not a test that hangs:

    python unending.py graph | python | list
"""

import sys

import numpy as np

import mycelia as ms
from mycelia import primitives as p
from mycelia import transforms
from mycelia.ir import Function, inner_functions, interpret, registry, verify
from mycelia.passes import PIPELINE
from mycelia.primitives import Epilogue
from mycelia.testing import compile as native
from mycelia.testing import optimise
from mycelia.transforms import Structured, jvp, vjp, vmap
from mycelia.types import TensorType, bool_, float32, int64

S, B, N = TensorType(float32, ()), TensorType(bool_, ()), TensorType(int64, ())
build = Function.build

# ------------------------------------------------------------------------------------------------ what does not end


def number(x):
    return p.full(x, float32, ())


forever = p.While(build(lambda x: p.equal(p.full(1.0, float32, ()), p.full(1.0, float32, ())), S), build(p.sin, S), 0)
nan = p.While(build(lambda x: p.equal(x, x), S), build(p.cos, S), 0)
again = p.NamedCall("again", (S,))
endless = p.Recurse((("again", build(lambda x: again(x + 1.0), S)),), "again")
UNENDING = {
    "while": lambda x: forever(x)[0],
    "while of a constant": lambda x: nan(p.full(0.5, float32, ()))[0] * x,
    "recursion": lambda x: endless(x)[0],
    "scan of whiles": lambda x: p.Scan(build(lambda h: forever(h)[0], S), 0, 1, False, 2)(x)[0],
    "very many turns": lambda x: (
        p.Scan(build(p.sin, S), 0, 1)(p.full(10**15, int64, ()), p.full(0.5, float32, ()))[0] * x
    ),
    "call": lambda x: p.Call(build(lambda h: (forever(h)[0],), S))(x)[0],
}

# ------------------------------------------------------------------------------------------------ what guards it


def cond(bad):
    then = build(lambda x, y: (bad(y) * x,), S, S)
    return lambda c, n, x, y: p.Cond(then, build(lambda x, y: (x * y,), S, S))(c, x, y)[0]


def cond_twice(bad):
    """Both branches of the inner one hold the same value, and the outer one is not taken."""
    one = build(lambda x, y: (bad(y) + x,), S, S)
    two = build(lambda x, y: (bad(y) - x,), S, S)
    inner = build(lambda x, y: p.Cond(one, two)(p.greater(x, y), x, y), S, S)
    return lambda c, n, x, y: p.Cond(inner, build(lambda x, y: (x * y,), S, S))(c, x, y)[0]


def loop(bad):
    more = build(lambda y, x, c: (c,), S, S, B)
    turn = build(lambda y, x, c: (bad(y) * x, c), S, S, B)
    return lambda c, n, x, y: p.While(more, turn, 1)(y, x, c)[0] * y


def counted(bad):
    turn = build(lambda y, x: (bad(y) * x,), S, S)
    return lambda c, n, x, y: p.Scan(turn, 1, 1)(n, y, x)[0] * y


def counted_to_zero(bad):
    turn = build(lambda y, x: (bad(y) * x,), S, S)
    return lambda c, n, x, y: p.Scan(turn, 1, 1, False, 0)(y, x)[0] * y


def of_nothing(bad):
    one = build(lambda y, e: (bad(y) * e, bad(y) + e), S, S)

    def run(c, n, x, y):
        total = p.Map(one, 1, 0, 1)(y, p.zeros(float32, (0,)))[1]
        return total * x + x * y

    return run


def recursion(bad):
    down = p.NamedCall("down", (S,))
    stop = build(lambda c, x, y: (x * y,), B, S, S)
    on = build(lambda c, x, y: (bad(y) * down(c, x, y)[0],), B, S, S)
    fn = build(lambda c, x, y: p.Cond(on, stop)(c, c, x, y), B, S, S)
    return lambda c, n, x, y: p.Recurse((("down", fn),), "down")(c, x, y)[0]


def called(bad):
    fn = build(lambda c, x, y: (cond(bad)(c, None, x, y),), B, S, S)
    return lambda c, n, x, y: p.Call(fn)(c, x, y)[0]


def recomputed(bad):
    fn = build(lambda c, x, y: (cond(bad)(c, None, x, y),), B, S, S)
    return lambda c, n, x, y: p.Call(fn, recompute=True)(c, x, y)[0]


def own_gradient(bad):
    fn = build(lambda c, x, y: (cond(bad)(c, None, x, y),), B, S, S)
    forward = build(lambda c, x, y: (cond(bad)(c, None, x, y), c, x, y), B, S, S)
    back = build(lambda c, x, y, ct: (cond(bad)(c, None, ct, y), ct * x), B, S, S, S)
    return lambda c, n, x, y: p.CustomVjp(fn, forward, back)(c, x, y)[0]


def unread(bad):
    """Nobody reads it, so it may be dropped, and nothing else may be done with it."""

    def run(c, n, x, y):
        bad(y)
        return x * y

    return run


GUARDS = [cond, cond_twice, loop, counted, counted_to_zero, of_nothing, recursion, called, recomputed, own_gradient]
GUARDS.append(unread)
NO_JVP = {own_gradient}
POINT = (np.array(False), np.array(0), np.float32(1.5), np.float32(0.75))
MANY = tuple(np.stack([v, v, v]) for v in POINT)
SMOOTH = (False, False, True, True)


def parted(fn):
    """The two halves of the gradient, one after the other."""
    n, m = len(fn.params), len(fn.results)
    for visible in (None, (True,) * n + (False,) * m):
        parts = transforms.parted(vjp(fn, SMOOTH[:n]), n, m, visible)
        one = np.float32(1)
        results = interpret(parts.forward, *POINT)
        interpret(parts.backward, *parts.kept(POINT, results), one)


def motions(fn, forward):
    """Functions of the same parameters, made by every motion there is, with arguments that they end at."""
    one = np.float32(1)
    for run in (*PIPELINE, optimise):
        yield run.__name__, run(fn), POINT
    yield "vjp", vjp(fn), (*POINT, one)
    yield "vjp vjp", vjp(vjp(fn)), (*POINT, one, one, one, one)
    if forward:
        yield "jvp", jvp(fn), (*POINT, one, one)
        yield "jvp vjp", jvp(vjp(fn)), (*POINT, one, one, one, one)
    for mask in ((True,) * 4, (True, False, False, False), (False, False, True, True), (False, True, True, False)):
        given = tuple(many if m else v for many, v, m in zip(MANY, POINT, mask, strict=True))
        every = vmap(fn, 3, mask)
        yield f"vmap {mask}", every, given
        yield f"vjp vmap {mask}", vjp(every), (*given, np.ones(3, np.float32))
        yield f"vmap vjp {mask}", vmap(vjp(fn), 3, (*mask, False)), (*given, one)


def ops_of(fn):
    """The ops in a function and in the functions inside."""
    for v in fn.values():
        yield type(v.op)
        for inner in inner_functions(v.op):
            yield from ops_of(inner)


def graph():
    tried = {op for guard in GUARDS for op in ops_of(build(guard(UNENDING["while"]), B, N, S, S))}
    missing = [op.name for op in registry.values() if issubclass(op, Structured) and not issubclass(op, Epilogue)]
    assert not [name for name in missing if registry[name] not in tried], f"nobody tries all of {missing}"
    for name, bad in UNENDING.items():
        for guard in GUARDS:
            fn = build(guard(bad), B, N, S, S)
            (expected,) = interpret(fn, *POINT)
            for motion, made, inputs in motions(fn, guard not in NO_JVP):
                print(f"{guard.__name__} around {name}: {motion}", flush=True)
                verify(made)
                got = interpret(made, *inputs)
                np.testing.assert_array_equal(np.ravel(got[0])[0], expected)
            print(f"{guard.__name__} around {name}: split", flush=True)
            parted(fn)


def machine():
    """The same as machine code, for the motions whose programs differ most."""
    for name in ("while", "recursion"):
        for guard in GUARDS:
            fn = build(guard(UNENDING[name]), B, N, S, S)
            (expected,) = interpret(fn, *POINT)
            for motion, made, inputs in motions(fn, guard not in NO_JVP):
                if motion in ("optimise", "vjp", f"vmap {(True,) * 4}"):
                    print(f"{guard.__name__} around {name}: {motion}, compiled", flush=True)
                    got = native(made)(*map(np.asarray, inputs))
                    np.testing.assert_allclose(np.ravel(got[0])[0], expected, rtol=1e-6)


# ------------------------------------------------------------------------------------------------ Python programs


def spin(x):
    while (x == x).all():
        x = x * 0.5 + 1.0
    return x


def untaken(x, y):
    if x.sum() > 100.0:
        x = x * spin(y)
    return x * y


def no_turn(x, y):
    while x.sum() > 100.0:
        x = x * spin(y)
    return x * y


def no_row(x, y):
    for _ in x[:0]:
        x = x * spin(y)
    return x * y


def no_number(x, y):
    for _ in range((x.sum() * 0).astype(ms.int64)):
        x = x * spin(y)
    return x * y


def and_then(x, y):
    if x.sum() > 100.0 and spin(y).sum() > 0.0:
        x = x + 1.0
    return x * y


def or_else(x, y):
    if x.sum() < 100.0 or spin(y).sum() > 0.0:
        x = x + 1.0
    return x * y


def chosen(x, y):
    return (spin(y) if x.sum() > 100.0 else x) * y


def seen_before(x, y):
    """The same computation stands in a branch that is not taken and in a loop without turns."""
    if x.sum() > 100.0:
        x = x + spin(y)
    while x.sum() > 100.0:
        x = x * spin(y)
    return x * y


def deep(x, y):
    return x if x.sum() < 100.0 else deep(x, spin(y))


def nobody_reads(x, y):
    if x.sum() > 100.0:
        spin(y)
    return x * y


def early(x, y):
    if x.sum() < 100.0:
        return x * y
    return spin(y)


def constant_spin(x, y):
    while x.sum() > 100.0:
        x = x + spin(ms.Tensor([1.0, 2.0]))
    return x * y


def very_many(x, y):
    if x.sum() > 100.0:
        for i in range(10**15):
            x = x + y * i
    for _ in range(10**15):
        if x.sum() < 100.0:
            break
        x = x + y
    return x * y


PROGRAMS = [untaken, no_turn, no_row, no_number, and_then, or_else, chosen, seen_before, deep, nobody_reads, early]
PROGRAMS += [constant_spin, very_many]


def python():
    x, y = ms.Tensor([1.5, -0.25]), ms.Tensor([0.75, 2.0])
    xs, ys = ms.ops.stack([x, x + 0.5, x - 1.0]), ms.ops.stack([y, y, y * 2.0])
    for fn in PROGRAMS:
        total = lambda x, y, fn=fn: fn(x, y).sum()  # noqa: E731
        both = ms.grad(total, (0, 1))
        every = ms.vmap(fn)
        ways = {
            "jit": (lambda x, y, fn=fn: fn(x, y), ms.jit(fn), (x, y)),
            "jit grad": (both, ms.jit(both), (x, y)),
            "grad jit": (both, ms.grad(ms.jit(total), (0, 1)), (x, y)),
            "jit grad jit": (both, ms.jit(ms.grad(ms.jit(total), (0, 1))), (x, y)),
            "vmap": (lambda xs, ys, fn=fn: ms.ops.stack([fn(*r) for r in zip(xs, ys, strict=True)]), every, (xs, ys)),
            "grad vmap": (
                ms.grad(lambda xs, ys, fn=fn: sum(fn(*r).sum() for r in zip(xs, ys, strict=True)), (0, 1)),
                ms.jit(ms.grad(lambda xs, ys, every=every: every(xs, ys).sum(), (0, 1))),
                (xs, ys),
            ),
            "vmap grad": (
                lambda xs, ys, both=both: [
                    ms.ops.stack(g) for g in zip(*[both(*r) for r in zip(xs, ys, strict=True)], strict=True)
                ],
                ms.jit(ms.vmap(both)),
                (xs, ys),
            ),
        }
        for name, (expected, got, arguments) in ways.items():
            print(f"{fn.__name__}: {name}", flush=True)
            want, have = expected(*arguments), got(*arguments)
            pairs = zip(want, have, strict=True) if isinstance(want, tuple | list) else [(want, have)]
            for a, b in pairs:
                np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)
        assert "runs in Python" not in ways["jit"][1].explain(), ways["jit"][1].explain()


if __name__ == "__main__":
    {"graph": graph, "machine": machine, "python": python}[sys.argv[1]]()
    print("all ended")
