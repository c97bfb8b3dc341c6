"""Whatever a public function is given, what it raises is ours: no error of NumPy or Python comes through."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from mycelia import Tensor, nn, ops
from mycelia.errors import MyceliaError
from mycelia.ops.later import LATER

X = np.ones((2, 3), np.float32)
JUNK = [
    None,
    "text",
    {"a": 1},
    [],
    object(),
    -1,
    2.5,
    (0, 0),
    [[1], [2, 3]],
    np.array([1 + 2j]),
    Tensor(np.ones((4, 5))),
]
LAZY = {n: getattr(ops, n) for n in LATER if n not in ("prim_arg_register", "prim_attr_register")}
FUNCTIONS = {n: f for n, f in {**vars(ops), **LAZY}.items() if inspect.isfunction(f) and not n.startswith("_")}
CALLED = {
    "pyfunc",
    "print_",
    "vmap",
    "grad",
    "value_and_grad",
    "jvp",
    "vjp",
    "jacfwd",
    "jacrev",
    "constexpr",
}  # tested apart
METHODS = sorted(
    n for n, f in vars(Tensor).items() if inspect.isfunction(f) and not n.startswith("_") and hasattr(f, "__wrapped__")
)
OBJECTS = sorted(
    n for n, c in vars(ops).items() if isinstance(c, type) and issubclass(c, ops.Primitive) and n != "Primitive"
)


def calls(function: Callable[..., Any], given: Any) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Calls of a function with something wrong in each place."""
    parameters = list(inspect.signature(function).parameters.values())
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    for junk in JUNK:
        for i in range(len(needed)):
            yield [junk if j == i else given() for j in range(len(needed))], {}
        for p in parameters:
            if p.default is not p.empty:
                yield [given() for _ in needed], {p.name: junk}
    yield [given()] * 9, {}
    yield [], {}
    yield [given() for _ in needed], {"no_such_argument": 1}


def check(function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a call gives; None if it is a mistake, which is told with a place in this file."""
    told: MyceliaError
    try:
        return function(*args, **kwargs)
    except MyceliaError as error:
        told = error
    assert told.where is not None
    assert told.where.file == __file__
    return None


@pytest.mark.many("name", sorted(FUNCTIONS.keys() - CALLED))
@pytest.mark.filterwarnings("ignore")
def test_functions(name):
    for args, kwargs in calls(FUNCTIONS[name], lambda: Tensor(X)):
        check(FUNCTIONS[name], args, kwargs)


@pytest.mark.many("name", METHODS, pack=100)
@pytest.mark.filterwarnings("ignore")
def test_methods(name):
    for args, kwargs in calls(getattr(Tensor(X), name), lambda: Tensor(X)):
        check(getattr(Tensor(X), name), args, kwargs)


@pytest.mark.many("name", OBJECTS)
@pytest.mark.filterwarnings("ignore")
def test_operations_as_objects(name):
    for junk in JUNK:
        op = check(getattr(ops, name), [], {})
        if op is not None:
            check(op, [junk], {})
            check(op, [Tensor(X), junk], {})
        check(getattr(ops, name), [junk], {})


SMALL = {"Transformer": {"d_model": 8, "nhead": 2, "dim_feedforward": 16}}  # 44 million weights where nothing is said


@pytest.mark.many("name", [n for n in nn.__all__ if not inspect.ismodule(getattr(nn, n))], pack=10)
@pytest.mark.filterwarnings("ignore")
def test_layers(name):
    for args, kwargs in calls(getattr(nn, name), lambda: 4):
        layer = check(getattr(nn, name), args, kwargs if args else SMALL.get(name, {}) | kwargs)
        if isinstance(layer, nn.Cell):
            for x in (Tensor(X), "text", None):
                check(layer, [x], {})
