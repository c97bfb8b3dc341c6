"""What every generated program begins with: a world of classes, functions and globals to use and to change."""

from __future__ import annotations

import ast
import functools
import re

PRELUDE = """\
import collections, contextlib, contextvars, dataclasses, enum, functools, heapq, itertools, math, operator, sys
G, GI, GT = 0.5, 2, T([1., 2., -1.])
LOG, HEAP, CONF = [], [], {'k': 1.5}
W = P(T([1., -1., 2.]), name='w')
class Oops(Exception): pass
class Doubled:
    def __get__(self, owner, kind=None): return owner.t * 2.
    def __set__(self, owner, value): owner.t = value * 0.5
class Box:
    doubled = Doubled()
    base = 1.0
    def __init__(self, k):
        self.k, self.n, self.log = k, 1, []
        self.t = T([k, 1., -k])
    @property
    def prop(self): return self.t + self.k
    @property
    def level(self): return self.k * 2
    @level.setter
    def level(self, v): self.k = v / 2
    def scaled(self, z): return z * self.k + self.base
    def __call__(self, z): return self.scaled(z) + self.t
    def __getitem__(self, z): return z - self.t
    def __add__(self, z): return z + self.k
    @classmethod
    def of(cls, k): return cls(k)
    @staticmethod
    def half(z): return z * 0.5
class Sub(Box):
    base = 2.0
    def scaled(self, z): return super().scaled(z) * 0.5
HOME = Sub(0.5)
@dataclasses.dataclass
class Point:
    x: object
    n: int = 0
    def moved(self, by): return dataclasses.replace(self, x=self.x + by)
Pair = collections.namedtuple('Pair', 't n')
def helper(z, k=2.0): return z * k + GT if k > 0 else z - k
def rec(z, n): return z if n <= 0 else rec(z * 0.5 + 1., n - 1)
def down(z):
    if z.sum() < 4.1: return z
    return down(z * 0.5 - 1.)
def gen(z, n):
    for i in range(n):
        yield z * i
def star(*args, **kw): return sum(args) * kw.get('k', 1.)
def twice(fn):
    @functools.wraps(fn)
    def inner(*a, **k): return fn(fn(*a, **k))
    return inner
@twice
def decorated(z): return z * G + 1.
def matched(n, z):
    match n % 3:
        case 0: return z
        case 1: return z * 2.
    return z - 1.
def shaped(o, z):
    match o:
        case Sub(): return z * 3.
        case Box(n=n): return z + n
@functools.lru_cache
def cached(n): return n * 0.5
def counter():
    n = 0
    def bump():
        nonlocal n
        n += 1
        return n
    return bump
bump = counter()
def note(n): LOG.append(('note', n))
class Manager:
    def __init__(self, w): self.w = w
    def __enter__(self):
        LOG.append(self.w)
        return 0.5
    def __exit__(self, *a): LOG.append(a[0] is None)
class Swallow:
    def __enter__(self): return self
    def __exit__(self, kind, *a): return kind is not None and issubclass(kind, (ValueError, Oops))
@contextlib.contextmanager
def managed(z):
    LOG.append('in')
    try: yield z * 2.
    finally: LOG.append('out')
def talker():
    got = yield 0
    while True: got = yield got * 2.
def run(co):
    try: co.send(None)
    except StopIteration as end: return end.value
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = P(T([0.5, 1., -0.5]), name='v')
        self.calls = 0
    def construct(self, z):
        self.calls = self.calls + 1
        return z * self.w + self.calls
NET = Net()
LIMIT, NAMES, IDX = 2, ('a', 'b'), np.array([0, 2, 1])
MANY = list(map(T, [[1., 0., 2.], [-1., 0.5, 0.]] * 5))
VAR = contextvars.ContextVar('VAR', default=1.5)
class Mode(enum.Enum):
    SLOW = 1
    FAST = 2
class Bag:
    __slots__ = ('items', 'k')
    made = 0
    def __init__(self, *items):
        self.items, self.k = list(items), 0.5
        type(self).made += 1
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __contains__(self, k): return k < len(self.items)
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, i, v): self.items[i] = v
    def __delitem__(self, i): del self.items[i]
    def __bool__(self): return len(self.items) > 1
    def __eq__(self, other): return isinstance(other, Bag) and len(self) == len(other)
    def __lt__(self, other): return len(self) < len(other)
    def __iadd__(self, v):
        self.items.append(v)
        return self
    def __matmul__(self, z): return sum(self.items) * z
    def __rmul__(self, k): return Bag(*[z * k for z in self.items])
class Loose:
    def __init__(self, t): self.t = t
    def __getattr__(self, name):
        if name.startswith('_'): raise AttributeError(name)
        return self.t * len(name)
    def __setattr__(self, name, value):
        LOG.append(name)
        object.__setattr__(self, name, value)
    @functools.cached_property
    def third(self):
        LOG.append('third')
        return self.t * 0.25
@dataclasses.dataclass(frozen=True)
class Fixed:
    t: object
    k: float = 0.5
    tags: list = dataclasses.field(default_factory=list)
    def __post_init__(self): self.tags.append(self.k)
    def grown(self, by): return Fixed(self.t + by, self.k * 2)
class Base:
    def step(self, z, *rest, k=1.): return z + k
class Left(Base):
    def step(self, z, *rest, k=1.): return super().step(z * 2., *rest, k=k + 1.)
class Right(Base):
    def step(self, z, *rest, k=1.): return super().step(z - 1., *rest, k=k * 2.) + len(rest)
class Both(Left, Right):
    def step(self, z, *rest, **kw): return super().step(z, *rest, **kw) * 0.5
@functools.singledispatch
def kindly(v): return 'any'
@kindly.register
def _(v: int): return 'int'
@kindly.register
def _(v: float): return 'float'
def only(z, /, k=1.0, *, scale=2.0, **rest): return z * scale + k + len(rest)
def kept(z, into=[]):
    into.append(1)
    return z * len(into)
def closing(z):
    try:
        yield z
        yield z * 2.
    finally: LOG.append('closed')
def positive(z):
    if z < 0: raise ValueError('negative', z)
    return z * 0.5
def logged(fn):
    def inner(*a, **k):
        LOG.append(fn.__name__)
        return fn(*a, **k)
    return inner
@logged
def shifted(z, by=0.5): return z + by
def kind_of(v):
    match v:
        case bool(): return 'bool'
        case int(): return 'int'
        case float(): return 'float'
        case str(): return 'text'
        case None: return 'none'
        case [_, *rest]: return f'list {len(rest)}'
        case {'a': _}: return 'a'
        case Point(n=2) | Fixed(k=2.0): return 'two'
        case Mode.FAST: return 'fast'
        case Pair(t, n) if n > LIMIT: return 'pair'
        case _: return type(v).__name__
def twin(v):  # equal, and yet another
    if type(v) is bool: return int(v)
    if type(v) is int: return bool(v) if v in (0, 1) else float(v)
    return v if type(v) is not float or not math.isfinite(v) or v % 1 else -v if v == 0 else int(v)
"""


@functools.cache
def _parts() -> list[tuple[str, frozenset[str]]]:
    """The statements of the prelude, each with the names that it gives."""
    lines, found = PRELUDE.splitlines(True), []
    for stmt in ast.parse(PRELUDE).body:
        first = min([stmt.lineno, *(d.lineno for d in getattr(stmt, "decorator_list", ()))])
        names = {n.id for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if isinstance(stmt, ast.FunctionDef | ast.ClassDef):
            names = {stmt.name} - {"_"}
        found.append(("".join(lines[first - 1 : stmt.end_lineno]), frozenset(names)))
    return found


def needed(text: str) -> tuple[str, ...]:
    """The parts of the prelude that a program uses, in order; to run the others would only take time."""
    words, kept = set(re.findall(r"\w+", text)), []
    for part, names in reversed(_parts()):
        if names & words or (not names and set(re.findall(r"@(\w+)", part)) <= words):
            kept.append(part)
            words |= set(re.findall(r"\w+", part))
    return tuple(kept[::-1])
