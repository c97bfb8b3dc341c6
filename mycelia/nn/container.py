"""Cells that hold a sequence of cells: one that runs them in turn, and one that leaves that to its owner."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from mycelia.nn.cell import Cell

S = TypeVar("S", bound="Sequence")


class Sequence(Cell):
    """The family: cells in order, by number, or by the names they were given."""

    def __getitem__(self: S, index: int | str | slice) -> Any:
        if isinstance(index, slice):
            return self._like(list(self._cells.items())[index])
        return self._cells[self._name(index)]

    def _like(self: S, items: Iterable[tuple[str, Cell]]) -> S:
        """The same kind of sequence, of some of the cells, whose parameters keep their names."""
        part = type(self)()
        part._auto_prefix = False
        for name, cell in items:
            part.insert_child_to_cell(name, cell)
        return part

    def _name(self, index: int | str) -> str:
        if isinstance(index, str):
            return index
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.cls_name} of {len(self)} cells has none at {index}")
        return list(self._cells)[index]

    def __setitem__(self, index: int | str, cell: Cell) -> None:
        name = self._name(index)
        self._become([(n, cell if n == name else c) for n, c in self._cells.items()])

    def __delitem__(self, index: int | str | slice) -> None:
        gone = set(list(self._cells)[index] if isinstance(index, slice) else [self._name(index)])
        left = [(name, cell) for name, cell in self._cells.items() if name not in gone]
        numbered = all(name.isdigit() for name in self._cells)
        self._become([(str(i), cell) for i, (_, cell) in enumerate(left)] if numbered else left)

    def _become(self, items: Iterable[tuple[str, Cell]]) -> None:
        """Hold these cells instead, under these names."""
        for name in list(self._cells):
            delattr(self, name)
        for name, cell in items:
            self.insert_child_to_cell(name, cell)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells.values())

    def append(self, cell: Cell) -> None:
        """Put a cell at the end.

        >>> cells = CellList()
        >>> cells.append(Cell())
        >>> len(cells)
        1
        """
        self.insert_child_to_cell(str(len(self)), cell)

    def insert(self, index: int, cell: Cell) -> None:
        """Put a cell before the one at `index`.

        >>> cells = CellList([Cell()])
        >>> cells.insert(0, Cell(flags={"first": True}))
        >>> cells[0].get_flags()
        {'first': True}
        """
        if not -len(self) <= index <= len(self):
            raise IndexError(f"{self.cls_name} of {len(self)} cells has no place {index}")
        cells = list(self)
        cells.insert(index, cell)
        self._become((str(number), each) for number, each in enumerate(cells))

    def extend(self: S, cells: Iterable[Cell]) -> S:
        """Put several cells at the end.

        >>> len(CellList().extend([Cell(), Cell()]))
        2
        """
        for cell in cells:
            self.append(cell)
        return self

    def __iadd__(self: S, cells: Iterable[Cell]) -> S:
        return self.extend(cells)


class SequentialCell(Sequence):
    """Cells that run in turn, each on what the one before it gave.

    >>> from mycelia.eager import Tensor
    >>> from mycelia.nn import ReLU, Softmax
    >>> SequentialCell(ReLU(), Softmax())(Tensor([-1.0, 0.0])).asnumpy()
    array([0.5, 0.5], dtype=float32)
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        given = args[0] if len(args) == 1 and isinstance(args[0], OrderedDict | dict | list | tuple) else args
        named = given.items() if isinstance(given, dict) else ((str(i), cell) for i, cell in enumerate(given))
        for name, cell in named:
            self.insert_child_to_cell(name, cell)

    def construct(self, input: Any) -> Any:
        for cell in self._cells.values():
            input = cell(input)
        return input


class CellList(Sequence):
    """A list of cells, whose parameters belong to the cell that holds the list.

    >>> from mycelia.nn import Dense
    >>> layers = CellList([Dense(2, 3), Dense(3, 1)])
    >>> [p.name for p in layers.trainable_params()]
    ['0.weight', '0.bias', '1.weight', '1.bias']
    """

    def __init__(self, *args: Any, auto_prefix: bool = True) -> None:
        super().__init__(auto_prefix)
        cells = args[0] if len(args) == 1 and isinstance(args[0], list | tuple | CellList) else args
        self.extend(cells)

    def __each__(self) -> tuple[Cell, ...]:
        """The cells that `vmap` gives one example each."""
        return tuple(self._cells.values())


class CellDict(Cell):
    """Cells by name, whose parameters belong to the cell that holds the dictionary.

    >>> from mycelia.nn import Dense, ReLU
    >>> cells = CellDict({"first": Dense(2, 3), "then": ReLU()})
    >>> list(cells), [p.name for p in cells.trainable_params()]
    (['first', 'then'], ['first.weight', 'first.bias'])
    """

    def __init__(self, *args: Any, auto_prefix: bool = True) -> None:
        super().__init__(auto_prefix)
        if args:
            self.update(*args)

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        self.insert_child_to_cell(key, cell)

    def __delitem__(self, key: str) -> None:
        if key not in self._cells:
            raise KeyError(key)
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: object) -> bool:
        return key in self._cells

    def keys(self) -> Any:
        """The names."""
        return OrderedDict(self._cells).keys()

    def values(self) -> Any:
        """The cells."""
        return self._cells.values()

    def items(self) -> Any:
        """Names and cells."""
        return self._cells.items()

    def clear(self) -> None:
        """Hold nothing."""
        for key in list(self._cells):
            delattr(self, key)

    def pop(self, key: str) -> Cell:
        """The cell of this name, which leaves."""
        cell = self[key]
        del self[key]
        return cell

    def update(self, cells: Any) -> None:
        """Hold these too: of a dictionary, or pairs of a name and a cell.

        >>> cells = CellDict()
        >>> cells.update([("a", Cell())])
        >>> len(cells), "a" in cells
        (1, True)
        """
        for key, cell in cells.items() if isinstance(cells, dict | CellDict) else cells:
            self[key] = cell
