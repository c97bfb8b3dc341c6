"""Operators that the user writes: a Python function, a nest of loops over elements, or a function of a shared library.

See docs/custom_ops.md. The names of this module are found in `ops`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from functools import cache, update_wrapper
from types import FunctionType
from typing import Any

import numpy as np

from mycelia.api import given
from mycelia.api.jit import jit
from mycelia.capture.source import SOURCELESS, definition
from mycelia.checks import choice as one_of
from mycelia.eager import Tensor, as_dtype
from mycelia.eager.dispatch import mode
from mycelia.eager.host import called
from mycelia.errors import ArgumentError, DTypeError
from mycelia.ops.arguments import sizes, tensor
from mycelia.ops.hybrid import HybridNest
from mycelia.ops.intrinsics import PYTHON
from mycelia.ops.library import function_of
from mycelia.primitives import Callee
from mycelia.types import TensorType

__all__ = ["Custom", "custom_info_register", "kernel", "ms_kernel"]

KINDS = ("pyfunc", "hybrid", "aot")


class HybridKernel:
    """A function in the language of loop nests; called on NumPy arrays, Python runs it."""

    ms_kernel_flag = True

    def __init__(self, fn: FunctionType, reg_info: Any, compile_attrs: dict[str, Any]) -> None:
        node = definition(fn.__code__)
        if node is None:
            raise ArgumentError(f"{fn.__name__} {SOURCELESS}", hint="write it in a file, or in a cell of a notebook")
        spec = node.args
        if not isinstance(node, ast.FunctionDef) or spec.vararg or spec.kwarg or spec.defaults or spec.kwonlyargs:
            raise ArgumentError(
                f"kernel takes a function of arrays, and {fn.__name__} is another",
                hint="write it with def, with a plain parameter for each array",
            )
        self.fn, self.reg_info, self.compile_attrs = fn, reg_info, compile_attrs
        self.body: Sequence[ast.stmt] = node.body
        self.params = tuple(a.arg for a in (*spec.posonlyargs, *spec.args))
        made = [n.func.id for n in ast.walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
        loops = any(isinstance(n, ast.For) for n in ast.walk(node))
        self.of_elements = not loops and "output_tensor" not in made
        update_wrapper(self, fn)

    def __call__(self, *arrays: Any) -> Any:
        """What Python computes with NumPy arrays: slow, and what the compiled operator means."""
        fn = self.fn
        run = FunctionType(fn.__code__, {**fn.__globals__, **PYTHON}, fn.__name__, None, fn.__closure__)
        if not self.of_elements:
            return run(*arrays)
        places = np.broadcast(*arrays)
        found = [run(*elements) for elements in places]
        if found and isinstance(found[0], tuple):
            return tuple(np.array(column).reshape(places.shape) for column in zip(*found, strict=True))
        return np.array(found).reshape(places.shape)

    def on_tensors(self, tensors: Sequence[Tensor]) -> Any:
        """What it computes with tensors, as ops."""
        if len(tensors) != len(self.params):
            raise ArgumentError(
                f"{self.fn.__name__} takes {len(self.params)} arrays, and got {len(tensors)}",
                hint=f"they are {', '.join(self.params)}",
            )
        nest = HybridNest(self.fn.__name__, dict(zip(self.params, tensors, strict=True)), self.of_elements)
        out = nest.run(self.body)
        if out is None:
            raise ArgumentError(f"{self.fn.__name__} returns nothing", hint="return the arrays that it has made")
        return out


def kernel(fn: Any = None, reg_info: Any = None, compile_attrs: dict[str, Any] | None = None) -> Any:
    """A decorator: a function of arrays, written as loops over their elements, or of elements alone.

    Called on NumPy arrays, Python runs it; `Custom(fn, func_type="hybrid")` compiles it, with its gradient.

    >>> @kernel
    ... def squares(x):
    ...     y = output_tensor(x.shape, x.dtype)
    ...     for i in range(x.shape[0]):
    ...         y[i] = x[i] * x[i]
    ...     return y
    >>> Custom(squares, func_type="hybrid")(Tensor([1.0, 3.0])).tolist()
    [1.0, 9.0]
    """
    attrs = {} if compile_attrs is None else compile_attrs
    if not isinstance(attrs, dict) or not all(isinstance(k, str) for k in attrs):
        raise ArgumentError("compile_attrs is a dictionary with texts as keys", given={"compile_attrs": compile_attrs})
    if reg_info is not None and not isinstance(reg_info, str | dict | tuple):
        raise ArgumentError(f"reg_info is a text, a dictionary or a tuple, not a {type(reg_info).__name__}")
    if fn is None:
        return lambda function: kernel(function, reg_info, attrs)
    if not isinstance(fn, FunctionType):
        raise ArgumentError(f"kernel takes a function, not a {type(fn).__name__}")
    return HybridKernel(fn, reg_info, attrs)


def ms_kernel(fn: Any = None, reg_info: Any = None, compile_attrs: dict[str, Any] | None = None) -> Any:
    """An old name of `kernel`.

    >>> ms_kernel(None) is not None
    True
    """
    return kernel(fn, reg_info, compile_attrs)


def custom_info_register(*reg_info: Any) -> Callable[[Any], Any]:
    """A decorator that tells `Custom` which element types a function takes: what `CustomRegOp` gives.

    >>> @custom_info_register({"op_name": "Custom"})
    ... def double(x):
    ...     return x * 2
    >>> double.reg_info[0]["op_name"]
    'Custom'
    """

    def told(func: Any) -> Any:
        func.reg_info = reg_info
        return func

    return told


class Custom:
    """An operator that the user writes; `func_type` says how.

    - "pyfunc": a function of NumPy arrays. `out_shape` and `out_dtype` are what it gives, or functions of the shapes
      and of the element types of the inputs; for several results, tuples of them.
    - "hybrid": a function that `kernel` decorates. It is compiled, its gradient too; shapes are found by themselves.
    - "aot": "file.so:function", a function of a shared library with the signature `int f(int nparam, void **params,
      int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)`; a file of C or C++ is compiled.

    `bprop(*inputs, out, dout)` gives the gradients of the inputs, where there are none by themselves, or better ones.

    >>> total = Custom(lambda x, y: x + y, lambda x, _: x, lambda x, _: x, "pyfunc")
    >>> total(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])).tolist()
    [4.0, 6.0]
    """

    def __init__(
        self,
        func: Any,
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "pyfunc",
        bprop: Callable[..., Any] | None = None,
        reg_info: Any = None,
    ) -> None:
        one_of("Custom", "func_type", func_type, KINDS)
        self.func, self.func_type, self.bprop = func, func_type, bprop
        self.out_shape, self.out_dtype = out_shape, out_dtype
        self.reg_info = _records(getattr(func, "reg_info", None) if reg_info is None else reg_info)
        self._own_effect = func_type == "pyfunc" and bprop is None
        if func_type == "hybrid":
            if not isinstance(func, HybridKernel):
                raise ArgumentError(
                    'a function for func_type "hybrid" is decorated with ops.kernel', given={"func": func}
                )
            self._forward: Callable[..., Any] = _nest(func, self.reg_info)
        else:
            self._forward = self._outside(func)
        self._compiled = jit(_straight(self._forward)) if func_type == "hybrid" else self._forward

    def _outside(self, func: Any) -> Callable[..., Any]:
        """A function that is called from the program."""
        missing = [n for n, v in (("out_shape", self.out_shape), ("out_dtype", self.out_dtype)) if v is None]
        if missing:
            raise ArgumentError(
                f'func_type "{self.func_type}" needs {" and ".join(missing)}',
                hint="give what the function returns, or a function: out_shape=lambda x: x, out_dtype=lambda x: x",
            )
        if self.func_type == "aot":
            return _call(function_of(func).giving, self.out_shape, self.out_dtype, self.reg_info, False)
        if not callable(func):
            raise ArgumentError(f"Custom takes a function, not {func!r}")
        return _call(_of_arrays(func), self.out_shape, self.out_dtype, self.reg_info, self._own_effect)

    def __call__(self, *inputs: Any) -> Any:
        tensors = tuple(tensor(x) for x in inputs)
        if self.bprop is not None:
            return given.with_gradient(self._forward if mode.capturing else self._compiled, self.bprop, tensors)
        return (self._forward if mode.capturing else self._compiled)(*tensors)

    @staticmethod
    def __interpreted__(machine: Any, op: Custom, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """A call inside a captured program."""
        forward = machine.whole(op, ("attr", "_forward"))
        if machine.whole(op, ("attr", "_own_effect")):
            if machine.tries:
                machine.refuse("a Python function is called, which has an effect each time it runs")
            machine.check_effects()
        bprop = machine.whole(op, ("attr", "bprop"))
        if bprop is None:
            return machine.call(forward, args, options)
        return machine.call(given.with_gradient, (forward, bprop, tuple(args)), options)

    def __repr__(self) -> str:
        named = self.func if isinstance(self.func, str) else getattr(self.func, "__name__", repr(self.func))
        return f"Custom({named}, func_type={self.func_type!r})"


def _straight(forward: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *inputs: forward(*inputs)


def _nest(func: HybridKernel, records: Sequence[Any]) -> Callable[..., Any]:
    def run(*inputs: Any) -> Any:
        tensors = [tensor(x) for x in inputs]
        _check_types(records, tensors)
        return func.on_tensors(tensors)

    return run


def _of_arrays(func: Callable[..., Any]) -> Callable[[tuple[TensorType, ...]], Callable[..., Any]]:
    """A function of arrays, given the types of its results: a number may stand for an array of one element."""

    def giving(types: tuple[TensorType, ...]) -> Callable[..., Any]:
        def run(*arrays: Any) -> Any:
            out = func(*arrays)
            found = out if len(types) > 1 else (out,)
            return tuple(np.reshape(x, t.shape) if np.ndim(x) == 0 and t.size == 1 else x
                         for x, t in zip(found, types, strict=True))  # fmt: skip

        run.__name__ = getattr(func, "__name__", "run")
        return run

    return giving


def _call(
    giving: Callable[[tuple[TensorType, ...]], Callable[..., Any]],
    shape: Any,
    dtype: Any,
    records: Sequence[Any],
    stateful: bool,
) -> Callable[..., Any]:
    callee_of = cache(lambda types: Callee(giving(types)))

    def run(*inputs: Any) -> Any:
        tensors = [tensor(x) for x in inputs]
        _check_types(records, tensors)
        shapes = shape(*[x.shape for x in tensors]) if callable(shape) else (1,) if shape == () else shape
        dtypes = dtype(*[x.dtype for x in tensors]) if callable(dtype) else dtype
        types, several = _outputs(shapes, dtypes)
        results = called(callee_of(types), types, tensors, stateful)
        return results if several else results[0]

    return run


def _outputs(shapes: Any, dtypes: Any) -> tuple[tuple[TensorType, ...], bool]:
    """The types of what a function gives, and whether there are several."""
    if not isinstance(dtypes, tuple | list):
        return (TensorType(as_dtype(dtypes), sizes(shapes)),), False
    if not isinstance(shapes, tuple | list) or len(shapes) != len(dtypes) or not dtypes:
        raise ArgumentError(
            "there is a shape for each element type, and at least one", given={"shapes": shapes, "dtypes": dtypes}
        )
    return tuple(TensorType(as_dtype(d), sizes(s)) for s, d in zip(shapes, dtypes, strict=True)), True


def _records(given: Any) -> list[dict[str, Any]]:
    """What is told of a function, for a processor."""
    every = given if isinstance(given, tuple | list) else [] if given is None else [given]
    told = [json.loads(r) if isinstance(r, str) else r for r in every]
    for r in told:
        if not isinstance(r, dict):
            raise ArgumentError(f"reg_info is what CustomRegOp gives, not a {type(r).__name__}")
    return [r for r in told if r.get("target") in (None, "CPU", "UnKnown")]


def _check_types(records: Sequence[dict[str, Any]], tensors: Sequence[Tensor]) -> None:
    """Complain of element types that the function is not told to take."""
    allowed = [
        tuple(pair[0] for pair in row[: len(r.get("inputs", ()))]) for r in records for row in r.get("dtype_format", ())
    ]
    if not allowed or any("dynamic" in (i.get("paramType") for i in r.get("inputs", ())) for r in records):
        return
    found = tuple(x.dtype.name for x in tensors)
    if not any(
        len(row) == len(found) and all(a in ("", b) for a, b in zip(row, found, strict=True)) for row in allowed
    ):
        raise DTypeError(
            f"this operator does not take {', '.join(found)}",
            given={"it takes": "; ".join(", ".join(n or "anything" for n in row) for row in dict.fromkeys(allowed))},
            hint="cast the inputs, or register more element types with CustomRegOp().dtype_format",
        )
