"""Built-in functions that iterate, on values of the interpreter."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from mycelia import primitives as p
from mycelia.capture.builtins import Builtins
from mycelia.capture.items import LONGEST
from mycelia.capture.machine import Items, distributes
from mycelia.capture.slots import MAPPINGS
from mycelia.capture.values import MISSING, HostNumber, Number, UserError, alternatives, is_plain
from mycelia.capture.world import is_tensor

CONTAINER_TYPES = (list, tuple)


NUMBERS = (int, float, bool, complex)


def summed(start: Any, *numbers: Any) -> Any:
    """Numbers together, as Python adds them.

    >>> summed(1, 2, 3.0)
    6.0
    """
    return sum(numbers, start)


class Iteration(Builtins):
    """`list(x)`, `zip(a, b)`, `any(x)`, `max(a, b)`."""

    def model_list(self, x: Any = ()) -> Any:
        return self.store.container(list, self.all_items(x))

    def model_tuple(self, x: Any = ()) -> Any:
        return self.all_items(x)

    def model_set(self, x: Any = ()) -> Any:
        return self.store.container(set, self.distinct(self.all_items(x)))

    def model_frozenset(self, x: Any = ()) -> Any:
        self.refuse("a frozenset is made")

    def distinct(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        """Constants as a set holds them, in its order."""
        given = tuple(map(self.plain, items))
        if not all(map(is_plain, given)):
            self.refuse("a set of values")
        return tuple(self.real(set, given))

    def model_dict(self, *args: Any, **named: Any) -> Any:
        out = self.store.container(dict, ())
        if args:
            self.update(out, args[0])
        for k, v in named.items():
            self.container_method(out, "__setitem__", (k, v), {})
        return out

    def update(self, out: Any, more: Any) -> None:
        more = self.settled(more)
        if type(more) in MAPPINGS:
            items = self.whole(more)
            pairs: Any = zip(items[::2], items[1::2], strict=True)
        elif self.is_quiet(more) or isinstance(more, Items):
            pairs = map(self.all_items, self.iterate(more))
        else:
            self.refuse("an object may be a mapping")
        for pair in pairs:
            if len(pair) != 2:
                self.refuse("a pair that is none")
            self.container_method(out, "__setitem__", (self.plain(pair[0]), pair[1]), {})

    @distributes
    def model_range(self, *args: Any) -> Any:
        if any(is_tensor(a) for a in args):
            return self.range_of_tensors(args)
        given = tuple(map(self.plain, args))
        if not all(map(is_plain, given)):
            self.refuse("a range of something else than numbers")
        return self.real(range, *given)

    def range_of_tensors(self, args: tuple[Any, ...]) -> Any:
        self.refuse("a range of tensors")

    def model_enumerate(self, x: Any, start: Any = 0) -> Any:
        first = self.plain(start)
        if type(first) is not int:
            self.refuse("items are numbered from something else than a whole number on")
        return Items(self, zip(itertools.count(first), self.iterate(x)))

    def model_zip(self, *args: Any, strict: Any = False) -> Any:
        return Items(self, self.zipped([self.iterate(a) for a in args], self.plain(strict)))

    def zipped(self, columns: list[Iterator[Any]], strict: Any) -> Iterator[Any]:
        try:
            yield from zip(*columns, strict=strict)
        except ValueError as error:  # one is shorter; what a column raises is no such error
            raise UserError(error) from None

    def model_reversed(self, x: Any) -> Any:
        if type(x) is list:
            return Items(self, self.of_list(x, len(self.whole(x)) - 1, -1))
        if type(x) not in (tuple, range, str):
            self.refuse("something is reversed")
        return Items(self, reversed(x))

    def model_map(self, fn: Any, *args: Any) -> Any:
        if not args:
            self.refuse("a function is mapped over nothing")
        rows = zip(*[self.iterate(a) for a in args], strict=False)
        return Items(self, (self.call(fn, row, {}) for row in rows))

    def model_filter(self, fn: Any, x: Any) -> Any:
        items = self.iterate(x)

        def kept() -> Iterator[Any]:
            for item in items:
                found = self.truth(item if fn is None else self.call(fn, (item,), {}))
                if not isinstance(found, bool):
                    self.refuse("a length depends on values")
                if found:
                    yield item

        return Items(self, kept())

    def model_iter(self, x: Any, *more: Any) -> Any:
        if more:
            self.refuse("iter is called with two arguments")
        return x if isinstance(x, Items) else Items(self, self.iterate(x))

    def model_next(self, x: Any, *default: Any) -> Any:
        if not isinstance(x, Items):
            method = MISSING if type(x).__module__ == "builtins" else self.lookup(type(x), "__next__")
            if type(method) is FunctionType and not default:
                return self.call(method, (x,), {})
            self.refuse("an iterator from outside is used up")
        try:
            return x.step(self)
        except StopIteration as end:
            if default:
                return default[0]
            raise UserError(end) from None

    def model_sum(self, x: Any, start: Any = 0) -> Any:
        if type(start) in (str, bytes):
            self.refuse("a sum of texts")
        items = self.not_too_many(x)
        first = [start]
        for item in items:
            first.append(item)
            if not all(type(v) in NUMBERS or isinstance(v, HostNumber) for v in (start, item)):
                break  # whoever else says himself what a sum is, step by step
        else:
            return self.sum_of_numbers(*first)
        done = self.sum_of_numbers(*first[:-1])
        return functools.reduce(functools.partial(self.binary, "add"), items, self.binary("add", done, first[-1]))

    def sum_of_numbers(self, start: Any, *numbers: Any) -> Any:
        """As Python adds them: from 3.12 on floats lose less than one by one."""
        if not numbers:
            return start
        if any(isinstance(v, HostNumber) for v in (start, *numbers)):
            return self.real(self.store.world.compute, summed, start, *numbers)
        return self.real(summed, start, *numbers)

    def not_too_many(self, x: Any) -> Iterator[Any]:
        """Items one by one, to an end that comes soon enough."""
        for i, item in enumerate(self.iterate(x)):
            if i > LONGEST:
                self.refuse("an iteration is too long")
            yield item

    def model_reduce(self, fn: Any, x: Any, *first: Any) -> Any:
        items = itertools.chain(first, self.not_too_many(x))
        start = next(items, MISSING)
        if start is MISSING:
            raise UserError(TypeError("reduce() of empty iterable with no initial value"))
        return functools.reduce(lambda a, b: self.call(fn, (a, b), {}), items, start)

    def model_any(self, x: Any) -> Any:
        return self._until(x, True)

    def model_all(self, x: Any) -> Any:
        return self._until(x, False)

    def _until(self, x: Any, stop: bool) -> Any:
        items = self.iterate(x)
        found: Any = not stop
        known: list[Any] = []
        for item in items:
            truth = self.truth(item)
            if isinstance(truth, bool):
                if truth is stop:
                    found = stop
                    break
                continue
            if not isinstance(x, CONTAINER_TYPES) and not is_tensor(x):
                self.refuse("a search stops where only the running program knows")
            if not all(map(self.is_quietly_true, self.all_items(x))):
                self.refuse("a search stops at an object that would say itself whether it is true")
            known.append(truth)
        if not known:
            return found
        joined = functools.reduce(p.logical_or if stop else p.logical_and, known)
        return stop if found is stop else Number(joined, bool, 0, 1)

    def is_quietly_true(self, x: Any) -> bool:
        """Whether asking a value for its truth runs no code of the user."""
        return all(is_tensor(v) or is_plain(v) or self.number_kind(v) for v in alternatives(self.settled(x)))

    def model_min(self, *args: Any, **options: Any) -> Any:
        return self._extreme("lt", min, args, options)

    def model_max(self, *args: Any, **options: Any) -> Any:
        return self._extreme("gt", max, args, options)

    def _extreme(self, wins: str, fn: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """As Python defines them: the first that no other beats; so mixed types stay what they are."""
        key = options.get("key")
        if not args or options.keys() - {"key", "default"} or ("default" in options and len(args) > 1):
            self.refuse("an unknown option of min or max")
        items: Any = self.not_too_many(args[0]) if len(args) == 1 else iter(args)
        if key is None:
            found = tuple(items)
            if len(args) == 1 and not self.is_quiet(args[0]) and not all(map(self.is_quietly_true, found)):
                self.refuse("objects are compared as they come")
            hosts = any(isinstance(v, HostNumber) for v in found)
            if hosts and all(isinstance(v, HostNumber) or is_plain(v) for v in found):
                return self.real(self.store.world.compute, fn, *found) if len(found) > 1 else found[0]
            items = iter(found)
        best = next(items, MISSING)
        if best is MISSING:
            if "default" in options:
                return options["default"]
            raise UserError(ValueError(f"{fn.__name__}() arg is an empty sequence"))
        score = best if key is None else self.call(key, (best,), {})
        for x in items:
            mine = x if key is None else self.call(key, (x,), {})
            test = self.binary(wins, mine, score)
            pair = self.decide(test, lambda x=x, mine=mine: (x, mine), lambda b=best, s=score: (b, s))  # type: ignore[misc]
            best, score = pair
        return best

    def model_sorted(self, x: Any, *, key: Any = None, reverse: Any = False) -> Any:
        items = self.all_items(x)
        keys = [self.plain(v if key is None else self.call(key, (v,), {})) for v in items]
        if not all(map(is_plain, keys)):
            self.refuse("values are sorted")
        order = self.real(sorted, range(len(items)), key=keys.__getitem__, reverse=self.plain(reverse))
        return self.store.container(list, tuple(items[i] for i in order))
