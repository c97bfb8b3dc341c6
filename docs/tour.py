# %% [markdown]
"""A tour of Mycelia: from `loss = net(x)` to one native call.

The first chapter builds a small Mycelia from nothing, to show what there is to see. After it nothing is a stand-in:
every section imports the module that it explains, runs it on something small, and asserts what it claims; the tests run
this file from top to bottom. Read it beside the package:

    0  nothing       value, op, gradient, one kernel: a compiler in a hundred and fifty lines
    1  ir            a value is an op applied to values
    2  primitives    an op is declared once
    3  ir            a function is a closed graph
    4  transforms    gradients, tangents, batches: functions to functions
    5  control       loops and recursion are ops, and differentiate
    6  passes        the same function, with less to do
    7  lowering      what is stored, what is computed where it is read: kernels
    8  schedule      where everything lies in memory
    9  codegen       LLVM IR
    10 runtime       machine code, and one call
    11 eager         the same rules, on a tape
    12 capture       Python becomes a graph
    13 nn            a whole training step is one native call

Run it with `python docs/tour.py`, or open it as a notebook (`# %%` begins a cell).
"""

# %%
import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import binding, ir

import mycelia as ms
from mycelia import nn, ops
from mycelia import primitives as p
from mycelia.api.options import options as session_options
from mycelia.capture.capturing import CallRoot, capture
from mycelia.codegen.driver import emit_program
from mycelia.eager.pullback import pullback_of
from mycelia.errors import ShapeError
from mycelia.ir import Function, Value, interpret, rewrite, rule
from mycelia.ir.text import parse, show
from mycelia.loops import Invoke, Launch, Program, binary, const, unary
from mycelia.lowering import lower
from mycelia.passes import optimise
from mycelia.primitives import Unary
from mycelia.runtime.executable import Calls
from mycelia.runtime.layout import layout
from mycelia.runtime.warm import compile
from mycelia.testing import obeys
from mycelia.transforms import jvp, parted, value_and_grad, vjp, vmap
from mycelia.types import TensorType, float32


def f32(*shape: int) -> TensorType:
    """The type of a tensor of 32-bit floats."""
    return TensorType(float32, shape)


def chapter(title: str) -> None:
    """A heading in what the tour prints."""
    print(f"\n{title}\n{'-' * len(title)}")


def complaint(kind: type[Exception], mistake: Callable[[], object]) -> str:
    """What we are told about a mistake."""
    try:
        mistake()
    except kind as error:
        return str(error)
    raise AssertionError("nobody complains")


rng = np.random.default_rng(0)

# %% [markdown]
# ## 0. A small Mycelia, from nothing
#
# Before the real one, a small one: a compiler with gradients in some hundred lines, which uses nothing of the package.
# It knows functions of numbers, which it runs over arrays element by element. All the ideas of the real one are here
# once, in the same order; each has a chapter below.
#
# **A value is an op applied to values.** There is one object for each expression: who writes it again gets the first.

# %%
chapter("0. A small Mycelia, from nothing")


@dataclass(frozen=True, eq=False)
class Small:
    """A value: an op applied to values; or a number, or a parameter, which are told by `about`."""

    op: str
    inputs: tuple["Small", ...] = ()
    about: float = 0.0

    def __add__(self, other: "Small") -> "Small":
        return small("add", self, other)

    def __mul__(self, other: "Small") -> "Small":
        return small("mul", self, other)


all_small: dict[object, Small] = {}


def small(op: str, *inputs: Small, about: float = 0.0) -> Small:
    """The value, made now or found again."""
    return all_small.setdefault((op, inputs, about), Small(op, inputs, about))


a, b = small("param", about=0), small("param", about=1)
one = small("number", about=1.0)
assert small("sin", a * b) is small("sin", a * b)

# %% [markdown]
# **An op is declared once**, with all that anybody will ask of it: what it means (NumPy is the judge), how a cotangent
# flows back through it, and what one element of it is in machine code. Note that the second rule is written with values
# again: a gradient is a program like any other, and has a gradient itself.


# %%
@dataclass(frozen=True)
class SmallOp:
    """The rules of an op."""

    meaning: Callable[..., Any]
    pull: Callable[..., tuple[Small, ...]]  # from the cotangent and the inputs to a cotangent of each input
    element: Callable[..., ir.Value]  # from a builder of instructions and the inputs to one element


def intrinsic(name: str) -> Callable[..., ir.Value]:
    """A function that LLVM has a name for."""
    return lambda b, x: b.call(b.module.declare_intrinsic(f"llvm.{name}", [f64]), [x])


f64, i64 = ir.DoubleType(), ir.IntType(64)
minus = small("number", about=-1.0)
RULES = {
    "add": SmallOp(np.add, lambda ct, x, y: (ct, ct), lambda b, x, y: b.fadd(x, y)),
    "mul": SmallOp(np.multiply, lambda ct, x, y: (ct * y, ct * x), lambda b, x, y: b.fmul(x, y)),
    "sin": SmallOp(np.sin, lambda ct, x: (ct * small("cos", x),), intrinsic("sin")),
    "cos": SmallOp(np.cos, lambda ct, x: (ct * small("sin", x) * minus,), intrinsic("cos")),
}


def in_order(out: Small) -> list[Small]:
    """Everything that a value needs, inputs first, each once."""
    found: dict[Small, None] = {}

    def visit(v: Small) -> None:
        if v not in found:
            for x in v.inputs:
                visit(x)
            found[v] = None

    visit(out)
    return list(found)


def meaning(out: Small, *arrays: Any) -> Any:
    """What a value is: the interpreter, by which everything else is judged."""
    known: dict[Small, Any] = {}
    for v in in_order(out):
        if v.op == "param":
            known[v] = arrays[int(v.about)]
        elif v.op == "number":
            known[v] = v.about
        else:
            known[v] = RULES[v.op].meaning(*[known[x] for x in v.inputs])
    return known[out]


# %% [markdown]
# **Reverse mode is a walk backwards.** The cotangent of the result is one; each op hands its own on to its inputs, and
# where two arrive they are added. This is a function from values to values: nothing is run.


# %%
def gradient(out: Small, *params: Small) -> list[Small]:
    """The derivative of each element of the result, by each parameter."""
    cts = {out: one}
    for v in reversed(in_order(out)):
        if v in cts and v.inputs:
            for x, ct in zip(v.inputs, RULES[v.op].pull(cts[v], *v.inputs), strict=True):
                cts[x] = cts[x] + ct if x in cts else ct
    return [cts.get(x, small("number", about=0.0)) for x in params]


def simpler(out: Small) -> Small:
    """The same value with less to do: a pass. It has one rule: what is multiplied by one is itself."""
    new: dict[Small, Small] = {}
    for v in in_order(out):
        inputs = [new[x] for x in v.inputs]
        kept = [x for x in inputs if not (v.op == "mul" and x is one)]
        new[v] = small(v.op, *inputs, about=v.about) if len(kept) == len(inputs) else (*kept, one)[0]
    return new[out]


y0 = small("sin", a * b) * b + a
by_a = simpler(gradient(y0, a)[0])
xs, ys = rng.standard_normal((2, 1000))
h = 1e-6
slope = (meaning(y0, xs + h, ys) - meaning(y0, xs - h, ys)) / (2 * h)
np.testing.assert_allclose(meaning(by_a, xs, ys), slope, atol=1e-7)  # the law of gradients
print(len(in_order(gradient(y0, a)[0])), "values, after the pass", len(in_order(by_a)))

# %% [markdown]
# **A kernel is a loop with an expression in it.** No value but the result has memory: the sine is computed where it is
# read. LLVM makes machine code of it, for the machine at hand, in vectors.


# %%
def kernel_text(out: Small, arity: int) -> str:
    """LLVM IR: for i in range(n): result[i] = the expression, of elements i of the parameters."""
    module = ir.Module("small")
    module.triple = binding.get_default_triple()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [i64, *[f64.as_pointer()] * (arity + 1)]), "run")
    n, *arrays, result = function.args
    before, loop, end = (function.append_basic_block(name) for name in ("before", "loop", "end"))
    start = ir.IRBuilder(before)
    start.cbranch(start.icmp_signed(">", n, i64(0)), loop, end)
    b = ir.IRBuilder(loop)
    i = b.phi(i64)
    i.add_incoming(i64(0), before)
    element: dict[Small, ir.Value] = {}
    for v in in_order(out):
        if v.op == "param":
            element[v] = b.load(b.gep(arrays[int(v.about)], [i]))
        elif v.op == "number":
            element[v] = f64(v.about)
        else:
            element[v] = RULES[v.op].element(b, *[element[x] for x in v.inputs])
    b.store(element[out], b.gep(result, [i]))
    following = b.add(i, i64(1))
    i.add_incoming(following, loop)
    b.cbranch(b.icmp_signed("<", following, n), loop, end)
    ir.IRBuilder(end).ret_void()
    return str(module)


def compiled(out: Small, arity: int) -> Callable[..., Any]:
    """The value as machine code: a function of arrays."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(opt=3)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(kernel_text(out, arity)), machine)
    engine.finalize_object()
    pointer = ctypes.POINTER(ctypes.c_double)
    native = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[pointer] * (arity + 1))(engine.get_function_address("run"))

    def run(*arrays: Any) -> Any:
        result = np.empty_like(arrays[0])
        native(result.size, *[x.ctypes.data_as(pointer) for x in (*arrays, result)])
        assert engine, "the code lives as long as its engine"
        return result

    return run


native_by_a = compiled(by_a, 2)
np.testing.assert_allclose(native_by_a(xs, ys), meaning(by_a, xs, ys), rtol=1e-12)  # compiled = reference
print([line.strip() for line in kernel_text(by_a, 2).splitlines() if "call double" in line])

# %% [markdown]
# That is all: a value, an op with its rules, an interpreter that judges, a gradient, a pass, a kernel, machine code,
# and two laws. The rest of the tour is what it takes to do the same for tensors of any type and size, for reductions,
# products, loops, recursion and effects, with memory that is planned and Python that is captured. The pieces keep
# their shape: `Small` is `ir/value.py`, `SmallOp` is `ir/op.py`, `meaning` is `ir/interpret.py`, `gradient` is
# `transforms/vjp.py`, `simpler` is `passes/simplify.py`, `kernel_text` is `lowering` and `codegen`, `compiled` is
# `runtime`, and the laws are `testing/laws.py`.

# %% [markdown]
# ## 1. A value is an op applied to values
#
# There is one kind of node. `p.ones(...)` is a value: the op `full` applied to nothing. `p.tanh(x)` is a value: the
# op `tanh` applied to `x`. Its type is known the moment it is made, because every op can infer it.

# %%
chapter("1. A value is an op applied to values")
x = p.ones(float32, (2, 3))
y = p.tanh(x) * 2.0
print(y, "=", y.op, "of", y.inputs)
assert y.op == p.Multiply()
assert y.inputs[0].op == p.Tanh()
assert str(y.type) == "f32[2, 3]"

# %% [markdown]
# So a mistake is found where it is made, not when the program runs. The error says what, with which values, on which
# line of *your* file, and what to try (`mycelia/errors.py`).

# %%
said = complaint(ShapeError, lambda: p.matmul(p.ones(float32, (2, 3)), p.ones(float32, (4, 5))))
print(said)
assert "tour.py" in said

# %% [markdown]
# Values are immutable and *interned*: writing an expression twice gives the same object. Common subexpressions are
# shared by construction, and a value that nothing refers to is simply not part of a program. Two passes that other
# compilers need do not exist here.

# %%
assert p.tanh(x) * 2.0 is y
assert p.exp(x + x) is p.exp(x + x)

# %% [markdown]
# ## 2. An op is declared once
#
# An op is one frozen dataclass. Its fields are its attributes; its methods are all that the system will ever know
# about it (`mycelia/ir/op.py` lists them). This is a whole new one. Its family, `Unary`, answers for shapes, batches
# and sharding; what is left to say is its meaning in NumPy (`oracle`), how *one element* is computed (`scalar`), and
# how a cotangent flows back (`vjp`).

# %%
chapter("2. An op is declared once")


class Softplus(Unary):
    """log(1 + exp(x)), without overflow."""

    domain, points = (-3.0, 3.0), (0.0, 80.0, -80.0)  # where samples are taken, and hard points

    @staticmethod
    def oracle(x: np.ndarray) -> np.ndarray:
        return np.logaddexp(x, 0).astype(x.dtype)

    def scalar(self, x):
        small = unary("exp", unary("neg", unary("abs", x)))
        return binary("max", x, const(0.0, x.dtype)) + unary("log1p", small)

    def vjp(self, ct, out, x):
        return (ct * p.sigmoid(x),)


# %% [markdown]
# The laws are written once, for all ops (`mycelia/testing/laws.py`): gradient = finite differences, vmap = a loop,
# shards = the whole, compiled = reference, ... They find a new op by themselves. Here we ask for three of them by
# name. A class that forgot a rule would not even have imported.

# %%
obeys(Softplus, only=["execution_equals_reference", "gradient_equals_differences", "vmap_equals_a_loop"])


def forgetful() -> type:
    """An op that does not say how it is differentiated."""

    class Forgetful(Unary):
        kind, oracle = "exp", np.exp

    return Forgetful


said = complaint(TypeError, forgetful)
print(said)
assert "must define vjp" in said

# %% [markdown]
# ## 3. A function is a closed graph
#
# Parameters and results, nothing else. `Function.build` calls a Python function on fresh parameters and keeps what it
# computed. Being closed and interned, equal functions are equal programs: `==` decides.

# %%
chapter("3. A function is a closed graph")


def net(x: Value, w: Value) -> Value:
    """The smallest network: one layer, summed up."""
    return p.reduce_sum(p.tanh(p.matmul(x, w)), (0, 1))


loss = Function.build(net, f32(8, 16), f32(16, 4))
print(loss)
assert parse(show(loss)) == loss  # the text is the program

# %% [markdown]
# What does a function *mean*? Every op replaced by its NumPy reference. This interpreter is slow and obvious, and is
# the judge of everything that follows.

# %%
a, w = rng.normal(size=(8, 16)).astype("f"), rng.normal(size=(16, 4)).astype("f")
(meant,) = interpret(loss, a, w)
np.testing.assert_allclose(meant, np.tanh(a @ w).sum(), rtol=1e-5)

# %% [markdown]
# ## 4. Transforms: functions to functions
#
# Reverse mode walks the graph backwards and lets every op say how its cotangent flows (`transforms/vjp.py`: it knows
# no op by name). The result is one *joint* function: parameters and cotangents of results go in, results and
# cotangents of parameters come out. Because values are interned, what forward and backward have in common is there
# once: look how often `tanh` occurs.

# %%
chapter("4. Transforms: functions to functions")
joint = vjp(loss)
print(joint)
assert sum(v.op == p.Tanh() for v in joint.values()) == 1

one = np.float32(1)
_, _, dw = interpret(joint, a, w, one)
np.testing.assert_allclose(dw, a.T @ (1 - np.tanh(a @ w) ** 2), rtol=1e-4, atol=1e-5)

# %% [markdown]
# A training step compiles the joint function as it is. Where forward and backward run at different times (a compiled
# function called inside an eager one) or are different loops, `parted` parts it. What the backward part needs and
# cannot see is a *residual*; parameters and results are passed again, cheap things are computed again. Here one thing
# is stored, the result of `tanh`.

# %%
parts = parted(joint, params=2, results=1)
print(parts.backward)
assert len(parts.forward.results) == 2  # the loss, and what is stored
assert parts.residuals == (0, 1, 3)  # both parameters, and the stored value

# %% [markdown]
# A gradient is a function like any other, so it can be differentiated again. Forward mode and vectorisation are
# transforms of the same kind. `vmap` asks each op for itself with a leading axis: the matrix product of a batch is
# one contraction with a batch letter, not a loop.

# %%
cube = Function.build(lambda x: x * x * x, f32())
slope = value_and_grad(cube)
curvature = value_and_grad(slope.with_results(slope.results[1:]))
assert [float(r) for r in interpret(curvature, np.float32(2))] == [12.0, 12.0]  # 3x², 6x
assert [float(r) for r in interpret(jvp(cube), np.float32(2), one)] == [8.0, 12.0]

many = vmap(loss, 5, (True, False))
print(many)
batch = rng.normal(size=(5, 8, 16)).astype("f")
np.testing.assert_allclose(interpret(many, batch, w)[0], [interpret(loss, b, w)[0] for b in batch], rtol=1e-5)

# %% [markdown]
# ## 5. Loops and recursion are ops, and differentiate
#
# `While` is an op that has functions among its attributes. How many turns it makes, nobody knows before it has run.
# This is Newton's method for a square root.

# %%
chapter("5. Loops and recursion are ops, and differentiate")
S = f32()
unfinished = Function.build(lambda a, x: p.greater(p.abs(x * x - a), p.full(1e-3, float32, ())), S, S)
closer = Function.build(lambda a, x: (x + a / x) * 0.5, S, S)
root = Function.build(lambda a: p.While(unfinished, closer, constants=1)(a, a)[0], S)

# %% [markdown]
# Its gradient: the forward loop also leaves a *sequence* of residuals, one element for every turn (`seq<f32[]>`
# below), and the backward part is a counted `scan` over that sequence in reverse. `scan` and `while` are ops again,
# with rules again: the set is closed, and second derivatives need nothing new.

# %%
slope = value_and_grad(root)
print(str(slope).split("\n\n")[-1])
value, derivative = interpret(slope, np.float32(2))
np.testing.assert_allclose([value, derivative], [2**0.5, 0.5 / 2**0.5], rtol=1e-3)
assert any(isinstance(v.op, p.Scan) and v.op.reverse for v in slope.values())

curvature = value_and_grad(slope.with_results(slope.results[1:]))
np.testing.assert_allclose(interpret(curvature, np.float32(2))[1], -0.25 * 2**-1.5, rtol=1e-2)

# %% [markdown]
# Recursion is functions that call one another by name. The residuals of one activation are boxed in a *frame*, which
# holds the frames of the calls it made; the backward function recurses over frames. x⁵ at 2 is 32, its slope 80.

# %%
power = p.NamedCall("power", (S,))
finished = Function.build(lambda x, n: p.ones(float32, ()), S, S)
deeper = Function.build(lambda x, n: x * power(x, n - 1.0)[0], S, S)
body = Function.build(lambda x, n: p.Cond(finished, deeper)(p.less(n, p.ones(float32, ())), x, n), S, S)
raised = Function.build(lambda x, n: p.Recurse((("power", body),), "power")(x, n), S, S)
slope_of_power = value_and_grad(raised, (True, False))
assert [float(r) for r in interpret(slope_of_power, np.float32(2), np.float32(5))] == [32.0, 80.0]

# %% [markdown]
# `vmap` of a loop goes on while *any* example goes on, and holds those still that have finished. So it terminates
# where each single loop terminates.

# %%
np.testing.assert_allclose(interpret(vmap(root, 4), np.array([1, 2, 4, 9], "f"))[0], [1, 2**0.5, 2, 3], rtol=1e-3)

# %% [markdown]
# ## 6. Passes: the same function, with less to do
#
# A rewrite rule is a program with holes, written in the words of programs, above the function that gives the
# replacement. `rewrite` applies rules, innermost first, until none applies.

# %%
chapter("6. Passes: the same function, with less to do")


@rule(lambda x: p.log(p.exp(x)))
def log_of_exp(x: Value) -> Value:
    return x


wasteful = Function.build(lambda x: p.log(p.exp(x)) + x, f32(3))
assert rewrite(wasteful, [log_of_exp]) == Function.build(lambda x: x + x, f32(3))

# %% [markdown]
# That one is not in the compiler: it changes what happens on overflow. The passes are a list in
# `passes/__init__.py`: inline calls, expand ops that are defined by others, fold numbers, simplify by identities that
# never change a result, reduce large tensors to few numbers in two rounds, and let a library add the bias.

# %%
plain = Function.build(lambda x: p.reshape(p.reshape(x * 1.0, (6,)), (3, 2)) / 4.0, f32(2, 3))
options = session_options()  # this machine, its threads, which passes: decided once, and passed down
print(optimise(plain, options))
assert optimise(plain, options) == Function.build(lambda x: p.reshape(x, (3, 2)) * 0.25, f32(2, 3))

# %% [markdown]
# ## 7. Lowering: from values to kernels
#
# Every value is one of four things to the lowering (`lowering/values.py`): something *stored* (a parameter, a
# constant), an *expression* (the op has `element`: how one element comes from elements of the inputs), a *reduction*,
# or a *step* of its own (a library call, control flow).
#
# Some values become *anchors*: results, reductions, operands of steps, and what several readers would otherwise
# compute again at a price. Everything between anchors is computed where it is read: fusion is substitution of
# expressions. Anchors over the same elements are *grouped*, and a group is a kernel. Softmax has two reductions and a
# result; it becomes one kernel with three sweeps over each row.

# %%
chapter("7. Lowering: from values to kernels")


def softmax(x: Value) -> Value:
    """The exponentials of each row as shares of their sum."""
    e = p.exp(x - p.reduce_max(x, (1,), keepdims=True))
    return e / p.reduce_sum(e, (1,), keepdims=True)


def steps(program: Program) -> list[str]:
    """The steps of a program as text."""
    shown = {Launch: lambda s: str(s.kernel), Invoke: lambda s: str(s.call)}
    return [shown[type(s)](s) for s in program.block.steps]


shares = Function.build(softmax, f32(64, 100))
program = lower(optimise(shares, options), {}, options)
print(*steps(program), sep="\n")
(launch,) = program.block.steps
assert len(launch.kernel.sweeps) == 3
assert len(launch.kernel.scratch) == 1  # the exponentials of one row, kept aside between sweeps

# %% [markdown]
# The gradient of our network: the product is too small for a library call and becomes loops; the sum of `tanh` and
# the cotangent that flows through it share one kernel; `tanh` itself is in no memory.

# %%
program = lower(optimise(joint, options), {}, options)
print(*steps(program), sep="\n")
assert len(program.block.steps) == 4
assert all(isinstance(s, Launch) for s in program.block.steps)

# %% [markdown]
# A view (reshape, transpose, slice, broadcast) is a change of index, and an index is a sum: `(4*i + j) // 4` is `i`
# where `j < 4`. Views therefore cost nothing, also in front of a library: this transposed slice goes to oneDNN as an
# offset and strides of the very parameter. Nothing is copied.

# %%
viewed = Function.build(lambda x, y: p.matmul(p.transpose(p.slice_(x, (8, 0), (40, 64))), y), f32(64, 64), f32(32, 64))
(product,) = lower(optimise(viewed, options), {}, options).block.steps
print(product.call.lhs, "from element", product.inputs[0].offset)
assert isinstance(product, Invoke)
assert product.call.lhs.strides == (1, 64)
assert product.inputs[0].offset == 8 * 64

# %% [markdown]
# ## 8. Memory: one arena
#
# Inputs, outputs and constants have slots in a table of pointers. Everything that lives only during the call has a
# place in one arena, and what is never alive together shares room. A chain of matrix products needs two places,
# however long it is.

# %%
chapter("8. Memory: one arena")


def chain(x: Value, w: Value) -> Value:
    """Six products, one after the other."""
    for _ in range(6):
        x = p.matmul(x, w)
    return x


unit = layout(lower(optimise(Function.build(chain, f32(16, 16), f32(16, 16)), options), {}, options), options)
print("arena:", unit.plan.arena, "bytes")
assert unit.plan.arena == 2 * 16 * 16 * 4

# %% [markdown]
# A *donated* parameter gives its memory to a result: so a weight is updated where it lies. `lower` is told which
# result may take over which parameter.

# %%
update = Function.build(lambda w, g: w - g * 0.1, f32(1000), f32(1000))
program = lower(optimise(update, options), {0: 0}, options)
print(*steps(program), sep="\n")
assert program.outputs[0] is program.inputs[0]  # what is written as b3 lies in the memory of in1
assert len(program.block.steps) == 1  # computed in place: no copy

# %% [markdown]
# ## 9. LLVM
#
# Code generation knows loops and nothing of the graph. It writes explicit vectors, as wide as LLVM says this machine
# has them, with our own `exp`, `tanh`, `erf`, ... (`codegen/vecmath`). Each kernel is a module of its own, named by
# the hash of its structure, so equal kernels of different programs are compiled once, ever. The *driver* is one more
# module: a function of the table that runs the steps in order, its loops and branches and recursion included.

# %%
chapter("9. LLVM")
unit = layout(lower(optimise(shares, options), {}, options), options)
driver, kernel = emit_program(unit, options, "run").modules
vector = f"<{options.target.vector_bytes // 4} x float>"
print("vectors:", vector)
print(*[line for line in driver.splitlines() if "kernel." in line], sep="\n")
assert 'define i32 @"run"(ptr' in driver
assert vector in kernel

# %% [markdown]
# ## 10. Compile and call
#
# `runtime/stages.py` is the whole compiler on one screen: optimise, lower, lay out, emit, link. Modules are
# compiled by worker processes, kept on disk under their hash, and linked. The result is called with arrays, and a
# call from Python is one native call: a counter shows it.

# %%
chapter("10. Compile and call")
native = compile(joint, {}, options)
before = Calls.count
results = native(a, w, np.ones((), "f"))
print(Calls.count - before, "native call; the loss is", results[0])
assert Calls.count == before + 1
for got, want in zip(results, interpret(joint, a, w, one), strict=True):
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)

# %% [markdown]
# Loops and recursion are inside that one call too, with their residuals on a heap of the program's own.

# %%
np.testing.assert_allclose(compile(slope, {}, options)(np.array(2, "f")), [2**0.5, 0.5 / 2**0.5], rtol=1e-3)
depth = np.array(10_000, "f")
value, derivative = compile(slope_of_power, {}, options)(np.array(1, "f"), depth)
assert (value, derivative) == (1, 10_000)  # a recursion ten thousand calls deep

# %% [markdown]
# ## 11. Eager: the same rules, on a tape
#
# Without `jit` every op runs at once: on small arrays by its NumPy reference, on large ones by a compiled kernel.
# While a gradient is taken, ops are recorded on a tape. To go back, the rule of the op, *the one of chapter 2*, is
# run on symbols once for each set of types, and written out as a little Python function that calls NumPy.

# %%
chapter("11. Eager: the same rules, on a tape")
plan = pullback_of(p.tanh, (f32(3),), needed=(True,), live=(True,))
print(plan.function)
assert len(plan.function.params) == 3  # cotangent, result, input

point = ms.Tensor(np.array([0.0, 1.0], "f"))
gradient = ms.grad(lambda x: ops.tanh(x).sum())(point)
np.testing.assert_allclose(gradient.asnumpy(), 1 - np.tanh([0.0, 1.0]) ** 2, rtol=1e-6)
twice = ms.grad(lambda x: ms.grad(lambda x: (x * x * x).sum())(x).sum())(point)
assert twice.tolist() == [0.0, 6.0]

# %% [markdown]
# ## 12. Capture: Python becomes a graph
#
# `jit` interprets the syntax of a function, on a store of its own: nothing outside changes while it does. Where a
# tensor decides, both ways become part of the graph; where Python decides, what Python would do is done, and only
# that is written down. What is not known to be exact is left to Python itself. So this loop over a tensor is the
# `While` of chapter 5:

# %%
chapter("12. Capture: Python becomes a graph")


def newton(a):
    """The square root of `a`."""
    x = a
    while ops.abs(x * x - a) > 1e-3:
        x = (x + a / x) * 0.5
    return x


captured = capture(CallRoot(newton, (ms.Tensor(2.0, ms.float32),), {}), frozenset()).ending
print(str(captured.function).split("\n\n")[-1])
assert any(isinstance(v.op, p.While) for v in captured.function.values())
value, derivative = ms.value_and_grad(ms.jit(newton))(ms.Tensor(2.0, ms.float32))
np.testing.assert_allclose([value.item(), derivative.item()], [2**0.5, 0.5 / 2**0.5], rtol=1e-3)

# %% [markdown]
# Everything that was read from outside is guarded: when it has changed, the function is captured again.

# %%


class Scaled(nn.Cell):
    """Something with an attribute."""

    def __init__(self):
        super().__init__()
        self.k = 2

    def construct(self, x):
        return x * self.k


scaled = Scaled()
fast = ms.jit(scaled)
assert fast(point).tolist() == [0.0, 2.0]
scaled.k = 5
assert fast(point).tolist() == [0.0, 5.0]

# %% [markdown]
# What cannot be in a program, such as a call of NumPy on the numbers, is left to Python, with the same values and
# gradients; `explain()` says where, and `fallback=False` makes it an error.

# %%


@ms.jit
def mixed(x):
    """Half of it on tensors, half of it on arrays."""
    return (x * x).sum() + ms.Tensor(np.tanh(x.asnumpy())).sum()


assert ms.grad(mixed)(ms.Tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
print(mixed.explain())
assert "Python" in mixed.explain()

# %% [markdown]
# A print, a check or a call of a Python function (`ops.pyfunc`) is no reason to leave the program. Each is an *effect*
# of the function that it stands in: it happens exactly once, in order, whether or not somebody reads what it gives; in
# branches, in loops, in gradients, and for one example of a `vmap` after the other.

# %%


@ms.jit
def halved(x):
    """As often as it must be."""
    while x.sum() > 1.0:
        print("now", x)
        x = x * 0.5
    assert x.sum() > 0.0, f"the sum is {x.sum()}"
    return x


slope = ms.grad(lambda x: halved(x).sum())(ms.Tensor([1.0, 2.0]))
assert slope.tolist() == [0.25, 0.25]
assert "one native call" in halved.explain()

# %% [markdown]
# ## 13. A training step is one native call
#
# Now everything at once. `value_and_grad` inside a captured function is the transform of chapter 4; the optimizer is
# arithmetic; parameters, moments and the step counter are values that go in and come out, in donated memory. Forward,
# loss, backward and update are one function, one program, one call.

# %%
chapter("13. A training step is one native call")
ms.set_seed(0)
network = nn.SequentialCell(nn.Dense(8, 16), nn.Tanh(), nn.Dense(16, 3))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(network.trainable_params(), learning_rate=0.05)
grad_fn = ms.value_and_grad(lambda x, y: loss_fn(network(x), y), None, optimizer.parameters)


@ms.jit
def train_step(x, y):
    """One step, and the loss before it."""
    loss, gradients = grad_fn(x, y)
    optimizer(gradients)
    return loss


data = rng.normal(size=(32, 8)).astype("f")
labels = ms.Tensor(np.argmax(data[:, :3], axis=1).astype("i4"))
data = ms.Tensor(data)
first = train_step(data, labels).item()
before = Calls.count
for _ in range(50):
    last = train_step(data, labels).item()
print(f"loss {first:.3f} -> {last:.3f} in 50 steps and {Calls.count - before} native calls")
print(train_step.explain().splitlines()[1][:120], "...")
assert Calls.count - before == 50
assert last < 0.2 * first

# %% [markdown]
# That is the heart. Where to go on: `mycelia/runtime/stages.py` lines up the compiler; `mycelia/ir/op.py` says what
# an op must answer; `docs/design/` says why it is so; `examples/digits.py` trains a network on real data.
