"""The program of a network as a list of nodes, and the network that a changed list is."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mycelia.errors import ArgumentError
from mycelia.frozen import frozen
from mycelia.nn import Cell, CellList, SequentialCell
from mycelia.ops import Primitive
from mycelia.rewrite.flatten import flatten, title
from mycelia.rewrite.node import Node, NodeType
from mycelia.rewrite.scoped_value import ScopedValue, as_value
from mycelia.syntax import parsed

_FLOW = {ast.If: "if_node", ast.For: "for_node", ast.While: "while_node", ast.With: "with_node"}


@frozen
class Position:
    """A place in a program: before the statement that has this number in a block."""

    block: list[Node]
    index: int


class SymbolTree:
    """The program of a network, one call a statement: it can be read, changed, and made a network again.

    >>> from mycelia import nn, Tensor
    >>> class Net(nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.relu = nn.ReLU()
    ...     def construct(self, x):
    ...         return self.relu(x) + 1
    >>> tree = SymbolTree.create(Net())
    >>> [node.get_name() for node in tree.nodes()]
    ['input_x', 'relu', 'binop_add', 'return']
    >>> new = Node.create_call_cell(nn.Sigmoid(), ["y"], [ScopedValue.create_naming_value("x")], name="sigmoid")
    >>> tree.replace("relu", [new]).get_name()
    'sigmoid'
    >>> print(tree.get_code())
    class NetOpt(Net):
    <BLANKLINE>
        def construct(self, x):
            y = relu_var = self.sigmoid(x)
            add_var = relu_var + 1
            return add_var
    <BLANKLINE>
    >>> tree.get_network()(Tensor([0.0])).tolist()
    [1.5]
    """

    def __init__(self, network: Cell) -> None:
        if not isinstance(network, Cell):
            raise ArgumentError(f"a network is a Cell, not a {type(network).__name__}")
        self.network, self.function = network, _source(network)
        self.variables = {n.id for n in ast.walk(self.function) if isinstance(n, ast.Name)}
        self.names = set[str]()
        self.function.body = flatten(self.function.body, self.unique_name)
        given = self.function.args
        self.inputs = [self._input(a) for a in (*given.posonlyargs, *given.args[1:], *given.kwonlyargs)]
        self.inner: dict[int, list[list[Node]]] = {}
        self.block = self._nodes(self.function.body)
        self.file = "network_define.py"

    @classmethod
    def create(cls, network: Cell) -> SymbolTree:
        """The program of a network, whose source must be there to be read."""
        return cls(network)

    def _input(self, arg: ast.arg) -> Node:
        return Node(self._title(f"input_{arg.arg}"), NodeType.Input, arg, None, self)

    def _title(self, name: str) -> str:
        """A name for a node that no other one has."""
        found, count = name, 0
        while found in self.names:
            count += 1
            found = f"{name}_{count}"
        self.names.add(found)
        return found

    def unique_name(self, name: str = "output") -> str:
        """A name of a variable that the program does not have: the same one, or with a number behind it."""
        found, count = name, 0
        while found in self.variables:
            count += 1
            found = f"{name}_{count}"
        self.variables.add(found)
        return found

    def _nodes(self, body: list[ast.stmt]) -> list[Node]:
        return [self._node(s) for s in body if not _docstring(s)]

    def _node(self, statement: ast.stmt) -> Node:
        if type(statement) in _FLOW:
            node = Node(self._title(_FLOW[type(statement)]), NodeType.ControlFlow, statement, None, self)
            parts = (getattr(statement, "body", []), getattr(statement, "orelse", []))
            self.inner[id(node)] = [self._nodes(p) for p in parts]
            return node
        if isinstance(statement, ast.Return):
            return Node(self._title("return"), NodeType.Output, statement, None, self)
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call):
            return self._call(statement, value)
        if isinstance(value, ast.BinOp):
            return Node(self._title(f"binop_{title(value)}"), NodeType.MathOps, statement, None, self)
        if isinstance(value, ast.List | ast.Tuple | ast.Dict):
            return Node(self._title(title(value)), NodeType.CallMethod, statement, None, self)
        if isinstance(statement, ast.Assign):
            name = next((t.id for t in statement.targets if isinstance(t, ast.Name)), "assign")
            return Node(self._title(name), NodeType.CallMethod, statement, None, self)
        return Node(self._title(type(statement).__name__.lower()), NodeType.Python, statement, None, self)

    def _call(self, statement: ast.stmt, call: ast.Call) -> Node:
        called, kind = self._called(call.func), NodeType.CallMethod
        if isinstance(called, SequentialCell | CellList):
            kind = NodeType.CellContainer
        elif isinstance(called, Cell):
            ours = type(called).__module__.startswith("mycelia.")
            kind = NodeType.CallCell if ours else NodeType.Tree
        elif isinstance(called, Primitive):
            kind = NodeType.CallPrimitive
        elif callable(called) and not inspect.ismethod(called):
            kind = NodeType.CallFunction
        node = Node(self._title(title(call)), kind, statement, called, self)
        if kind is NodeType.Tree:
            node.sub = SymbolTree(called)
        return node

    def _called(self, function: ast.expr) -> Any:
        """What a call in the program calls; None where only a run tells."""
        names: list[str] = []
        while isinstance(function, ast.Attribute):
            names.append(function.attr)
            function = function.value
        if not isinstance(function, ast.Name):
            return None
        if function.id == "self":
            found: Any = self.network
        elif function.id in {a.arg for a in self.function.args.args} or function.id not in self._scope():
            return None
        else:
            found = self._scope()[function.id]
        for name in reversed(names):
            found = getattr(found, name, None)
        return found

    def _scope(self) -> dict[str, Any]:
        """What the names of the program mean where it was written."""
        function = inspect.unwrap(type(self.network).construct)
        free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        return {**vars(builtins), **function.__globals__, **{n: c.cell_contents for n, c in free if _filled(c)}}

    # ---------------------------------------------------------------------------------------------------------- reading

    def nodes(self, all_nodes: bool = False) -> Iterator[Node]:
        """The nodes in their order; with `all_nodes` also those inside of branches, loops and the user's own cells."""
        yield from self.inputs
        for node in self.block:
            yield node
            if all_nodes:
                yield from self._inside(node)

    def all_nodes(self, subtree_nodes: bool = True) -> Iterator[Node]:
        """All nodes, also inside of branches and loops; those of the user's own cells where they are asked for."""
        yield from self.inputs
        for node in self.block:
            yield node
            yield from self._inside(node, subtree_nodes)

    def _inside(self, node: Node, subtrees: bool = True) -> Iterator[Node]:
        for block in self.inner.get(id(node), []):
            for inner in block:
                yield inner
                yield from self._inside(inner, subtrees)
        if node.sub is not None and subtrees:
            yield from node.sub.nodes(all_nodes=True)

    def beside(self, node: Node) -> list[Node]:
        """The nodes that run one after the other with one: the inputs, and those of its block."""
        return [*self.inputs, *self._block_of(node)]

    def _blocks(self) -> Iterator[list[Node]]:
        yield self.block
        for parts in self.inner.values():
            yield from parts

    def _block_of(self, node: Node) -> list[Node]:
        for block in self._blocks():
            if any(n is node for n in block):
                return block
        return self.block

    def get_node(self, node_name: str) -> Node | None:
        """The node of a name; None where there is none."""
        return next((n for n in self.all_nodes(False) if n.name == node_name), None)

    def get_inputs(self) -> list[Node]:
        """The nodes of the network's parameters."""
        return list(self.inputs)

    def get_origin_network(self) -> Cell:
        """The network that the program was read from."""
        return self.network

    def _own(self, node: Node | str) -> Node:
        found = self.get_node(node) if isinstance(node, str) else node
        if not isinstance(found, Node) or found.tree is not self:
            raise ArgumentError(
                f"{node if isinstance(node, str) else found!r} is no node of this network",
                hint=f"there are {', '.join(n.name for n in self.all_nodes(False))}",
            )
        return found

    # --------------------------------------------------------------------------------------------------------- changing

    def before(self, node: Node | str) -> Position:
        """The place before a node, for `insert`."""
        return self._place(self._own(node), 0)

    def after(self, node: Node | str) -> Position:
        """The place after a node, for `insert`."""
        return self._place(self._own(node), 1)

    def _place(self, node: Node, behind: int) -> Position:
        block = self.inputs if any(n is node for n in self.inputs) else self._block_of(node)
        return Position(block, next(i for i, n in enumerate(block) if n is node) + behind)

    def insert(self, position: Position, node: Node) -> Node:
        """Put a new node into the program, at a place that `before` or `after` gave; it is returned."""
        if not isinstance(position, Position) or not isinstance(node, Node):
            raise ArgumentError("insert takes a place, which before and after give, and a node")
        if node.tree is not None:
            raise ArgumentError(f"the node {node.name} belongs to a network already", hint="make another one")
        if (node.kind is NodeType.Input) != (position.block is self.inputs):
            if node.kind is NodeType.Input:
                raise ArgumentError("inputs are put beside inputs", hint="tree.after(tree.get_inputs()[-1])")
            position = Position(self.block, 0)
        self._take(node)
        position.block.insert(position.index, node)
        return node

    def _take(self, node: Node) -> None:
        """Make a new node one of this network: its name, and what it calls, are the only ones of that name."""
        old, node.tree = node.name, self
        node.name = self._title(old)
        if node.kind in (NodeType.CallCell, NodeType.Tree, NodeType.CellContainer):
            while node.name != old and hasattr(self.network, node.name):
                node.name = self._title(old)
            if hasattr(self.network, node.name):
                node.name = self._title(f"{old}_new")
            node.statement.value.func.attr = node.name  # type: ignore[attr-defined]
        for name in list(node.held):
            new = self.unique_name(name)
            node.held[new] = node.held.pop(name)
            for part in ast.walk(node.statement):
                if isinstance(part, ast.Name) and part.id == name:
                    part.id = new
        if node.kind is NodeType.Tree:
            node.sub = SymbolTree(node.instance)
        self.variables |= {str(t.value) for t in node.get_targets()}

    def erase(self, node: Node | str) -> Node:
        """Take a node out of the program. Its results must be there without it, or be asked for by nobody."""
        gone = self._own(node)
        if gone.kind is NodeType.Input:
            raise ArgumentError(f"{gone.name} is a parameter, which stays")
        block = self._block_of(gone)
        index = next(i for i, n in enumerate(block) if n is gone)
        del block[index]
        lacking = self._lacking()
        if lacking:
            block.insert(index, gone)
            raise ArgumentError(
                f"{gone.name} gives {', '.join(sorted(lacking))}, which is asked for later",
                hint="give those nodes other arguments first, by set_arg, or replace the node",
            )
        gone.tree = None
        return gone

    def replace(self, old_node: Node | str, new_nodes: list[Node]) -> Node:
        """Put new nodes in the place of one, in their order; the last one is returned. Its results have the names that
        those of the old node had, besides their own.
        """
        gone = self._own(old_node)
        if not new_nodes:
            raise ArgumentError("replace takes at least one new node", hint="erase takes a node out")
        if not all(isinstance(n, Node) and n.tree is None and n.kind is not NodeType.Input for n in new_nodes):
            raise ArgumentError("new nodes are those that create_call_cell and create_call_function make, each once")
        given, had = new_nodes[-1].get_targets(), gone.get_targets()
        if gone.get_users() and len(given) != len(had):
            raise ArgumentError(f"{gone.name} gives {len(had)} results, and {new_nodes[-1].name} {len(given)}")
        place = self._place(gone, 0)
        del place.block[place.index]
        gone.tree = None
        for i, node in enumerate(new_nodes):
            self.insert(Position(place.block, place.index + i), node)
        if given != had and len(given) == len(had):
            new_nodes[-1].statement.targets += getattr(gone.statement, "targets", [])  # type: ignore[attr-defined]
        return new_nodes[-1]

    def set_output(self, index: int, return_value: str | ScopedValue) -> Node:
        """Let the network return something else."""
        out = next((n for n in reversed(self.block) if n.kind is NodeType.Output), None)
        if out is None:
            raise ArgumentError("the network returns nothing")
        out.set_arg(index, as_value(return_value))
        return out

    def _lacking(self) -> set[str]:
        """Names that the program reads and that nothing gives any more."""
        known = {a.arg for a in ast.walk(self.function.args) if isinstance(a, ast.arg)} | set(self._scope())
        known |= {str(t.value) for n in self.inputs for t in n.get_targets()}
        return _unknown(self._statements(self.block), known | {k for n in self.all_nodes(False) for k in n.held})

    # -------------------------------------------------------------------------------------------------- a network again

    def _statements(self, block: list[Node]) -> list[ast.stmt]:
        found = []
        for node in block:
            statement = node.statement
            if id(node) in self.inner:
                statement = copy.copy(statement)
                for part, inner in zip(("body", "orelse"), self.inner[id(node)], strict=True):
                    if hasattr(statement, part):
                        setattr(statement, part, self._statements(inner) or ([ast.Pass()] if part == "body" else []))
            found.append(statement)
        return found  # type: ignore[return-value]

    def _program(self) -> ast.FunctionDef:
        args = copy.deepcopy(self.function.args)
        known = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        for node in self.inputs:
            if isinstance(node.statement, ast.arg) and node.statement.arg not in known:
                args.args.append(node.statement)
                args.defaults.append(node.instance)
        return ast.FunctionDef("construct", args, self._statements(self.block) or [ast.Pass()], [], lineno=1)

    def get_code(self) -> str:
        """The program of the network, as it would be written."""
        name = type(self.network).__name__
        body = textwrap.indent(ast.unparse(ast.fix_missing_locations(self._program())), "    ")
        inner = [n.sub.get_code() for n in self.nodes() if n.sub is not None]
        return "\n\n".join([*inner, f"class {name}Opt({name}):\n\n{body}\n"])

    def print_node_tabulate(self, all_nodes: bool = False) -> None:
        """Print kinds, names, statements, arguments and users of the nodes, one a line."""
        rows = [("node type", "name", "codes", "arg providers", "target users")]
        for node in self.nodes(all_nodes):
            code = ast.unparse(ast.fix_missing_locations(node.statement)).splitlines()[0]
            given = [[i, n.name] for i, (n, _) in node.get_arg_providers().items()]
            rows.append((str(node.kind), node.name, code, str(given), str([n.name for n in node.get_users()])))
        widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
        for row in rows:
            print("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())

    dump = print_node_tabulate

    def get_network(self) -> Cell:
        """A network that runs the program: of a class made for it, with the cells and parameters of the first one."""
        name = f"{type(self.network).__name__}Opt"
        scope = self._scope()
        held = {k: v for n in self.all_nodes(False) for k, v in n.held.items()}
        text = ast.unparse(ast.fix_missing_locations(self._program()))
        file = f"<{name} rewritten {id(self)}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        made: dict[str, Any] = {}
        exec(compile(text, file, "exec"), {**scope, **held}, made)
        network = copy.copy(self.network)
        vars(network).update({k: copy.copy(v) for k, v in vars(network).items() if isinstance(v, dict)})
        network.__class__ = type(name, (type(self.network),), {"construct": made["construct"]})
        for node in self.all_nodes(False):
            attribute = getattr(getattr(node._value, "func", None), "attr", None)
            if node.sub is not None and attribute is not None:
                setattr(network, attribute, node.sub.get_network())
            elif isinstance(node.instance, Cell) and attribute == node.name and not hasattr(self.network, node.name):
                setattr(network, node.name, node.instance)
        return network

    def set_saved_file_name(self, file_name: str) -> None:
        """Say where `save_network_to_file` writes."""
        self.file = file_name if file_name.endswith(".py") else f"{file_name}.py"

    def get_saved_file_name(self) -> str:
        """Where `save_network_to_file` writes."""
        return self.file

    def save_network_to_file(self) -> None:
        """Write the program of the network into a file."""
        Path(self.file).write_text(self.get_code())


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # to know whether it holds something
    except ValueError:
        return False
    return True


def _docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _source(network: Cell) -> ast.FunctionDef:
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(type(network).construct)))
        found = parsed(text).body[0]
    except (OSError, TypeError, SyntaxError):
        raise ArgumentError(
            f"the source of {type(network).__name__}.construct cannot be read", hint="write the class in a file"
        ) from None
    if not isinstance(found, ast.FunctionDef):
        raise ArgumentError(f"{type(network).__name__}.construct is no function that was written by def")
    found.decorator_list = []
    return found


def _unknown(body: list[ast.stmt], known: set[str]) -> set[str]:
    """Names that statements read before anything in them gives them a value; both ways of a branch may give one."""
    lacking: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With):
            known |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        loads = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        own = {a.arg for a in ast.walk(statement) if isinstance(a, ast.arg)}
        lacking |= loads - known - own
        known |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return lacking
