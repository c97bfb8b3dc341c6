"""What a reader tells a plan while it runs, and vocabularies by the names that MindSpore had before 2.0."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mycelia.dataset.plan.syncing import SyncNode
from mycelia.dataset.run.pipeline import walk
from mycelia.dataset.run.reading import Names, Readable, names_of
from mycelia.dataset.text.modes import SentencePieceModel
from mycelia.dataset.text.sentencepiece import SentencePieceVocab
from mycelia.dataset.text.vocab import Vocab
from mycelia.errors import ArgumentError


class Steered(Readable):
    """A plan whose synchronisation points the reader opens."""

    def sync_update(self, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
        """Let more rows pass at a synchronisation point; `data` goes to its callback first.

        >>> import mycelia.dataset as ds
        >>> d = ds.NumpySlicesDataset([1, 2], ["x"]).sync_wait("go", callback=lambda data: print("got", data))
        >>> d.sync_update("go", data=3)
        got 3
        """
        gates = self.get_sync_notifiers()
        if condition_name not in gates:
            raise ArgumentError(
                f"there is no synchronisation point {condition_name!r}", given={"there are": list(gates)}
            )
        gates[condition_name](num_batch, data)

    def get_sync_notifiers(self) -> dict[str, Callable[..., None]]:
        """The synchronisation points by name.

        >>> import mycelia.dataset as ds
        >>> list(ds.NumpySlicesDataset([1], ["x"]).sync_wait("go").get_sync_notifiers())
        ['go']
        """
        return {n.condition: n.gate.update for n in walk(self.plan) if isinstance(n, SyncNode)}

    def disable_sync(self) -> None:
        """Let everything pass from now on.

        >>> import mycelia.dataset as ds
        >>> waiting = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).sync_wait("go")
        >>> waiting.disable_sync()
        >>> [row["x"].item() for row in waiting.create_dict_iterator(num_epochs=1)]
        [1, 2]
        """
        for node in walk(self.plan):
            if isinstance(node, SyncNode):
                node.gate.disable()

    def is_sync(self) -> bool:
        """Whether there is a synchronisation point.

        >>> import mycelia.dataset as ds
        >>> ds.NumpySlicesDataset([1], ["x"]).is_sync()
        False
        """
        return any(isinstance(n, SyncNode) for n in walk(self.plan))

    # vocabularies, by the names that MindSpore had before 2.0

    def build_vocab(
        self,
        columns: Names,
        freq_range: tuple[int | None, int | None] | None,
        top_k: int | None,
        special_tokens: Sequence[str] | None,
        special_first: bool,
    ) -> Vocab:
        """The words of some columns, as `text.Vocab.from_dataset` gives them; use that.

        >>> import mycelia.dataset as ds
        >>> words = ds.NumpySlicesDataset(["b", "a", "b"], ["word"])
        >>> with warnings.catch_warnings(action="ignore"):
        ...     words.build_vocab("word", None, None, ["<unk>"], True).vocab()
        {'<unk>': 0, 'b': 1, 'a': 2}
        """
        warnings.warn("Dataset.build_vocab is now text.Vocab.from_dataset", DeprecationWarning, stacklevel=2)
        return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)

    def build_sentencepiece_vocab(
        self,
        columns: Names,
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: Mapping[str, Any],
    ) -> SentencePieceVocab:
        """A model of the text in some columns, as `text.SentencePieceVocab.from_dataset` trains it; use that."""
        now = "Dataset.build_sentencepiece_vocab is now text.SentencePieceVocab.from_dataset"
        warnings.warn(now, DeprecationWarning, stacklevel=2)
        names = names_of(columns)
        return SentencePieceVocab.from_dataset(self, names, vocab_size, character_coverage, model_type, params)
