"""Random pipelines, each beside a list of the rows it must give: the list is made by plain Python, step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

import mycelia.dataset as ds
from mycelia.dataset import random

Row = tuple[np.ndarray, ...]


def tripled(x: np.ndarray) -> np.ndarray:
    return x * 3 + 1


def doubled(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x, x * 10


def noisy(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x, random.current().integers(1 << 30, size=2)


def vector(x: np.ndarray) -> np.ndarray:
    return np.full(int(x) % 4 + 1, x)


def even(x: np.ndarray) -> bool:
    return int(np.sum(x)) % 2 == 0


def not_third(x: np.ndarray) -> bool:
    return int(np.sum(x)) % 3 != 0


def nothing(x: np.ndarray) -> bool:
    return False


def growing(info: ds.BatchInfo) -> int:
    return info.get_batch_num() % 3 + 1


def negated(xs: list[np.ndarray], info: ds.BatchInfo) -> list[np.ndarray]:
    return [-x - info.get_batch_num() for x in xs]


class Rows:
    """A source with random access."""

    def __init__(self, values: list[int]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> np.ndarray:
        return np.array(self.values[index])


class Counter:
    """An iterable source."""

    def __init__(self, values: list[int]) -> None:
        self.values = values

    def __call__(self):
        for v in self.values:
            yield np.array(v)


@dataclass(frozen=True)
class Program:
    """A pipeline, and what is known of its rows: all, in order; or only which numbers, or how many."""

    dataset: ds.Dataset
    rows: list[Row]
    text: str
    names: tuple[str, ...] = ("x",)
    ordered: bool = True
    complete: bool = True
    counted: bool = True
    gates: tuple[str, ...] = ()
    jagged: bool = False  # whether rows had different shapes somewhere below
    drawn: frozenset[str] = field(default_factory=frozenset)  # columns of random numbers

    @property
    def shapes(self) -> list[set[tuple[int, ...]]]:
        return [{r[c].shape for r in self.rows} for c in range(len(self.names))]

    @property
    def uniform(self) -> bool:
        return all(len(s) <= 1 for s in self.shapes) and (self.ordered or not self.jagged)

    def then(self, text: str, dataset: ds.Dataset, rows: list[Row], **known: object) -> Program:
        after = replace(self, dataset=dataset, rows=rows, text=f"{self.text}.{text}", **known)
        return replace(after, jagged=self.jagged or not after.uniform)


def grouped(rows: list[Row], sizes: Callable[[int], int], drop: bool) -> list[list[Row]]:
    groups, at = [], 0
    while at < len(rows):
        group = rows[at : at + sizes(len(groups))]
        if drop and len(group) < sizes(len(groups)):
            break
        groups.append(group)
        at += len(group)
    return groups


def stacked(group: list[Row]) -> Row:
    return tuple(np.stack(c) for c in zip(*group, strict=True))


def padded(group: list[Row]) -> Row:
    out = []
    for column in zip(*group, strict=True):
        shape = np.max([v.shape for v in column], axis=0).astype(int) if column[0].ndim else ()
        whole = np.zeros((len(column), *shape), column[0].dtype)
        for i, v in enumerate(column):
            whole[(i, *map(slice, v.shape))] = v
        out.append(whole)
    return tuple(out)


class Maker:
    """Draws programs; the same seed draws the same program, whatever the workers."""

    def __init__(self, seed: int, workers: int | None = None, processes: bool = False, record: str = "") -> None:
        self.rng = np.random.default_rng(seed)
        self.how = {"num_parallel_workers": workers, "python_multiprocessing": processes}
        self.record = record
        self.named = 0

    def pick(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    def choose(self, *options: object) -> object:
        return options[self.pick(0, len(options) - 1)]

    def source(self) -> Program:
        count = self.pick(1, 20)
        values = list(range(count))
        kind = self.choose("slices", "slices", "object", "generator", "padded", "record", "sampled", "shard", "mixed")
        rows = [(np.array(v),) for v in values]
        text = f"{kind}({count})"
        if kind == "generator":
            return Program(ds.GeneratorDataset(Counter(values), ["x"]), rows, text)
        if kind == "object":
            workers = self.how["num_parallel_workers"] or 1
            processes = bool(self.how["python_multiprocessing"])
            dataset = ds.GeneratorDataset(
                Rows(values), ["x"], shuffle=False, num_parallel_workers=workers, python_multiprocessing=processes
            )
            return Program(dataset, rows, text)
        if kind == "padded":
            return Program(ds.PaddedDataset([{"x": np.array(v)} for v in values]), rows, text)
        if kind == "record" and self.record:
            return Program(ds.MindDataset(self.record, shuffle=False), [(np.array(i),) for i in range(23)], "record")
        if kind == "mixed":
            return Program(ds.NumpySlicesDataset(values, ["x"]), rows, text, ordered=False)
        if kind == "shard":
            shards = self.pick(1, 5)
            shard = self.pick(0, shards - 1)
            dataset = ds.NumpySlicesDataset(values, ["x"], shuffle=False, num_shards=shards, shard_id=shard)
            return Program(dataset, rows[shard::shards], f"{text}[{shard}::{shards}]")
        if kind == "sampled":
            chosen = self.rng.integers(count, size=self.pick(1, 9)).tolist()
            start = self.pick(0, len(chosen))
            sampler = ds.SequentialSampler(start)
            sampler.add_child(self.choose(ds.SubsetSampler, ds.IterSampler)(chosen))
            dataset = ds.NumpySlicesDataset(values, ["x"], sampler=sampler)
            return Program(dataset, [rows[i] for i in chosen[start:]], f"{text}{chosen}[{start}:]")
        return Program(ds.NumpySlicesDataset(values, ["x"], shuffle=False), rows, text)

    def program(self, depth: int) -> Program:
        p = self.source()
        for _ in range(depth):
            step = self.choose(
                *(self.map, self.widen, self.draw, self.ragged, self.filter, self.batch, self.batch, self.sized),
                *(self.per_batch, self.pad, self.bucket, self.skip, self.take, self.repeat, self.endless, self.concat),
                *(self.zip, self.shuffle, self.flat_map, self.project, self.rename, self.split, self.sync, self.tail),
            )
            p = step(p) or p
        return p

    # steps: each gives the program after it, or None where it does not fit

    def map(self, p: Program) -> Program:
        rows = [(r[0] * 3 + 1, *r[1:]) for r in p.rows]
        return p.then("map", p.dataset.map(tripled, [p.names[0]], **self.how), rows)

    def widen(self, p: Program) -> Program | None:
        if len(p.names) > 3:
            return None
        self.named += 1
        new = f"w{self.named}"
        dataset = p.dataset.map(doubled, [p.names[0]], [p.names[0], new], **self.how)
        names = (p.names[0], new, *p.names[1:])
        rows = [(r[0], r[0] * 10, *r[1:]) for r in p.rows]
        return p.then("widen", dataset, rows, names=names)

    def draw(self, p: Program) -> Program | None:
        if len(p.names) > 3:
            return None
        self.named += 1
        new = f"r{self.named}"
        dataset = p.dataset.map(noisy, [p.names[0]], [p.names[0], new], **self.how)
        names = (p.names[0], new, *p.names[1:])
        rows = [(r[0], np.zeros(2, int), *r[1:]) for r in p.rows]
        return p.then("draw", dataset, rows, names=names, drawn=p.drawn | {new})

    def ragged(self, p: Program) -> Program | None:
        if p.shapes[0] != {()}:
            return None
        rows = [(np.full(int(r[0]) % 4 + 1, r[0]), *r[1:]) for r in p.rows]
        return p.then("ragged", p.dataset.map(vector, [p.names[0]], **self.how), rows)

    def filter(self, p: Program) -> Program:
        test = self.choose(even, even, not_third, nothing)
        rows = [r for r in p.rows if test(r[0])]
        lost = not p.ordered and (not p.complete or p.shapes[0] != {()})
        known = {"complete": p.complete and not lost, "counted": p.counted and not lost}
        return p.then(f"filter({test.__name__})", p.dataset.filter(test, [p.names[0]]), rows, **known)

    def batch(self, p: Program) -> Program | None:
        if not p.uniform:
            return None
        size, drop = self.pick(1, 6), bool(self.pick(0, 1))
        rows = [stacked(g) for g in grouped(p.rows, lambda n: size, drop)]
        dataset = p.dataset.batch(size, drop, num_parallel_workers=self.how["num_parallel_workers"])
        complete = p.complete and (p.ordered or not drop or len(p.rows) % size == 0)
        return p.then(f"batch({size}, {drop})", dataset, rows, complete=complete)

    def sized(self, p: Program) -> Program | None:
        if not p.uniform:
            return None
        rows = [stacked(g) for g in grouped(p.rows, lambda n: n % 3 + 1, False)]
        return p.then("batch(growing)", p.dataset.batch(growing), rows)

    def per_batch(self, p: Program) -> Program | None:
        if not p.uniform:
            return None
        groups = grouped(p.rows, lambda n: 3, False)
        rows = [stacked([(-r[0] - n, *r[1:]) for r in g]) for n, g in enumerate(groups)]
        dataset = p.dataset.batch(3, per_batch_map=negated, input_columns=[p.names[0]], output_columns=[p.names[0]])
        return p.then("batch(negated)", dataset, rows, complete=p.complete and p.ordered)

    def pad(self, p: Program) -> Program | None:
        if any(len({len(s) for s in shapes}) > 1 for shapes in p.shapes):
            return None
        size = self.pick(1, 5)
        rows = [padded(g) for g in grouped(p.rows, lambda n: size, False)]
        complete = p.complete and (p.ordered or p.uniform)
        return p.then(f"padded_batch({size})", p.dataset.padded_batch(size, pad_info={}), rows, complete=complete)

    def bucket(self, p: Program) -> Program | None:
        if any({len(s) for s in shapes} != {1} for shapes in p.shapes):
            return None
        held: list[list[Row]] = [[], [], []]
        rows = []
        for r in p.rows:
            b = 0 if len(r[0]) < 2 else 1 if len(r[0]) < 3 else 2
            held[b].append(r)
            if len(held[b]) == (3, 2, 2)[b]:
                rows.append(padded(held[b]))
                held[b] = []
        rows += [padded(h) for h in held if h]
        dataset = p.dataset.bucket_batch_by_length([p.names[0]], [2, 3], [3, 2, 2])
        sure = p.ordered or p.uniform
        return p.then("bucket", dataset, rows, complete=p.complete and sure, counted=p.counted and sure)

    def skip(self, p: Program) -> Program:
        n = self.pick(0, 5)
        complete = p.complete and (p.ordered or n == 0)
        return p.then(f"skip({n})", p.dataset.skip(n), p.rows[n:], complete=complete)

    def take(self, p: Program) -> Program:
        n = self.pick(1, 12)
        complete = p.complete and (p.ordered or n >= len(p.rows))
        return p.then(f"take({n})", p.dataset.take(n), p.rows[:n], complete=complete)

    def repeat(self, p: Program) -> Program:
        n = self.pick(1, 3)
        return p.then(f"repeat({n})", p.dataset.repeat(n), p.rows * n)

    def endless(self, p: Program) -> Program | None:
        if not p.rows or not p.counted:
            return None
        n, m = self.pick(0, 4), self.pick(1, 25)
        rows = (p.rows * (n + m))[n : n + m]
        return p.then(
            f"repeat().skip({n}).take({m})",
            p.dataset.repeat().skip(n).take(m),
            rows,
            complete=p.complete and p.ordered,
        )

    def concat(self, p: Program) -> Program:
        if self.pick(0, 1):
            return p.then("+itself", p.dataset + p.dataset, p.rows * 2)
        q = self.source()
        for name in p.names[1:]:
            q = self.widen(q) or q
            q = q.then("name", q.dataset.rename(q.names[1], name), q.rows, names=("x", name))
            q = q.then("only", q.dataset.project(["x"]), [r[:1] for r in q.rows], names=("x",))
        if p.names != ("x",) or (p.rows and p.shapes[0] != {()}):
            return self.take(p)
        known = {k: getattr(p, k) and getattr(q, k) for k in ("ordered", "complete", "counted")}
        return p.then(f"+({q.text})", p.dataset + q.dataset, p.rows + q.rows, **known)

    def zip(self, p: Program) -> Program | None:
        if len(p.names) > 3:
            return None
        self.named += 1
        q = self.source()
        new = f"z{self.named}"
        dataset = ds.zip((p.dataset, q.dataset.rename("x", new)))
        even_sided = len(p.rows) == len(q.rows)
        known = {
            "ordered": p.ordered and q.ordered,
            "complete": p.complete and q.complete and ((p.ordered and q.ordered) or even_sided),
            "counted": p.counted and q.counted,
        }
        rows = [(*a, *b) for a, b in zip(p.rows, q.rows, strict=False)]
        return p.then(f"zip({q.text})", dataset, rows, names=(*p.names, new), **known)

    def shuffle(self, p: Program) -> Program:
        n = self.pick(1, 12)
        return p.then(f"shuffle({n})", p.dataset.shuffle(n), p.rows, ordered=p.ordered and n == 1)

    def flat_map(self, p: Program) -> Program | None:
        if p.gates or not p.ordered or not p.rows or len(p.names) > 1 or len(p.rows) > 30:
            return None

        def spread(row: list[np.ndarray]) -> ds.Dataset:
            total = int(np.sum(row[0]))
            return ds.NumpySlicesDataset([total, -total], ["x"], shuffle=False)

        rows = [(np.array(s * int(np.sum(r[0]))),) for r in p.rows for s in (1, -1)]
        return p.then("flat_map", p.dataset.flat_map(spread), rows)

    def project(self, p: Program) -> Program:
        kept = [0, *sorted(self.rng.permutation(range(1, len(p.names)))[: self.pick(0, 2)].tolist())]
        names = tuple(p.names[i] for i in kept)
        return p.then(
            f"project{kept}", p.dataset.project(names), [tuple(r[i] for i in kept) for r in p.rows], names=names
        )

    def rename(self, p: Program) -> Program | None:
        if len(p.names) < 2 or p.names[1] in p.drawn:
            return None
        self.named += 1
        names = (p.names[0], f"n{self.named}", *p.names[2:])
        return p.then("rename", p.dataset.rename(p.names[1], names[1]), p.rows, names=names)

    def split(self, p: Program) -> Program | None:
        if len(p.rows) < 2 or p.gates or not p.counted:
            return None
        cut = self.pick(1, len(p.rows) - 1)
        parts = p.dataset.split([cut, len(p.rows) - cut], randomize=False)
        which = self.pick(0, 1)
        rows = p.rows[cut:] if which else p.rows[:cut]
        return p.then(f"split({cut})[{which}]", parts[which], rows, complete=p.complete and p.ordered)

    def tail(self, p: Program) -> Program:
        return p.then(
            "apply(take(7))", p.dataset.apply(lambda d: d.take(7)), p.rows[:7], complete=p.complete and p.ordered
        )

    def sync(self, p: Program) -> Program:
        self.named += 1
        gate = f"g{self.named}"
        return p.then("sync", p.dataset.sync_wait(gate, 10_000), p.rows, gates=(*p.gates, gate))
