"""What datasets of files with named columns share: their arguments."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from mycelia.dataset.parameters import document
from mycelia.dataset.plan.choosing import choose
from mycelia.dataset.plan.samplers import Sampler
from mycelia.dataset.sources.filedata import Files, Mode, listed
from mycelia.dataset.sources.memory import MappableDataset


class ColumnFiles(MappableDataset):
    """Rows of files with named columns. A subclass opens the files, and may know a better order of its own."""

    later: ClassVar[bool] = False  # whether files are looked for only when they are read

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        document(cls)

    def __init__(
        self,
        dataset_files: Files,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: Mode = None,
        sampler: Sampler | Iterable[int] | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        paths = listed(dataset_files, type(self).__name__, later=self.later)
        data = self.open(paths, columns_list)
        order = None if sampler is not None else self.mixed(data, shuffle)
        if order is None:
            chosen = choose(num_samples, sampler, shuffle, num_shards, shard_id, files=lambda: data.sizes)
        else:
            chosen = choose(num_samples, None, False, num_shards, shard_id)
            chosen.add_child(order)
        told = {"dataset_files": paths, "columns_list": columns_list}
        super().__init__(data, chosen, workers=num_parallel_workers, arguments=told)

    @abstractmethod
    def open(self, paths: Sequence[str], columns: Sequence[str] | None) -> Any:
        """What the files hold."""

    def mixed(self, data: Any, shuffle: Mode) -> Sampler | None:
        """The order in which all rows are best read when nobody chooses one; None for the usual ones."""
        return None
