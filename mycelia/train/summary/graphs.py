"""A network as the graph that TensorBoard draws: what was compiled, or, before that, its cells."""

from __future__ import annotations

from typing import Any

from mycelia.api.jit import Jitted
from mycelia.errors import CallError
from mycelia.ir import Function, Param
from mycelia.nn import Cell
from mycelia.train.summary.events import GraphNode


def nodes_of(what: Any) -> list[GraphNode]:
    """The nodes of a jitted function or of a network.

    >>> from mycelia.nn import Dense
    >>> [(node.name, node.op) for node in nodes_of(Dense(2, 3))]
    [('Dense/weight', 'Parameter'), ('Dense/bias', 'Parameter'), ('Dense/Dense', 'Dense')]
    """
    if isinstance(what, Jitted):
        programs = [*what._interpreted.pieces(), *what._interpreted.whole()]
        if programs:
            return _values(max(programs, key=lambda way: way.number).program.ending.function)
        what = what.__captured__
    if not isinstance(what, Cell):
        raise CallError(f"a graph is drawn of a Cell or of a jitted function, not of a {type(what).__name__}")
    jitted = what.__dict__.get("_jitted")
    return nodes_of(jitted) if isinstance(jitted, Jitted) and jitted._interpreted.whole() else _cells(what)


def _cells(network: Cell) -> list[GraphNode]:
    """A node for each cell that has no others inside, which reads its parameters."""
    nodes = []
    for path, cell in network.cells_and_names():
        place = path.replace(".", "/") or type(network).__name__  # no box around everything: TensorBoard folds boxes
        own = [GraphNode(f"{place}/{name}", "Parameter", (), p.shape) for name, p in cell._params.items()]
        nodes += own
        if own or not cell.cells():
            nodes.append(GraphNode(f"{place}/{cell.cls_name}", cell.cls_name, tuple(node.name for node in own)))
    return nodes


def _values(function: Function) -> list[GraphNode]:
    """A node for each value of a program."""
    names, nodes = {}, []
    for number, value in enumerate(function.values()):
        op = type(value.op)
        names[value] = f"inputs/{number}" if op is Param else f"{op.__name__}_{number}"
        shape = getattr(value.type, "shape", None)
        known = shape is not None and all(isinstance(extent, int) for extent in shape)
        inputs = tuple(names[x] for x in value.inputs)
        nodes.append(GraphNode(names[value], op.__name__, inputs, shape if known else None))
    return nodes
