"""Schemas: which columns a dataset has, with which element types and shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mycelia.dataset.arrays import as_dtype
from mycelia.errors import ArgumentError


class Schema:
    """Columns by name, with element type and shape; read from a JSON file or added one by one.

    >>> schema = Schema(); schema.add_column("x", "float32", [2])
    >>> schema.columns
    {'x': {'type': 'float32', 'shape': [2]}}
    """

    def __init__(self, schema_file: str | None = None) -> None:
        self.columns: dict[str, dict[str, Any]] = {}
        self.num_rows: int | None = None
        self.dataset_type = ""
        if schema_file is not None:
            try:
                told = json.loads(Path(schema_file).read_text(encoding="utf-8-sig"))
            except (OSError, ValueError, RecursionError) as error:
                raise ArgumentError(f"cannot read a schema: {error}", given={"file": schema_file}) from error
            if isinstance(told, dict) and isinstance(told.get("columns"), dict):  # as MindSpore does
                told["columns"] = dict(sorted(told["columns"].items()))
            self.from_json(told)

    def add_column(self, name: str, de_type: Any, shape: list[int] | None = None) -> None:
        """Add a column; without a shape it is taken from the data.

        >>> s = Schema(); s.add_column("x", "int8"); list(s.columns)
        ['x']
        """
        if name in self.columns:
            raise ArgumentError(f"the schema has a column {name!r} already")
        if shape is not None and any(not isinstance(s, int) or s < -1 for s in shape):
            raise ArgumentError(f"the shape of column {name!r} must be whole numbers, and is {shape!r}")
        kind = as_dtype(de_type)
        named = {"U": "string", "S": "bytes"}.get(kind.kind, kind.name)
        self.columns[name] = {"type": named, **({} if shape is None else {"shape": list(shape)})}

    def parse_columns(self, columns: list[dict[str, Any]] | dict[str, dict[str, Any]]) -> None:
        """Add columns from plain data: a list of dictionaries with names, or a dictionary by name.

        >>> s = Schema(); s.parse_columns([{"name": "x", "type": "int8"}]); list(s.columns)
        ['x']
        """
        listed = [{"name": n, **c} for n, c in columns.items()] if isinstance(columns, dict) else columns
        for column in listed:
            if "name" not in column or "type" not in column:
                raise ArgumentError(f"a column has a name and a type, and this is {column!r}")
            self.add_column(column["name"], column["type"], column.get("shape"))

    def from_json(self, json_obj: dict[str, Any]) -> None:
        """Take everything from plain data, as `to_json` gives it.

        >>> s = Schema(); s.from_json({"columns": {"x": {"type": "int8"}}, "numRows": 3}); s.num_rows
        3
        """
        if not isinstance(json_obj, dict) or "columns" not in json_obj:
            raise ArgumentError('a schema file has an entry "columns"')
        self.num_rows = json_obj.get("numRows")
        self.dataset_type = json_obj.get("datasetType", "")
        self.parse_columns(json_obj["columns"])

    def to_json(self) -> str:
        """As JSON text.

        >>> s = Schema(); s.add_column("x", "int8"); s.to_json()
        '{"columns": {"x": {"type": "int8"}}}'
        """
        told: dict[str, Any] = {"columns": self.columns}
        if self.num_rows is not None:
            told["numRows"] = self.num_rows
        if self.dataset_type:
            told["datasetType"] = self.dataset_type
        return json.dumps(told)

    def get_num_rows(self) -> int | None:
        """How many rows the schema speaks of, if it says.

        >>> Schema().get_num_rows() is None
        True
        """
        return self.num_rows


def as_schema(given: Schema | str | None) -> Schema | None:
    """A schema, or the one in a file.

    >>> as_schema(None) is None
    True
    """
    return Schema(given) if isinstance(given, str) else given
