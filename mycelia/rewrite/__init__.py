"""Networks as lists of calls that can be changed: insert, replace and erase them, and make a network of the rest."""

from mycelia.rewrite.node import Node, NodeType
from mycelia.rewrite.scoped_value import ScopedValue, ValueType
from mycelia.rewrite.symbol_tree import SymbolTree

__all__ = ["Node", "NodeType", "ScopedValue", "SymbolTree", "ValueType"]
