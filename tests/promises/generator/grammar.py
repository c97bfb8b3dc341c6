"""What a generated program may be made of: templates of expressions and statements, each with the construct it shows.

A hole stands for something to be chosen:

    <t>        an expression of the kind `t`          <v:t>   a variable of the kind `t`
    <n:t>      a name that holds a `t` from now on    <u1>    a name used nowhere else (`<u1:t>`: it holds a `t`)
    <r:t>      a variable of this function, the same in the whole template; `<x:t>`, `<same>`: for `nonlocal`
    <block>    statements, further in (`<loop>`: of a loop, `<short>`: only a few, `<leave>`: perhaps an exit)
    <body>     the statements of a function, whose variables are its own

Kinds: `t` a vector of three floats, `s` a tensor of one number, `m` a matrix, `j` a vector of three ints, `i` `f` `b`
numbers of Python, `l` a list of `t`, `d` a dict of `t`, `o` an object, `c` a function from `t` to `t`, `q` a set of
ints, `a` a NumPy array, `w` text. All numbers are multiples of a quarter, small, and operations that round are few, so
that nothing hangs on rounding.
"""

# ruff: noqa: E501 (tables of templates)
from __future__ import annotations

LITERALS = {
    "F": ["0.5", "2.0", "-1.5", "0.25", "3.0", "1.0", "-0.0"],
    "I": ["0", "1", "2", "3", "-1", "5"],
    "K": ["'a'", "'b'", "'c'"],
    "L": ["T([1., -2., 0.5])", "T([0.25, 3., -1.])", "T([2., 2., -4.])", "ops.ones(3)", "T([-0.0, 1., 0.])"],
    "C": ["1.3", "-0.7", "4.1", "0.1", "-3.9"],  # bounds that no computed number meets
    "op": ["+", "-", "*"],
    "cmp": ["<", ">", "<=", ">=", "==", "!="],
    "E": ["ValueError", "KeyError", "Oops", "ZeroDivisionError"],
}

# kind: (construct, template), those without expressions inside first
EXPRESSIONS: dict[str, list[tuple[str, str]]] = {
    "t": [
        ("tensor", "<L>"), ("name", "<v:t>"), ("name", "<v:t>"), ("name", "<v:t>"), ("attribute", "<v:o>.t"),
        ("subscript", "<v:l>[-1]"), ("subscript", "<v:d>['a']"), ("array", "T(<v:a>)"), ("array with tensor", "<v:t> * T(<v:a>)"), ("property", "<v:o>.prop"),
        ("global", "GT"), ("view", "<v:t>[::-1]"), ("row", "<v:m>[1]"),
        ("arithmetic", "<t> <op> <t>"), ("arithmetic", "<t> <op> <f>"), ("arithmetic", "<f> <op> <t>"),
        ("number with tensor", "<t> * <i>"), ("number with tensor", "<t> + (<b>)"), ("tensor arithmetic", "<t> * <s>"),
        ("op", "ops.relu(<t>)"), ("array in an operation", "(<t> + <v:a>)"), ("array in an operation", "ops.maximum(<t>, <v:a>)"), ("op", "ops.maximum(<t>, <t>)"), ("op", "ops.where(<t> > <C>, <t>, <t>)"),
        ("method of tensor", "(<t>).abs()"), ("op", "ops.clamp(<t>, -4., 4.)"), ("negation", "-(<t>)"),
        ("reduction", "(<m>).sum(0)"), ("op", "ops.cumsum(<t>, 0)"), ("dtype", "(<j>).astype('float32')"),
        ("conditional expression", "(<t> if <b> else <t>)"), ("conditional expression", "(<t> if <s> > <C> else <t>)"),
        ("walrus", "(<u1:t> := <t>)"), ("closure call", "<v:c>(<t>)"), ("method call", "<v:o>.scaled(<t>)"),
        ("call operator", "<v:o>(<t>)"), ("lambda", "(lambda z, k=<f>: z * k + <v:t>)(<t>)"),
        ("sum of list", "sum(<v:l>)"), ("sum of generator", "sum(z * <F> for z in <v:l>)"), ("helper", "helper(<t>, <f>)"),
        ("recursion", "rec(<t>, <I>)"), ("recursion", "down(<t>)"), ("generator", "sum(gen(<t>, <I>))"),
        ("star call", "star(<t>, <t>, k=<f>)"), ("star call", "star(*<v:l>[:2], **{'k': <f>})"),
        ("super", "Sub(<f>).scaled(<t>)"), ("dataclass", "Point(<t>, <i>).moved(<f>).x"),
        ("namedtuple", "Pair(<t>, <i>)._replace(n=<i>).t"), ("decorator", "decorated(<t>)"),
        ("descriptor", "<v:o>.doubled"), ("class method", "Box.of(<f>).scaled(<t>)"), ("static method", "Box.half(<t>)"),
        ("match", "matched(<i>, <t>)"), ("match", "shaped(<v:o>, <t>)"), ("stack", "ops.stack([<t>, <t>]).sum(0)"),
        ("get of dict", "<v:d>.get(<K>, <t>)"), ("cell", "NET(<t>)"), ("partial", "functools.partial(helper, k=<f>)(<t>)"),
        ("reduce", "functools.reduce(lambda p, z: p * 0.5 + z, <v:l>)"), ("gather", "(<t>)[ops.abs(<j>) % 3]"),
        ("and or", "(<b> and <t> or <t>)"), ("getitem", "<v:o>[<t>]"), ("add", "(<v:o> + <t>)"),
        ("wrapped", "cached(<i>) * <t>"), ("getattr", "getattr(<v:o>, 't', <t>)"), ("next", "next(iter(<v:l>))"),
    ],
    "s": [
        ("reduction", "<v:t>.sum()"), ("reduction", "<v:t>.max()"), ("index", "<v:t>[0]"), ("index", "<v:t>[-1]"),
        ("reduction", "(<t>).sum()"), ("index", "(<t>)[<i> % 3]"), ("reduction", "(<t>).mean() * 3."), ("reduction", "(<m>).sum()"),
        ("method of tensor", "(<t> * <t>).sum()"),
    ],
    "m": [
        ("stack", "ops.stack([<v:t>, <L>])"), ("name", "<v:m>"), ("outer", "(<t>)[:2].reshape(2, 1) * <t>"),
        ("arithmetic", "<m> * <f>"), ("broadcast", "<m> + <t>"), ("transpose", "((<m>).T * 1.).T"),
        ("matmul", "ops.matmul(<m>, (<m>).T)[0:1] * 0.125 + (<m>)[:, :1] * 0."),
    ],
    "j": [
        ("int tensor", "T([1, 2, -1])"), ("name", "<v:j>"), ("int tensor", "ops.arange(3)"), ("arithmetic", "<j> + <i>"),
        ("arithmetic", "<j> * <j>"), ("dtype", "(<t> * 0. + <I>).astype('int32')"), ("comparison", "(<t> > <C>).astype('int32')"),
    ],
    "i": [
        ("number", "<I>"), ("name", "<v:i>"), ("name", "<v:i>"), ("length", "len(<v:l>)"), ("global", "GI"), ("attribute", "<v:o>.n"),
        ("shape", "<v:t>.shape[0]"), ("length", "len(<v:q>)"),
        ("arithmetic of numbers", "<i> <op> <i>"), ("floor division", "<i> // <i>"), ("remainder", "<i> % 4"), ("power", "2 ** (<i> % 4)"),
        ("conversion", "int(<f>)"), ("conversion", "int(<s>)"), ("conditional expression", "(<i> if <b> else <i>)"),
        ("max of numbers", "max(<i>, <i>)"), ("length", "len(<v:d>)"), ("bit operation", "(<i> & 3)"), ("count", "sum(1 for z in <v:q> if z < <i>)"),
        ("get of dict", "{0: 4, 2: 1}.get(<i>, <i>)"), ("sum of range", "sum(range(<i> % 5))"), ("abs", "abs(<i>)"),
        ("min of set", "min(<v:q>, default=0)"), ("index of list", "[7, 8, 9][<i> % 3]"), ("int of bool", "int(<b>)"),
        ("text", "len(str(<i>))"), ("closure state", "bump()"), ("number from tensor", "(<v:j>)[0].item()"),
    ],
    "f": [
        ("number", "<F>"), ("name", "<v:f>"), ("name", "<v:f>"), ("global", "G"), ("attribute", "<v:o>.k"), ("subscript", "CONF['k']"),
        ("element of array", "float(<v:a>[0])"),
        ("arithmetic of numbers", "<f> <op> <f>"), ("division", "<f> / 2"), ("division", "<i> / 4"), ("conversion", "float(<i>)"), ("number from tensor", "float(<s>)"),
        ("number from tensor", "<s>.item()"), ("power", "0.5 ** (<i> % 3)"), ("conditional expression", "(<f> if <b> else <f>)"),
        ("max of numbers", "min(<f>, <f>)"), ("round", "round(<f>, 1)"), ("math", "math.floor(<f>) * 0.5"), ("sum of list", "sum([<f>, <f>])"),
        ("property", "<v:o>.level"), ("remainder", "<f> % 2.0"), ("abs", "abs(<f>)"), ("division", "<f> / <f>"),
    ],
    "b": [
        ("truth", "True"), ("name", "<v:b>"), ("membership", "<I> in <v:q>"), ("identity", "<v:t> is <v:t>"), ("membership", "<K> in <v:d>"),
        ("comparison", "<i> <cmp> <i>"), ("comparison", "<f> <cmp> <C>"), ("chained comparison", "-2 < <i> <= 2"),
        ("isinstance", "isinstance(<i>, int)"), ("isinstance", "isinstance(<f>, float)"), ("not", "(not <b>)"), ("and or", "(<b> and <b>)"),
        ("and or", "(<b> or <b>)"), ("membership", "<i> in {0, 2}"), ("truth of tensor", "bool(<s> > <C>)"), ("any", "any(z.sum() > <C> for z in <v:l>)"),
        ("all", "all(z > 0 for z in <v:q>)"), ("hasattr", "hasattr(<v:o>, 't')"), ("identity", "<v:l> is <v:l>"), ("truth of list", "bool(<v:l>)"),
        ("identity", "<v:o>.t is <v:t>"), ("callable", "callable(<v:c>)"), ("type", "type(<i>) is int"),
    ],
    "w": [
        ("text", "'x'"), ("f-string", 'f"{<i>}"'), ("f-string", 'f"{<f>:.2f}"'), ("format", "'%d' % <i>"), ("str", "str(<i>)"), ("method of text", "'ab'.upper()"),
        ("type", "type(<i>).__name__"), ("join", "'-'.join(str(z) for z in sorted(<v:q>))"), ("f-string", 'f"{<b>}"'),
    ],
    "y": [  # anything
        ("tensor", "<t>"), ("tensor", "<s>"), ("number", "<i>"), ("number", "<f>"), ("bool", "<b>"), ("list", "<v:l>"), ("dict", "<v:d>"),
        ("list", "[<t>, <y>]"), ("tuple", "(<t>, <y>)"), ("dict", "{<K>: <y>}"), ("set", "{<i>, <i>}"), ("text", "<w>"), ("none", "None"),
        ("list comprehension", "[z * <F> for z in <v:l>]"), ("dict comprehension", "{z: <t> for z in <v:q>}"), ("set comprehension", "{z + <i> for z in <v:q>}"),
        ("object", "<v:o>"), ("object", "Box(<f>)"), ("set", "<v:q>"), ("namedtuple", "Pair(<t>, <i>)"), ("dataclass", "Point(<t>, <i>)"), ("int tensor", "<j>"),
        ("matrix", "<m>"), ("slice", "<v:l>[:<i>]"), ("sorted", "sorted(<v:q>, key=lambda z: (z - <i>) % 3)"), ("dict view", "list(<v:d>.items())"),
        ("zip", "list(zip(<v:l>, range(<i> % 4)))"), ("map", "list(map(lambda z: z + <t>, <v:l>))"), ("filter", "[z for z in <v:l> if z.sum() > <C>]"),
        ("shape", "(<t>).shape"), ("dtype", "str((<t>).dtype)"), ("starred", "[*<v:l>, <t>]"), ("merge", "{**<v:d>, 'z': <t>}"), ("copy", "list(<v:l>)"),
        ("array", "<v:a>"), ("counter", "collections.Counter([<i> % 3, 1])"), ("deque", "collections.deque([<t>, <i>], maxlen=2)"), ("enumerate", "list(enumerate(<v:q>))"),
        ("nested comprehension", "[(p, z) for p in range(<i> % 3) for z in range(p)]"), ("frozenset", "frozenset(<v:q>)"), ("range", "range(<i>)"),
        ("partial", "functools.partial(helper, k=<F>)(<t>)"), ("grad", "ms.grad(lambda z: (z * z * <F>).sum())(<t>)"), ("vmap", "V(lambda z: z * <F> + 1.)(<t>)"),
        ("isinstance", "isinstance(<t>, T)"), ("bytes", "bytes([<i> % 7])"), ("complex", "complex(<i>, 1)"), ("itertools", "list(itertools.chain(<v:l>, <v:q>))"),
    ],
}  # fmt: skip

# what holds other statements stands behind MARK
SIMPLE: list[tuple[str, str]] = [
    ("assignment", "<n:t> = <t>"), ("assignment", "<n:t> = <t>"), ("assignment", "<n:t> = <t>"), ("alias", "<n:t> = <v:t>"), ("assignment", "<n:i> = <i>"), ("assignment", "<n:f> = <f>"),
    ("assignment", "<n:b> = <b>"), ("assignment", "<n:m> = <m>"), ("assignment", "<n:j> = <j>"), ("augmented tensor", "<r:t> += <t>"),
    ("augmented tensor", "<r:t> *= <F>"), ("augmented alias", "<n:t> = <v:t>\n<r:t> += <t>"), ("augmented alias", "<n:l> = <v:l>\n<r:l> += [<t>]"), ("augmented alias", "<v:o>.t = <v:t>\n<v:o>.t *= <F>"), ("augmented number", "<r:i> += <i>"), ("augmented number", "<r:f> *= <f>"), ("list", "<n:l> = [<t>, <t>]"),
    ("write of tensor", "<v:t>[<i> % 3] = <f>"), ("write of tensor", "<v:t>[0] = <s>"), ("write of tensor", "<v:t>[1] = <f>"), ("write of slice", "<v:t>[1:] = <F>"), ("write of slice", "<v:t>[:2] = (<t>)[1:]"),
    ("write at positions", "<v:t>[ops.abs(<j>) % 3] = <f>"), ("write at mask", "<v:t>[<v:t> > <C>] = <F>"), ("write of row", "<v:m>[1] = <t>"),
    ("view", "<n:t> = <v:m>[0]"), ("view", "<u1> = <v:t>[1:]\n<u1>[0] = <f>"), ("view", "<n:t> = <v:t>.reshape(3)"),
    ("alias", "<n:l> = <v:l>"), ("alias", "<n:o> = <v:o>"), ("append", "<v:l>.append(<t>)"), ("append", "LOG.append(<i>)"), ("append", "LOG.append(<w>)"), ("append", "<v:o>.log.append(<y>)"), ("extend", "<v:l>.extend([<t>])"),
    ("insert", "<v:l>.insert(<i>, <t>)"), ("pop", "<n:t> = <v:l>.pop()"), ("pop", "<n:t> = <v:l>.pop(0) if len(<v:l>) > 1 else <t>"), ("item of list", "<v:l>[0] = <t>"), ("item of list", "<v:l>[<i>] = <t>"),
    ("reverse", "<v:l>.reverse()"), ("item of dict", "<v:d>[<K>] = <t>"), ("update", "<v:d>.update(b=<t>)"), ("setdefault", "<n:t> = <v:d>.setdefault(<K>, <t>)"), ("pop of dict", "<v:d>.pop(<K>, None)"),
    ("set", "<v:q>.add(<i>)"), ("set", "<v:q>.discard(<i>)"), ("set", "<n:q> = <v:q> | {<i>}"), ("attribute", "<v:o>.t = <t>"), ("attribute", "<v:o>.k = <f>"), ("attribute", "<v:o>.n = <i>"),
    ("attribute", "<v:o>.n += 1"), ("attribute", "<v:o>.extra = <y>"), ("property", "<v:o>.level = <f>"), ("descriptor", "<v:o>.doubled = <t>"), ("setattr", "setattr(<v:o>, 'k', <f>)"),
    ("unpacking", "<n:t>, <n:i> = <t>, <i>"), ("starred", "<n:t>, *<n:l> = <v:l>"), ("starred", "*<n:l>, <n:t> = <v:l>"), ("starred", "<n:t>, *<n:l>, <u1> = [<t>, *<v:l>, <i>]"), ("swap", "<n:t>, <n:t> = <t>, <t>"), ("print", "print(<w>, <i>)"), ("print", "print('at', <i>, sep='')"),
    ("print of tensor", "print(<v:j>)"), ("global", "global G\nG = <f>"), ("global of list", "CONF['k'] = <f>"), ("assert", "assert <i> < 40, 'large'"), ("closure", "<n:c> = lambda z: z * <f> + <t>"), ("method", "<n:c> = <v:o>.scaled"),
    ("delete", "<u1> = <t>\ndel <u1>"), ("call for effect", "note(<i>)"), ("call for effect", "bump()"), ("parameter", "ops.assign(W, <t>)"), ("parameter", "W.set_data(<t>)"), ("parameter", "NET(<t>)"),
    ("delete", "del <v:l>[0]"), ("write of array", "<v:a>[1] = <F>"), ("write", "sys.stdout.write(<w>)"), ("slice of list", "<v:l>[1:] = [<t>]"), ("sort", "<u1> = [<i>, <i>, <i>]\n<u1>.sort(key=lambda z: -z)\nLOG.append(<u1>)"),
    ("unpacking", "(<n:i>, (<n:f>, <n:t>)) = <i>, (<f>, <t>)"), ("for of tensor", "<n:s> = 0.\nfor <u1> in <t>: <r:s> = <r:s> + <u1>"), ("pass", "pass"), ("annotation", "<n:f>: float = <f>"),
    ("multiple targets", "<n:t> = <n:t> = <t>"), ("walrus", "if (<u1:i> := <i>) > 1: LOG.append(<u1>)"), ("exec", "exec('LOG.append(7)')"), ("augmented attribute", "<v:o>.t += <t>"), ("augmented item", "<v:l>[0] *= <F>"),
    ("requires_grad", "W.requires_grad = <b>"), ("heapq", "heapq.heappush(HEAP, <i>)"), ("operator", "operator.setitem(CONF, 'k', <f>)"), ("getter of dict", "vars(<v:o>)['k'] = <f>"),
]  # fmt: skip
LEAVING: list[tuple[str, str]] = [("raise", "raise <E>(<i>)"), ("return", "return <y>"), ("return", "return <t>")]
IN_LOOPS: list[tuple[str, str]] = [
    ("break", "if <i> > <I>: break"), ("continue", "if <b>: continue"), ("break on tensor", "if <s> > <C>: break"), ("continue on tensor", "if <s> < <C>: continue"),
]  # fmt: skip
COMPOUND: list[tuple[str, str]] = [
    ("if on tensor", "if <s> > <C>:\n    <block>"), ("if on tensor", "if <s> > <C>:\n    <block>\nelse:\n    <block>"), ("if on tensor", "if <s> > <C> and <s> < <C>:\n    <block>\nelse:\n    <block>"),
    ("elif on tensor", "if <s> > <C>:\n    <block>\nelif <s> > <C>:\n    <block>\nelse:\n    <block>"), ("if", "if <b>:\n    <block>"), ("if", "if <i> > <I>:\n    <block>\nelse:\n    <block>"),
    ("for of range", "for <u1:i> in range(<i> % 4):\n    <loop>"), ("for of long range", "for <u1:i> in range(20):\n    <short>"), ("for of list", "for <u1> in <v:l>: <r:t> = <r:t> + <u1>"), ("list grows in its loop", "for <u1> in <r:l>:\n    if len(<r:l>) < 5: <r:l>.append(<u1> * 0.5)"), ("for of list", "for <u1:t> in list(<v:l>):\n    <loop>\nelse:\n    <block>"),
    ("for of dict", "for <u1>, <u2:t> in <v:d>.items():\n    <loop>"), ("for of set", "for <u1:i> in sorted(<v:q>):\n    <loop>"), ("enumerate", "for <u1:i>, <u2:t> in enumerate(list(<v:l>)):\n    <loop>"), ("zip", "for <u1:t>, <u2:i> in zip(<v:l>, (1, 2)):\n    <loop>"),
    ("for of tensor", "for <u1:s> in <t>:\n    <loop>"), ("for of generator", "for <u1:t> in gen(<t>, 2):\n    <loop>"), ("while", "<u1:i> = 0\nwhile <u1> < 3:\n    <u1> += 1\n    <short>"),
    ("while on tensor", "<u2> = 0\nwhile <s> < 6.3 and <u2> < 4:\n    <u2> = <u2> + 1\n    <r:t> = <r:t> + 1.\n    <short>\nLOG.append(<u2>)"), ("while on tensor", "<u3> = <t>\nwhile <u3>.sum() < 9.1:\n    <u3> = ops.abs(<u3>) * 2. + 1."),
    ("while true", "<u2> = 0\nwhile True:\n    <u2> = <u2> + 1\n    <short>\n    if <u2> > 2 or <s> > <C>: break"), ("for reversed", "for <u1:t> in reversed(list(<v:l>)):\n    <loop>"),
    ("try", "try:\n    <block>\n    <leave>\nexcept <E>:\n    <block>"), ("try", "try:\n    <block>\nexcept Exception:\n    <block>\nelse:\n    <block>"), ("finally", "try:\n    <block>\nfinally:\n    <block>"), ("try", "try:\n    <block>\n    <leave>\nexcept (ValueError, Oops) as <u1>:\n    LOG.append(<u1>.args)\nfinally:\n    <block>"),
    ("try on tensor", "try:\n    if <s> > <C>: raise Oops(<i>)\n    <block>\nexcept Oops:\n    <block>"), ("with", "with Manager(<w>):\n    <block>"), ("with", "with Manager(<w>) as <u1:f>:\n    <block>"), ("with suppress", "with contextlib.suppress(ValueError, KeyError, Oops):\n    <block>\n    <leave>"), ("contextmanager", "with managed(<t>) as <u1:t>:\n    <block>"), ("with swallowing", "with Swallow():\n    <block>\n    <leave>"),
    ("match", "match <i> % 4:\n    case 0:\n        <block>\n    case 1 | 2:\n        <block>\n    case _:\n        <block>"), ("match sequence", "match [<i>, <t>]:\n    case [0, <u1:t>]:\n        <block>\n    case [<u2:i>, *_] if <u2> > 1:\n        <block>"), ("match class", "match <v:o>:\n    case Box(n=<u1:i>) if <u1> > <I>:\n        <block>\n    case Box(k=<u2:f>):\n        <block>"), ("match mapping", "match <v:d>:\n    case {'b': <u1:t>}:\n        <block>\n    case {'a': <u2:t>, **<u3>}:\n        <block>"),
    ("def", "def <n:c>(z):\n    <body>\n    return <t>"), ("def with default", "def <n:c>(z, k=<f>):\n    <body>\n    return z * k + <t>"), ("nonlocal", "def <u1>(z):\n    nonlocal <x:t>\n    <same> = <t>\n    return z\n<n:t> = <u1>(<t>)"), ("nonlocal number", "def <u1>():\n    nonlocal <x:i>\n    <same> += 1\n    return <same>\n<n:i> = <u1>() + <u1>()"),
    ("local generator", "def <u1>():\n    for z in <v:l>:\n        yield z * <F>\n    note(<i>)\n<n:l> = list(<u1>())"), ("local class", "class <u1>(Box):\n    def scaled(self, z): return super().scaled(z) + <t>\n<n:o> = <u1>(<f>)"), ("closure in loop", "<u1> = []\nfor <u2> in range(3): <u1>.append(lambda z, k=<u2>: z * k + <u2>)\n<n:t> = <u1>[0](<t>)"), ("decorated def", "@twice\ndef <n:c>(z):\n    return z + <t>"), ("yield from", "def <u1>():\n    yield from <v:l>\n    yield <t>\n<n:t> = sum(<u1>())"), ("recursive closure", "def <u1>(z, k):\n    return z if k <= 0 else <u1>(z * 0.5 + <t>, k - 1)\n<n:t> = <u1>(<t>, 2)"),
    ("async", "async def <u1>(z): return z + <t>\n<n:t> = run(<u1>(<t>))"), ("iterator", "<u1> = iter(<v:l>)\n<n:t> = next(<u1>, <t>)\nLOG.append(len(list(<u1>)))"), ("deque", "<u1> = collections.deque([<t>], maxlen=2)\n<u1>.append(<t>)\n<u1>.appendleft(<t>)\n<n:t> = <u1>[-1]"), ("send", "<u1> = talker()\nnext(<u1>)\n<n:t> = <u1>.send(<t>)"),
]  # fmt: skip

PRELUDE = """\
import collections, contextlib, dataclasses, functools, heapq, itertools, math, operator, sys
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
"""
