"""Looking through a record file by category: which values an index field has, and pages of the rows that have one."""

from __future__ import annotations

from typing import Any

import numpy as np

from mycelia.checks import whole
from mycelia.errors import ArgumentError
from mycelia.mindrecord.reader import RecordFile


class MindPage:
    """Pages of the rows of one category; categories are the values of an index field.

    `num_consumer` threads would read ahead in MindSpore; it is checked only.

    >>> import tempfile
    >>> from mycelia.mindrecord.writer import FileWriter
    >>> place = tempfile.mkdtemp() + "/a"
    >>> w = FileWriter(place); _ = w.add_schema({"kind": {"type": "string"}, "x": {"type": "int32"}})
    >>> _ = w.add_index(["kind"]); w.write_raw_data([{"kind": k, "x": i} for i, k in enumerate("aba")]); w.commit()
    >>> page = MindPage(place)
    >>> page.category_field = "kind"
    >>> [int(r["x"]) for r in page.read_at_page_by_name("a", page=0, num_row=2)]
    [0, 2]
    """

    def __init__(self, file_name: str, num_consumer: int = 4) -> None:
        whole(self, "num_consumer", num_consumer, 1)
        self.file = RecordFile(file_name)
        self._field = next(iter(self.file.header.index_fields), "")

    @property
    def candidate_fields(self) -> list[str]:
        """The fields that rows can be searched by."""
        return list(self.file.header.index_fields)

    @property
    def category_field(self) -> str:
        """The field that makes the categories."""
        return self._field

    @category_field.setter
    def category_field(self, field: str) -> None:
        if field not in self.candidate_fields:
            raise ArgumentError(f"{field!r} is no index field", given={"there are": self.candidate_fields})
        self._field = field

    def _categories(self) -> tuple[Any, Any]:
        if not self._field:
            raise ArgumentError("the file has no index field", hint="FileWriter.add_index names them")
        return np.unique(self.file.values(self._field), return_counts=True)

    def read_category_info(self) -> dict[str, Any]:
        """The categories, and how many rows each has.

        >>> MindPage.read_category_info.__name__
        'read_category_info'
        """
        names, counts = self._categories()
        told = [{"id": i, "name": str(n), "count": int(c)} for i, (n, c) in enumerate(zip(names, counts, strict=True))]
        return {"key": self._field, "categories": told}

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict[str, Any]]:
        """A page of the rows of a category, by the number of the category.

        >>> MindPage.read_at_page_by_id.__name__
        'read_at_page_by_id'
        """
        names, _ = self._categories()
        if not 0 <= category_id < len(names):
            raise ArgumentError(f"category_id must be in [0, {len(names)}), and is {category_id}")
        return self._page(names[category_id], page, num_row)

    def read_at_page_by_name(self, category_name: str, page: int, num_row: int) -> list[dict[str, Any]]:
        """A page of the rows of a category, by its name.

        >>> MindPage.read_at_page_by_name.__name__
        'read_at_page_by_name'
        """
        names, _ = self._categories()
        found = [n for n in names if str(n) == str(category_name)]
        if not found:
            raise ArgumentError(f"there is no category {category_name!r}", given={"there are": [str(n) for n in names]})
        return self._page(found[0], page, num_row)

    def _page(self, value: Any, page: int, num_row: int) -> list[dict[str, Any]]:
        if page < 0 or num_row < 1:
            raise ArgumentError(f"page must not be negative and num_row be positive; they are {page} and {num_row}")
        rows = self.file.search(self._field, value)[page * num_row : (page + 1) * num_row]
        return [self.file[int(i)] for i in rows]
