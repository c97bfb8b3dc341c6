"""Reads, each with what changes between calls so that only its guard tells: small functions, with hardly anything beside.

In a large program many things change at once, and one guard stands in for another: a fault in one of them is hidden.
Holes are those of the grammar; `first` are the arguments, and the changes are made in any order, each before a call.
"""

# ruff: noqa: E501 (a table of templates)
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.promises.generator.prelude import PRELUDE

if TYPE_CHECKING:
    from tests.promises.generator.writer import Writer

WORLD = """\
import colorsys
COLOUR = colorsys.rgb_to_hsv
OP, KIND, WORDS, A, B = ops.relu, int, ['a', 'b', 'c', 'd'], Box(0.5), Sub(0.5)
"""


@dataclass(frozen=True)
class Pair:
    """What a function does, its arguments, and what may change."""

    construct: str
    takes: str
    body: str
    first: str
    changes: tuple[str, ...]
    native: bool = False  # whether only machine code can tell


PAIRS = [
    Pair("sign of zero", "x, k", "return x * <F>, math.copysign(1.0, k), str(k)", "x = <L>; k = 0.0", ("k = -0.0", "k = 0.0", "k = 0")),
    Pair("sign of zero", "x, h", "return math.copysign(1.0, h[0]), h, x", "x = <L>; h = (0.0, 1)", ("h = (-0.0, 1)", "h = (0.0, 1)", "h = (0.0, True)")),
    Pair("sign of zero", "x", "k = 0.0 if <s> > <C> else -0.0\nreturn math.copysign(1.0, k), k", "x = <L>", ("x = x * -1.", "x = <L>")),
    Pair("sign of zero behind", "x", "return x + math.copysign(<F>, A.k)", "x = <L>; A.k = 0.0", ("A.k = -0.0", "A.k = 0.0", "A.k = 0")),
    Pair("two that meet", "x, y", "x[0] = <F>\nreturn y * 1.", "x = <L>; y = <L> * 1.; x = x * 1.", ("y = x", "y = x.copy()", "x = y")),
    Pair("two that meet", "x, y", "return x is y, x + y", "x = <L>; y = <L> * 1.", ("y = x", "y = x.copy()")),
    Pair("two lists that meet", "x, a, b", "a.append(x)\nreturn len(b), b", "x = <L>; a = []; b = []", ("a = b", "a = list(b)", "b = a")),
    Pair("two objects that meet", "x, a, b", "a.k = <f>\nreturn x * b.k", "x = <L>; a = Box(<F>); b = Box(<F>)", ("a = b", "a = Box(<F>)", "b = a")),
    Pair("three that meet", "x, y, z", "x[0] = <F>\nreturn y + z", "x = <L> * 1.; y = <L> * 1.; z = <L> * 1.", ("y = x", "z = y", "x = z.copy()", "y = z.copy()")),
    Pair("one that meets what is behind", "x", "x[0] = <F>\nreturn GT * 1.", "x = <L> * 1.", ("x = GT", "x = GT.copy()")),
    Pair("one that meets what is behind", "x, a", "a.k = <f>\nreturn x * HOME.k", "x = <L>; a = Sub(<F>)", ("a = HOME", "a = Sub(<F>)")),
    Pair("function behind", "x", "return OP(x)", "x = <L>", ("global OP; OP = ops.abs", "global OP; OP = ops.relu", "global OP; OP = lambda z: z + <F>")),
    Pair("function behind", "x", "return A.fn(x)", "x = <L>; A.fn = ops.abs", ("A.fn = ops.neg", "A.fn = ops.relu", "A.fn = helper")),
    Pair("function of a library behind", "x, n", "return COLOUR(0.5, n, 0.25), x", "x = <L>; n = 0.75", ("global COLOUR; COLOUR = colorsys.rgb_to_hls", "global COLOUR; COLOUR = colorsys.hsv_to_rgb", "global COLOUR; COLOUR = colorsys.rgb_to_hsv", "n = 0.5")),
    Pair("class behind", "x, n", "return isinstance(n, KIND), x", "x = <L>; n = 1", ("global KIND; KIND = float", "global KIND; KIND = int", "global KIND; KIND = Box")),
    Pair("sizes that are compared", "x", "if len(x) > 3: x = x * <F>\nreturn x + 1.", "x = ops.ones(2)", ("x = ops.ones(3)", "x = ops.ones(5)", "x = ops.ones(4)", "x = ops.ones(2)", "x = ops.ones(7)")),
    Pair("sizes that are compared", "x", "return (x.sum() if x.shape[0] % 2 else x.max()) * <F>", "x = ops.ones(4)", ("x = ops.ones(6)", "x = ops.ones(5)", "x = ops.ones(3)", "x = ops.ones(8)")),
    Pair("array in an operation", "x, a", "return ops.maximum(x, a) * <F>", "x = <L>; a = np.zeros(3, np.float32)", ("a[0] = 9.", "a[:] = -a", "a[1] += 1.", "a = a.copy()"), native=True),
    Pair("array in an operation", "x, a", "return x + a", "x = <L>; a = np.ones(3, np.float32)", ("a[0] = 9.", "a *= 2", "a[1] += 1."), native=True),
    Pair("number of an array", "x, a", "return x * float(a[1])", "x = <L>; a = np.ones(3, np.float32)", ("a[1] = 2.", "a[1] = -0.", "a[0] = 3.", "a[1] = 0.")),
    Pair("array as index", "x, a", "return x[a]", "x = <L>; a = np.array([0, 2, 1])", ("a[0] = 1", "a[:] = 2", "a[1] = 0"), native=True),
    Pair("texts in a list", "x", "return x * len(WORDS[-1]), WORDS[1]", "x = <L>", ("WORDS[-1] = 'zz'", "WORDS[1] = 'q'", "WORDS[-1] = ''", "WORDS[2] = 5")),
    Pair("texts in a tuple", "x, h", "return x * len(h[2]), h[1]", "x = <L>; h = ('a', 'b', 'c')", ("h = ('a', 'b', 'dd')", "h = ('a', 'e', 'c')")),
    Pair("kinds in a tuple", "x, h", "return x * h[0], type(h[1]).__name__, h[2]", "x = <L>; h = (1, 1, None)", ("h = (1, True, None)", "h = (1, 1, False)", "h = (1, 1.0, None)")),
    Pair("length of a tuple", "x, h", "return x * h[0], h", "x = <L>; h = (1, 'a')", ("h = (1, 'a', 2)", "h = (1,)", "h = (1, 'a')")),
    Pair("write and one result", "x", "x[1] = <F>\nreturn x * 2.", "x = <L> * 1.", ("x = <L> * 1.", "x = x * 2.")),
    Pair("write and one result", "x", "W.set_data(x * <F>)\nreturn x + 1.", "x = <L>", ("x = <L>",)),
    Pair("write and one result", "x, y", "y += x\nreturn y * 2.", "x = <L>; y = <L> * 1.", ("y = y * 1.", "x = <L>")),
    Pair("written memory that is shared", "x, y", "x[0] = x[0] + 1.\nreturn y * 1.", "x = <L> * 1.; y = <L> * 1.", ("y = x[:]", "y = x[::-1]", "y = x.reshape(3)", "y = x * 1.")),
    Pair("written memory that is shared", "x, y", "x *= <F>\nreturn y + 1.", "x = <L> * 1.; y = <L> * 1.", ("y = x.reshape(3)", "y = x * 1.", "x = y[:]")),
    Pair("view of one of two", "x, y", "a = (x if <s> > <C> else y)[1:]\nx[1] = <F>\nreturn a * 1.", "x = <L> * 1.; y = <L> * 1.", ("x = x * -1.", "y = x * 3.")),
    Pair("view of one of two", "x, y", "if <s> > <C>: a = x\nelse: a = y\nb = a[1:]\ny[2] = <F>\nx[1] = <F>\nreturn b * 1.", "x = <L> * 1.; y = <L> * 1.", ("x = x * -1.", "y = x * 3.")),
    Pair("view of one of two is written", "x, y", "a = ops.reshape(x if <s> > <C> else y, (3,))\na[0] = a[0] + 1.\nreturn x * 1., y * 1., a * 1.", "x = <L> * 1.; y = <L> * 1.", ("x = x * -1.", "y = x * 3.")),
    Pair("star", "x, l", "*a, b = l\nreturn a, b * 2.", "x = <L>; l = [x, <L>, x]", ("l = l + [x]", "l = l[:2]")),
    Pair("star", "x, l", "a, *b, c = l\nreturn len(b), b, c", "x = <L>; l = [x, 1, x, 2]", ("l = l + [x]", "l = l[:2]")),
    Pair("error of another kind", "x, n", "try:\n    try: [1][n]\n    except <E>: return 'inner'\nexcept LookupError: return x * 2.\nreturn x", "x = <L>; n = 5", ("n = 0", "n = -7")),
    Pair("error of another kind", "x, d", "try:\n    try: d['q']\n    except (ValueError, Oops): return 'inner'\n    finally: LOG.append('f')\nexcept KeyError: return x", "x = <L>; d = {}", ("d['q'] = 1", "del d['q']; d['p'] = 1")),
    Pair("guard of a case", "x, n", "match n:\n    case k if k > 2: return x * 2.\n    case 1 | 2 if x.shape[0] > 3: return 'long'\n    case _: return x", "x = <L>; n = 1", ("n = 5", "n = 2", "n = 0")),
    Pair("chain", "x, n", "return x, 0 < n < 3, 5 > n >= 1, n == n != 2", "x = <L>; n = 1", ("n = 4", "n = 2", "n = -1")),
    Pair("chain", "x, n", "return 0 < n < 3 < <I>, x", "x = <L>; n = 1", ("n = 4", "n = 2")),
    Pair("walrus", "x, n", "u = 1\nif (u := n * 2) > 3: x = x * u\nreturn x + u, u", "x = <L>; n = 1", ("n = 2", "n = 5")),
    Pair("walrus", "x, l", "u = 0\nv = [u := z + 1 for z in l]\nreturn x * u, v", "x = <L>; l = [1, 2]", ("l = [5]", "l = []")),
    Pair("any and all", "x, l", "return any(z > 1 for z in l), all(z > 1 for z in l), x", "x = <L>; l = [0, 1]", ("l = [0, 2]", "l = [2, 3]", "l = []")),
    Pair("several targets", "x, n", "a = b = n\na += 1\nreturn x * a + b, a, b", "x = <L>; n = 1", ("n = 2",)),
    Pair("several targets", "x", "a = b = [x]\na.append(1)\nc = x[0] = <F>\nreturn b, a is b, c", "x = <L> * 1.", ("x = x * 2.",)),
    Pair("in place", "x, l", "m = l\nm += [1]\ny = x\ny *= <F>\nreturn l, m is l, x, y is x", "x = <L> * 1.; l = []", ("l = [2]", "x = x * 2.")),
    Pair("keys that go", "x, d", "d.pop('a', None)\nd['z'] = x\nreturn list(d), len(d)", "x = <L>; d = {'a': 1, 'b': 2}", ("d = {'a': 1}", "d = {'b': 2, 'a': 3}")),
    Pair("clear", "x", "CONF.clear()\nCONF['n'] = x\nreturn list(CONF)", "x = <L>", ("CONF['k'] = 1.5", "CONF['q'] = 2")),
    Pair("finally", "x, n", "try:\n    if n > 1: return x\n    x = x * 2.\nfinally: LOG.append(n)\nreturn x", "x = <L>; n = 1", ("n = 2", "n = 0")),
    Pair("else of try", "x, l", "try: y = l[1]\nexcept IndexError: y = x\nelse: y = y * 3.\nreturn y", "x = <L>; l = [x]", ("l = [x, x]", "l = []")),
    Pair("manager", "x, n", "with Manager(n) as k: y = x * k\nreturn y, LOG[-2:]", "x = <L>; n = 1", ("n = 2",)),
    Pair("assertion", "x, n", "assert n < 3, n\nreturn x * n", "x = <L>; n = 1", ("n = 3", "n = 2", "n = 5")),
    Pair("assertion", "x", "try: assert <s> > <C>\nexcept AssertionError: return 'no'\nreturn x", "x = <L>", ("x = x * -1.",)),
    Pair("comparison that may be equal", "x", "return (x if x.sum() <= 3. else -x), x[0] >= 1.", "x = T([1., 1., 1.])", ("x = T([1., 2., 1.])", "x = T([0., 3., 0.])")),
    Pair("number of a loop", "x", "n = 0\nwhile x.sum() < 9.:\n    x = x + 1.\n    n += 1\nreturn n, type(n).__name__, x", "x = T([1., 1., 1.])", ("x = T([3., 3., 3.])", "x = T([0., 1., 0.])")),
    Pair("alias after a loop", "x, n", "y = x\nwhile y.sum() < n: y = y + 1.\ny[0] = <F>\nreturn x, y is x", "x = T([1., 1., 1.]); n = 9.", ("x = T([5., 5., 5.])", "x = T([1., 2., 3.])")),
    Pair("comparison of a number of a loop", "x, k", "n = 0\nwhile x.sum() < 9.:\n    x = x + 1.\n    n += 1\nreturn (x if n <= k else -x), n >= k, n == k, k <= n, n", "x = T([1., 1., 1.]); k = 2", ("x = T([3., 3., 3.])", "k = 1", "x = T([2., 1., 0.])", "k = 3")),
    Pair("write to what an earlier turn left", "x", "y = x\nwhile y.sum() < 9.:\n    y[0] = y[0] + 1.\n    y = y + 1.\nreturn x * 1., y", "x = T([1., 1., 1.])", ("x = T([5., 5., 5.])", "x = T([2., 0., 1.])")),
    Pair("part from before a loop", "x", "y, z = x * 1., x[1:] * 1.\nwhile y.sum() < 9.:\n    y = y + 1.\n    z = x[1:]\nz[0] = <F>\nreturn x * 1., z, y", "x = T([1., 1., 1.])", ("x = T([5., 5., 5.])", "x = T([0., 3., 1.])")),
    Pair("tensor of an earlier turn", "x", "y, z = x, x * 2.\nwhile y.sum() < 9.:\n    z = y\n    y = y + 1.\nz[0] = <F>\nreturn z is x, z, y, x * 1.", "x = T([1., 1., 1.])", ("x = T([5., 5., 5.])", "x = T([2., 3., 3.])", "x = T([1., 2., 1.])")),
    Pair("tensor of an earlier turn", "x", "y, z, w = x, x * 2., x * 3.\nwhile y.sum() < 9.:\n    if y[0] > <C>: w = z\n    z = y\n    y = y + 1.\nreturn z is x, w is x, w is z, w, y", "x = T([1., 1., 1.])", ("x = T([5., 5., 5.])", "x = T([2., 3., 3.])", "x = T([0., 0., 1.])")),
    Pair("two names of a loop", "x", "a = b = x\nwhile a.sum() < 9.:\n    a = a + 1.\n    b = a\nreturn a is b, a, b", "x = T([1., 1., 1.])", ("x = T([5., 5., 5.])",)),
    Pair("tensor from before a loop", "x", "y, z = x, x * 2.\nwhile y.sum() < 9.:\n    y = y + 1.\n    z = x\nreturn z is x, z, y", "x = T([1., 1., 1.])", ("x = T([5., 5., 5.])",)),
    Pair("generator", "x, n", "def g():\n    for k in range(n): yield k\n    else: yield 'end'\n    yield x\nreturn list(g())", "x = <L>; n = 2", ("n = 0", "n = 3")),
    Pair("generator with while", "x, n", "def g():\n    k = 0\n    while k < n:\n        if k == 4: break\n        yield k\n        k += 1\n    else: yield 'end'\n    yield x\nreturn list(g())", "x = <L>; n = 2", ("n = 0", "n = 9", "n = 3")),
    Pair("method of one object", "x, a", "return a.scaled(x)", "x = <L>; a = Box(<F>)", ("a.scaled = lambda z: z - 1.", "a = Box(<F>)", "a.__class__ = Sub")),
    Pair("class of an object behind", "x", "return A.scaled(x)", "x = <L>", ("A.__class__ = Sub", "A.__class__ = Box", "A.k = <F>")),
    Pair("class of an argument", "x, a", "return a.scaled(x)", "x = <L>; a = Box(<F>)", ("a = Sub(a.k)", "a = Box(a.k)")),
    Pair("item that goes", "x, d", "return x * 2. if 'k' in d else x, d.get('k')", "x = <L>; d = {}", ("d['k'] = 1", "d.clear()")),
    Pair("attribute that comes", "x", "return x * getattr(A, 'new', <F>), hasattr(A, 'new')", "x = <L>", ("A.new = 3.", "A.__dict__.pop('new', None)")),
    Pair("super", "x", "return B.scaled(x), Both().step(x)", "x = <L>", ("Box.base = <F>", "B.k = <F>")),
    Pair("one result of two ways", "x", "if <s> > <C>: r = [x, 1]\nelse: r = [x * 2.]\nreturn r, len(r) if False else 0", "x = <L>", ("x = x * -1.",)),
    Pair("insert", "x, l, n", "l.insert(n, x)\ny = l.pop(0)\nl.reverse()\nreturn l, y", "x = <L>; l = [1, 2, 3]; n = 1", ("n = 0", "n = -1", "l = [5]")),
    Pair("pop", "x, l, n", "a = l.pop()\nb = l.pop(n)\nreturn a, b, l", "x = <L>; l = [x, 1, 2, 3, 4]; n = 1", ("n = -2", "n = 0", "l = [1, x, 2, 5]", "l = [x]")),
    Pair("mapping", "x, d", "return list(d.values()), list(d.keys()), [v for k, v in d.items()], d.setdefault('z', 5), d", "x = <L>; d = {'a': 1}", ("d = {'a': 2, 'b': 3}", "d = {}")),
    Pair("zip and sorted", "x, l", "return list(zip(l, 'abc')), sorted(l), sorted(l, reverse=True), list(enumerate(l))", "x = <L>; l = [3, 1, 2]", ("l = [1]", "l = []", "l = [2, 5]")),
    Pair("options", "x, d", "return only(x, **d), star(x, x, **{'k': <F>}), kept.__defaults__ is None", "x = <L>; d = {}", ("d = {'scale': 3.}", "d = {'q': 1, 'r': 2}")),
    Pair("list that grows", "x, l", "out = []\nfor z in l:\n    if len(l) < 5: l.append(z + 1)\n    out.append(z)\nreturn out, x", "x = <L>; l = [1, 2]", ("l = [7]", "l = [1, 2, 3, 4, 5, 6]")),
    Pair("break and continue", "x, n", "out = []\nfor k in range(5):\n    if k == n: continue\n    if k == 3: break\n    out.append(k)\nreturn out, x", "x = <L>; n = 1", ("n = 3", "n = 9")),
    Pair("break in a part that Python runs", "x, n", "out = []\nfor k in range(4):\n    exec('pass')\n    if k == n: break\n    out.append(x * k)\nreturn out", "x = <L>; n = 1", ("n = 9", "n = 0")),
    Pair("ways that share what they compute", "x", "if x.sum() > <C>: y = ops.exp(x * 0.25).sum()\nelse: y = ops.exp(x * 0.25).sum() + 1.\nreturn y + ops.exp(x * 0.25).max()", "x = <L>", ("x = x * -1.",)),
    Pair("recursion that returns what it got", "x", "y = down(x)\nreturn y is x, y", "x = T([1., 1., 1.])", ("x = T([9., 9., 9.])", "x = T([0., 0., 1.])")),
    Pair("not in and is not", "x, n", "return n not in (1, 2), n is not None, not n, x", "x = <L>; n = 1", ("n = 3", "n = None", "n = 0")),
    Pair("conditional expression", "x, n", "return (x if n > 1 else x * 2.), (n or 7), (n and 8)", "x = <L>; n = 1", ("n = 2", "n = 0")),
    Pair("comprehension", "x, l", "return [z for z in l if z > 1], {z for z in l if z}, {z: x for z in l if z != 2}", "x = <L>; l = [1, 2, 3]", ("l = [0]", "l = [5, 2]")),
]  # fmt: skip


def program(writer: Writer, pair: Pair) -> str:
    """A module that calls a function of one pair, with changes between the calls."""
    choose = writer.random
    writer.used[f"{pair.construct}, alone"] += 1
    filled = [writer.filled(line, {}, [], 1) for line in pair.body.split("\n")]
    lines = ["out, f_ = [], f", *(writer.filled(part, {}, [], 1) for part in pair.first.split("; "))]
    declared: list[str] = []
    changes = [change for _ in range(2) for change in choose.sample(pair.changes, len(pair.changes))]
    for change in ("", "", *changes[:5]):
        if change.startswith("global "):
            name, _, change = change[7:].partition("; ")
            declared.append(name)
        if change:
            lines.append(writer.filled(change, {}, [], 1))
        lines += [f"try: out.append(f_({pair.takes}))", "except Exception as e: out.append(e)"]
    lines.append(f"return out, {pair.takes}, LOG, CONF, GT, W, HOME, A, B, WORDS")
    head = [f"global {', '.join(dict.fromkeys(declared))}"] if declared else []
    body = "\n".join(f"    {line}" for line in filled)
    main = "\n".join(f"    {line}" for line in (*head, *lines))
    return f"{PRELUDE}{WORLD}@J\ndef f({pair.takes}):\n{body}\ndef main():\n{main}\n"
