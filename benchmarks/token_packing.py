"""Documents into rows of 1,024 tokens: ours, and `map` of Hugging Face's datasets with packing in Python.

python benchmarks/token_packing.py [documents]     in an environment that has `datasets` and `tokenizers` too
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from itertools import chain

import datasets
import numpy as np
import tokenizers

import mycelia.dataset as ds
from mycelia.dataset import text

LENGTH = 1024


def corpus(count: int) -> list[str]:
    """Texts of 20 to 800 words out of 5,000."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), rng.integers(2, 9))) for _ in range(5000)])
    return [" ".join(words[rng.zipf(1.3, rng.integers(20, 800)) % 5000]) for _ in range(count)]


def trained(texts: list[str]) -> tokenizers.Tokenizer:
    """A byte-pair tokenizer of these texts."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="?"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=2000, special_tokens=["?", "<end>"], show_progress=False)
    made.train_from_iterator(texts[:500], trainer)
    return made


def grouped(batch: dict[str, list[list[int]]]) -> dict[str, list[list[int]]]:
    """The packing of Hugging Face's own examples (run_clm.py): documents joined, and cut."""
    joined = list(chain.from_iterable([*ids, 1] for ids in batch["ids"]))
    whole = len(joined) // LENGTH * LENGTH
    return {"ids": [joined[i : i + LENGTH] for i in range(0, whole, LENGTH)]}


def theirs(table: datasets.Dataset, tokenizer: tokenizers.Tokenizer | None) -> Iterable[np.ndarray]:
    """Their rows; without a tokenizer the documents are tokens already."""
    if tokenizer is not None:
        table = table.map(
            lambda batch: {"ids": [e.ids for e in tokenizer.encode_batch(batch["text"])]},
            batched=True, remove_columns=["text"], keep_in_memory=True, load_from_cache_file=False,
        )  # fmt: skip
    packed = table.map(
        grouped, batched=True, remove_columns=table.column_names, keep_in_memory=True, load_from_cache_file=False
    )
    return (row["ids"] for row in packed.with_format("numpy"))


def ours(table: datasets.Dataset, tokenizer: tokenizers.Tokenizer | None) -> Iterable[np.ndarray]:
    """Our rows, which know where documents begin too."""
    documents = ds.HubDataset(table, shuffle=False)
    if tokenizer is not None:
        documents = documents.map(text.HubTokenizer(tokenizer), ["text"], ["ids"])
    packed = documents.pack(LENGTH, "ids", end=1, drop_remainder=True)
    return (row["ids"] for row in packed.create_dict_iterator(num_epochs=1, output_numpy=True))


def rate(make: Callable[[], Iterable[np.ndarray]]) -> tuple[float, int]:
    """Tokens per second, the best of three, and the number of rows."""
    best, count = 0.0, 0
    for _ in range(3):
        begin = time.perf_counter()
        count = sum(1 for _ in make())
        best = max(best, count * LENGTH / (time.perf_counter() - begin))
    return best, count


if __name__ == "__main__":
    datasets.disable_progress_bars()
    texts = corpus(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
    tokenizer = trained(texts)
    raw = datasets.Dataset.from_dict({"text": texts})
    tokens = datasets.Dataset.from_dict({"ids": [e.ids for e in tokenizer.encode_batch(texts)]})
    for case, table, with_ in (("tokens to rows", tokens, None), ("text to rows", raw, tokenizer)):
        one, rows = rate(lambda table=table, with_=with_: theirs(table, with_))
        two, more = rate(lambda table=table, with_=with_: ours(table, with_))
        rates = {"theirs_per_s": round(one), "ours_per_s": round(two), "ratio": round(two / one, 2)}
        print(json.dumps({"case": case, "documents": len(texts), "rows": [rows, more], **rates}), flush=True)
