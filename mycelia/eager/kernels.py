"""Native kernels for eager mode: an op on large arrays is compiled.

Who computes is decided by the op and the types, never by how often it was called: NumPy and a kernel round differently,
and the same program must give the same bits every time. Where no number is rounded (elements that are moved or chosen,
integers) both give the same, and a kernel is compiled only for what comes again and again; but for products of whole
numbers, for which NumPy has plain loops: 1024 x 1024 int64 took it 25 times as long as tiles do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mycelia.ir import Function, Op, Param, Value, interpret
from mycelia.loops import Buffer
from mycelia.lowering.values import full_index, is_expression, is_view, op_of, reader_of
from mycelia.options import Options
from mycelia.primitives import Contract
from mycelia.primitives.convolution import Convolution
from mycelia.runtime.resizable import Resizable
from mycelia.runtime.warm import compile
from mycelia.types import Array

PATIENCE = 3  # calls by NumPy before a kernel that gives the same is worth compiling
PRODUCTS = (Contract, Convolution)
MOVING = frozenset(("load", "const", "select", "position"))  # what changes no number


def kernel_for(fn: Function, options: Callable[[], Options]) -> Callable[..., Sequence[Array]] | None:
    """`fn` on arrays, by machine code. None for what only looks at its operand in another way: NumPy does that without
    copying.
    """
    if all(isinstance(v.op, Param) or is_view(v) for v in fn.values()):
        return None
    patient = all(rounds_nothing(v) and not isinstance(v.op, PRODUCTS) for v in fn.values())
    return _after_a_while(fn, options) if patient else _at_once(fn, options)


def _at_once(fn: Function, options: Callable[[], Options]) -> Callable[..., Sequence[Array]]:
    kernel: Callable[..., Sequence[Array]] | None = None

    def run(*arrays: Array) -> Sequence[Array]:
        nonlocal kernel
        if kernel is None:
            kernel = compile(fn, {}, options())
        return kernel(*arrays)

    return run


def _after_a_while(fn: Function, options: Callable[[], Options]) -> Callable[..., Sequence[Array]]:
    calls = 0
    native = _at_once(fn, options)

    def run(*arrays: Array) -> Sequence[Array]:
        nonlocal calls
        calls += 1
        return interpret(fn, *arrays) if calls <= PATIENCE else native(*arrays)

    return run


def rounds_nothing(v: Value) -> bool:
    """Whether a value is the same to the last bit, whoever computes it.

    >>> from mycelia import primitives as p
    >>> from mycelia.types import TensorType, float32
    >>> x, y = Function.build(lambda x: p.flip(x, (0,)), TensorType(float32, (4,))).results[0], p.ones(float32, (4,))
    >>> rounds_nothing(x), rounds_nothing(x + y), rounds_nothing(p.equal(x, y))
    (True, False, False)
    """
    if not isinstance(v.op, Op):
        return True
    tensors = [t for t in (v.type, *(x.type for x in v.inputs)) if not t.differentiable]
    if len(tensors) == 1 + len(v.inputs):
        return True  # no floats
    if not is_expression(v) or any(t.dtype.is_complex for t in (v.tensor, *(x.tensor for x in v.inputs))):
        return False
    readers = [reader_of(Buffer.dense("probe", x.tensor)) for x in v.inputs]
    return all(e.kind in MOVING for e in op_of(v).element(full_index(v.shape)[1], *readers).walk())


def for_all_sizes(fn: Function, options: Callable[[], Options]) -> Callable[..., Sequence[Array]] | None:
    """A function of symbolic sizes on arrays, compiled now; None for what NumPy does without copying, and where some
    step needs numbers or relies on sizes.
    """
    if all(isinstance(v.op, Param) or is_view(v) for v in fn.values()):
        return None
    kernel = compile(fn, {}, options())
    if not isinstance(kernel, Resizable) or kernel.refused is not None or kernel.scope.guards:
        return None
    return kernel
