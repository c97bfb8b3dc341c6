"""One statement of a network's program: what it calls, what it takes, and what it gives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from mycelia.errors import ArgumentError
from mycelia.nn import Cell
from mycelia.rewrite.scoped_value import ScopedValue, ValueType, as_value, of_expression
from mycelia.syntax import expression

if TYPE_CHECKING:
    from mycelia.rewrite.symbol_tree import SymbolTree


class NodeType(Enum):
    """Which kind of statement a node is."""

    Unknown = 0
    CallCell = 1
    CallPrimitive = 2
    CallFunction = 3
    CallMethod = 4
    Python = 5
    Input = 6
    Output = 7
    Tree = 8
    CellContainer = 10
    MathOps = 11
    ControlFlow = 12
    CallModule = 13


class Node:
    """A statement of a network's program. `SymbolTree.nodes` gives those that there are; `create_call_cell` and
    `create_call_function` make new ones, for `SymbolTree.insert` and `SymbolTree.replace`.
    """

    def __init__(
        self, name: str, kind: NodeType, statement: ast.AST, instance: Any = None, tree: SymbolTree | None = None
    ) -> None:
        self.name, self.kind, self.statement, self.instance, self.tree = name, kind, statement, instance, tree
        self.attributes: dict[str, Any] = {}
        self.held: dict[str, Any] = {}  # objects that its statement speaks of by names that it brings
        self.sub: SymbolTree | None = None

    # --------------------------------------------------------------------------------------------------------- new ones

    @staticmethod
    def create_call_cell(
        cell: Cell,
        targets: Sequence[ScopedValue | str],
        args: Sequence[ScopedValue] | None = None,
        kwargs: Mapping[str, ScopedValue] | None = None,
        name: str = "",
        is_sub_net: bool = False,
    ) -> Node:
        """A call of a cell, which becomes a part of the network that the node is put into.

        >>> from mycelia import nn
        >>> Node.create_call_cell(nn.ReLU(), ["x"], [ScopedValue.create_naming_value("x")], name="relu").get_name()
        'relu'
        """
        if not isinstance(cell, Cell):
            raise ArgumentError(f"create_call_cell takes a cell, not a {type(cell).__name__}")
        name = name or type(cell).__name__.lower()
        node = Node(name, NodeType.Tree if is_sub_net else NodeType.CallCell, ast.Pass(), cell)
        node.statement = node._call(
            ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load()), targets, args, kwargs
        )
        return node

    @staticmethod
    def create_call_function(
        function: Callable[..., Any],
        targets: Sequence[ScopedValue | str],
        args: Sequence[ScopedValue] | None = None,
        kwargs: Mapping[str, ScopedValue] | None = None,
    ) -> Node:
        """A call of a function.

        >>> Node.create_call_function(abs, ["x"], [ScopedValue.create_naming_value("x")]).get_node_type()
        <NodeType.CallFunction: 3>
        """
        if not callable(function) or isinstance(function, Cell):
            raise ArgumentError(f"create_call_function takes a function, not a {type(function).__name__}")
        name = getattr(function, "__name__", "function")
        node = Node(name, NodeType.CallFunction, ast.Pass(), function)
        node.held[f"{name}_called"] = function
        node.statement = node._call(ast.Name(f"{name}_called", ast.Load()), targets, args, kwargs)
        return node

    @staticmethod
    def create_input(param_name: str, default: ScopedValue | None = None) -> Node:
        """A further parameter of the network; `None` where the caller gives nothing, or the default.

        >>> Node.create_input("y").get_name()
        'input_y'
        """
        if not isinstance(param_name, str) or not param_name.isidentifier():
            raise ArgumentError(f"a parameter has a name, not {param_name!r}")
        node = Node(f"input_{param_name}", NodeType.Input, ast.arg(param_name))
        node.instance = ast.Constant(None) if default is None else node._expression(default)
        return node

    def _call(self, function: ast.expr, targets: Sequence[ScopedValue | str], args: Any, kwargs: Any) -> ast.Assign:
        """`targets = function(args)`."""
        if not isinstance(targets, list | tuple) or not targets:
            raise ArgumentError("targets is a list of names that the results get", given={"targets": targets})
        names: list[ast.expr] = [ast.Name(str(as_value(t).value), ast.Store()) for t in targets]
        for given in (*(args or ()), *(kwargs or {}).values()):
            if not isinstance(given, ScopedValue):
                raise ArgumentError(f"args and kwargs hold ScopedValues, not {given!r}")
        call = ast.Call(
            function,
            [self._expression(a) for a in args or ()],
            [ast.keyword(k, self._expression(v)) for k, v in (kwargs or {}).items()],
        )
        return ast.Assign(names if len(names) == 1 else [ast.Tuple(names, ast.Store())], call)

    def _expression(self, value: ScopedValue) -> ast.expr:
        """The expression of a value; objects that no program can write are held by the node."""
        if value.type is ValueType.NamingValue:
            name = ast.Name(value.scope or value.value, ast.Load())
            return ast.Attribute(name, value.value, ast.Load()) if value.scope else name
        if value.type is ValueType.TupleValue:
            return ast.Tuple([self._expression(v) for v in value.value], ast.Load())
        if value.type is ValueType.ListValue:
            return ast.List([self._expression(v) for v in value.value], ast.Load())
        if value.type is ValueType.DictValue:
            keys: list[ast.expr | None] = [ast.Constant(k) for k in value.value]
            return ast.Dict(keys, [self._expression(v) for v in value.value.values()])
        if value.type is ValueType.UnsupportedValue:
            return expression(value.value)
        if value.type is ValueType.CustomObjValue:
            name_ = f"{self.name}_object_{len(self.held)}"
            self.held[name_] = value.value
            return ast.Name(name_, ast.Load())
        return ast.Constant(value.value)

    # ---------------------------------------------------------------------------------------------------- what they are

    def get_name(self) -> str:
        """The name of the node, which no other one of its network has."""
        return self.name

    def get_node_type(self) -> NodeType:
        """Which kind of statement it is."""
        return self.kind

    def get_instance(self) -> Any:
        """What it calls: a cell, a primitive or a function; None for other statements."""
        return None if self.kind is NodeType.Input else self.instance

    def get_instance_type(self) -> Any:
        """The class of the cell or primitive that it calls, or the function itself."""
        instance = self.get_instance()
        return instance if self.kind is NodeType.CallFunction else type(instance)

    def get_symbol_tree(self) -> SymbolTree | None:
        """The network that it belongs to; None for one that was not inserted yet."""
        return self.tree

    def get_sub_tree(self) -> SymbolTree | None:
        """The program of the user's own cell that it calls; None for other nodes."""
        return self.sub

    def get_attributes(self) -> dict[str, Any]:
        """What the cell or primitive that it calls holds, and what was noted by `set_attribute`."""
        return {**vars(self.instance), **self.attributes} if hasattr(self.instance, "__dict__") else self.attributes

    def get_attribute(self, key: str) -> Any:
        """One of `get_attributes`; None where there is none."""
        return self.get_attributes().get(key)

    def set_attribute(self, key: str, value: Any) -> None:
        """Note something about the node; the network does not change."""
        self.attributes[key] = value

    # --------------------------------------------------------------------------------------------- what goes in and out

    @property
    def _value(self) -> ast.expr | None:
        return getattr(self.statement, "value", None)

    def _operands(self) -> list[tuple[Any, Any, ast.expr]]:
        """The expressions that are its arguments, and where they stand."""
        value = self._value
        if isinstance(value, ast.Call):
            return [(value.args, i, a) for i, a in enumerate(value.args)]
        if isinstance(value, ast.BinOp):
            return [(value, "left", value.left), (value, "right", value.right)]
        if isinstance(value, ast.List | ast.Tuple):
            return [(value.elts, i, e) for i, e in enumerate(value.elts)]
        if isinstance(self.statement, ast.If | ast.While):
            return [(self.statement, "test", self.statement.test)]
        return [] if value is None or self.kind is NodeType.Input else [(self.statement, "value", value)]

    def get_targets(self) -> list[ScopedValue]:
        """The names that its results get."""
        if isinstance(self.statement, ast.arg):
            return [ScopedValue.create_naming_value(self.statement.arg)]
        if isinstance(self.statement, ast.AugAssign):
            return [of_expression(self.statement.target)]
        return self._gives()[0]

    def _gives(self) -> list[list[ScopedValue]]:
        """The names of its results; a second time where they have two names."""
        if not isinstance(self.statement, ast.Assign):
            return [[*self.get_targets()] if isinstance(self.statement, ast.arg | ast.AugAssign) else []]
        return [
            [of_expression(e) for e in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
            for t in self.statement.targets
        ]

    def get_args(self) -> list[ScopedValue]:
        """Its arguments by position."""
        return [of_expression(e) for _, _, e in self._operands()]

    def get_kwargs(self) -> dict[str, ScopedValue]:
        """Its arguments by name."""
        call = self._value
        if not isinstance(call, ast.Call):
            return {}
        return {k.arg: of_expression(k.value) for k in call.keywords if k.arg is not None}

    def set_arg(self, index: int, arg: ScopedValue | str) -> None:
        """Give it another argument."""
        places = self._operands()
        if not -len(places) <= index < len(places):
            raise ArgumentError(f"{self.name} has {len(places)} arguments", given={"index": index})
        owner, key, _ = places[index]
        expression = self._expression(as_value(arg))
        if isinstance(key, int):
            owner[key] = expression
        else:
            setattr(owner, key, expression)

    def set_arg_by_node(self, arg_idx: int, src_node: Node, out_idx: int | None = None) -> None:
        """Give it a result of another node as an argument."""
        targets = src_node.get_targets()
        if not targets or (out_idx is None and len(targets) > 1) or not 0 <= (out_idx or 0) < len(targets):
            raise ArgumentError(f"{src_node.name} gives {len(targets)} results", given={"out_idx": out_idx})
        self.set_arg(arg_idx, targets[out_idx or 0])

    def _neighbours(self) -> list[Node]:
        return [] if self.tree is None else self.tree.beside(self)

    def get_arg_providers(self) -> dict[int, tuple[Node, int]]:
        """By argument: the node that gives it, and which of that node's results it is."""
        beside = self._neighbours()
        before = beside[: beside.index(self)] if self in beside else []
        found = {}
        for i, arg in enumerate([*self.get_args(), *self.get_kwargs().values()]):
            giver = next(((n, g.index(arg)) for n in reversed(before) for g in n._gives() if arg in g), None)
            if giver is not None:
                found[i] = giver
        return found

    def get_inputs(self) -> list[Node]:
        """The nodes whose results it takes."""
        return list(dict.fromkeys(n for n, _ in self.get_arg_providers().values()))

    def get_target_users(self, index: int = -1) -> Any:
        """By result: the nodes that take it, and as which argument; those of one result where an index is given."""
        found: dict[int, list[tuple[Node, int]]] = {}
        for other in self._neighbours():
            for i, (giver, which) in other.get_arg_providers().items():
                if giver is self:
                    found.setdefault(which, []).append((other, i))
        return found if index == -1 else found.get(index, [])

    def get_users(self) -> list[Node]:
        """The nodes that take its results."""
        return list(dict.fromkeys(n for users in self.get_target_users().values() for n, _ in users))
