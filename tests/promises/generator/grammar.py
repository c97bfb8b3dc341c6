"""What a generated program may be made of: templates of expressions and statements, each with the construct it shows.

A hole stands for something to be chosen:

    <t>        an expression of the kind `t`          <v:t>   a variable of the kind `t`
    <n:t>      a name that holds a `t` from now on    <u1>    a name used nowhere else (`<u1:t>`: it holds a `t`)
    <r:t>      a variable of this function, the same in the whole template; `<x:t>`, `<same>`: for `nonlocal`
    <block>    statements, further in (`<loop>`: of a loop, `<short>`: only a few, `<leave>`: perhaps an exit)
    <body>     the statements of a function, whose variables are its own

Kinds: `t` a vector of three floats, `s` a tensor of one number, `m` a matrix, `j` a vector of three ints, `i` `f` `b`
numbers of Python, `l` a list of `t`, `d` a dict of `t`, `o` an object, `c` a function from `t` to `t`, `q` a set of
ints, `a` a NumPy array, `w` text, `h` a list of numbers, `p` a tuple of a tensor and a number. All numbers are multiples of a quarter, small, and operations that round are few, so
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
AS_LARGE = {  # as large as `x`, and how large that is
    "L": [
        "x",
        "ops.zeros_like(x)",
        "(x * 0.5)",
        "(1. - x)",
        "x[::-1]",
        "ops.ones(x.shape)",
        "ops.arange(len(x)).astype('float32')",
    ],
    "i": ["x.shape[0]", "len(x)", "x.size"],
    "b": ["(len(x) > 2)", "(x.shape[0] == 4)", "(x.size < 6)", "(len(x) % 2 == 0)"],
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
        ("tuple", "<v:p>[0]"), ("number of list", "<v:t> * <v:h>[-1]"), ("number of list", "<v:t> + <v:h>[0]"), ("array in an operation", "<v:t> + float(<v:a>.sum())"), ("array in an operation", "<v:t> * <v:a>.tolist()[1]"), ("class attribute", "<t> * Box.base"),
        ("object behind", "HOME.scaled(<t>)"), ("object behind", "HOME.prop"), ("object behind", "HOME(<t>) + HOME.half(<t>)"), ("long list", "MANY[<i> % 9]"), ("long list", "sum(MANY)"), ("positions", "(<t>)[<j>]"), ("positions", "(<t>)[(<j>)[<i> % 3]] * <t>"), ("identity in a way", "(<t> if <v:t> is <v:t> else <t>)"),
        ("class attribute", "<t> - type(<v:o>).base"), ("loop over array", "sum(<v:t> * float(z) for z in <v:a>)"), ("several bases", "Both().step(<t>, <i>, k=<f>)"), ("keyword only", "only(<t>, <f>, scale=<f>, extra=<i>)"), ("decorator with effect", "shifted(<t>, by=<f>)"),
        ("frozen dataclass", "Fixed(<t>, <f>).grown(<f>).t"), ("operator method", "(Bag(<t>, <t>) @ <t>)"), ("operator method", "(<f> * Bag(<t>))[0]"), ("getattr of class", "Loose(<t>).abc"), ("cached property", "Loose(<t>).third"), ("generator", "sum(closing(<t>))"), ("exception", "positive(<s>) * <t>"),
        ("accumulate", "list(itertools.accumulate(<v:l>))[-1]"), ("late binding", "[lambda z: z * k for k in range(3)][0](<t>)"), ("context variable", "<t> * VAR.get()"), ("chained comparison", "(<t> if <C> < <s> < <C> else <t>)"), ("default that is kept", "kept(<t>)"), ("unpacking", "(lambda p, *r: p + len(r))(<t>, *<v:l>)"),
        ("star call", "star(*[z * <F> for z in <v:l>], **dict(k=<f>))"), ("nested function", "twice(lambda z: z * <F>)(<t>)"), ("max of list", "max(<v:l>, key=lambda z: float(z.sum()))"), ("method of class", "Box.scaled(<v:o>, <t>)"), ("map", "sum(map(helper, <v:l>))"),
        ("array in an operation", "ops.where(<t> > <C>, <t>, <v:a>)"), ("array in an operation", "(<v:t> - <v:a>)"), ("array as index", "(<t>)[IDX]"), ("array with tensor", "T(<v:a>) + <t>"), ("class of number", "(<v:j> * <v:i>) * <t>"), ("class of number", "(<v:t> if isinstance(<v:f>, float) else -<v:t>)"), ("class of number", "(<v:t> if isinstance(<v:i>, bool) else <v:t> * 2.)"),
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
        ("class of number", "T([1, 2, 3]) * <v:i>"), ("class of number", "T([1, 2, 3]) + <v:f>"), ("class of number", "ops.arange(3) * <v:h>[0]"),
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
        ("number of list", "<v:h>[-1]"), ("number of tuple", "<v:p>[1]"), ("length", "len(<v:h>)"), ("global", "LIMIT"), ("class attribute", "Bag.made"), ("length", "len(Bag(<t>, <t>))"), ("nested conditional", "(1 if <b> else 2 if <b> else 3)"), ("or of numbers", "(<i> or <i>)"), ("and of numbers", "(<i> and <i>)"), ("power", "(<i>) ** 2"),
        ("index", "(*NAMES, 'c').index(<K>)"), ("shift", "(1 << <i> % 5)"), ("negative", "-(<i>)"), ("divmod", "divmod(<i>, 3)[1]"), ("enum", "Mode(<i> % 2 + 1).value"), ("argument", "sum([z for z in <v:h> if z > <i>])"), ("count of list", "<v:h>.count(<i>)"), ("hash of number", "{1: 5, 2: 6}[<i> % 2 + 1]"),
    ],
    "f": [
        ("number", "<F>"), ("name", "<v:f>"), ("name", "<v:f>"), ("global", "G"), ("attribute", "<v:o>.k"), ("subscript", "CONF['k']"),
        ("element of array", "float(<v:a>[0])"),
        ("arithmetic of numbers", "<f> <op> <f>"), ("division", "<f> / 2"), ("division", "<i> / 4"), ("conversion", "float(<i>)"), ("number from tensor", "float(<s>)"),
        ("number from tensor", "<s>.item()"), ("power", "0.5 ** (<i> % 3)"), ("conditional expression", "(<f> if <b> else <f>)"),
        ("max of numbers", "min(<f>, <f>)"), ("round", "round(<f>, 1)"), ("math", "math.floor(<f>) * 0.5"), ("sum of list", "sum([<f>, <f>])"),
        ("property", "<v:o>.level"), ("remainder", "<f> % 2.0"), ("abs", "abs(<f>)"), ("division", "<f> / <f>"),
        ("number of list", "<v:h>[0]"), ("sign of zero", "math.copysign(2.0, <f>)"), ("sign of zero", "math.copysign(1.0, <v:f>)"), ("class attribute", "type(<v:o>).base"), ("class attribute", "Box.base"), ("array", "float(<v:a>.max())"), ("array", "<v:a>.tolist()[0]"), ("sum of list", "sum(<v:h>)"), ("maximum of list", "max(<v:h>)"), ("context variable", "VAR.get()"),
        ("zero", "<f> * 0.0"), ("negative", "-(<f>)"), ("exception", "positive(<f>)"), ("or of numbers", "(<f> or <F>)"), ("get of dict", "CONF.get(<K>, <f>)"), ("frozen dataclass", "Fixed(None, <f>).k"), ("number of tuple", "<v:p>[1] * 0.5"), ("true division", "<i> / 2"),
    ],
    "b": [
        ("truth", "True"), ("name", "<v:b>"), ("membership", "<I> in <v:q>"), ("identity", "<v:t> is <v:t>"), ("membership", "<K> in <v:d>"),
        ("comparison", "<i> <cmp> <i>"), ("comparison", "<f> <cmp> <C>"), ("chained comparison", "-2 < <i> <= 2"),
        ("isinstance", "isinstance(<i>, int)"), ("isinstance", "isinstance(<f>, float)"), ("not", "(not <b>)"), ("and or", "(<b> and <b>)"),
        ("and or", "(<b> or <b>)"), ("membership", "<i> in {0, 2}"), ("truth of tensor", "bool(<s> > <C>)"), ("any", "any(z.sum() > <C> for z in <v:l>)"),
        ("all", "all(z > 0 for z in <v:q>)"), ("hasattr", "hasattr(<v:o>, 't')"), ("identity", "<v:l> is <v:l>"), ("truth of list", "bool(<v:l>)"),
        ("identity", "<v:o>.t is <v:t>"), ("callable", "callable(<v:c>)"), ("type", "type(<i>) is int"),
        ("is not", "<v:t> is not <v:t>"), ("is not", "<v:l> is not <v:l>"), ("is not", "<v:d>.get(<K>) is not None"), ("is not", "<v:o>.t is not <v:t>"), ("is not", "type(<i>) is not int"), ("not in", "<i> not in <v:q>"), ("not in", "<K> not in <v:d>"), ("chained comparison", "<I> <= <i> < <I>"), ("chained comparison", "<C> < <f> <= <C>"), ("chained comparison", "bool(<C> < <s> < <C>)"),
        ("chained comparison", "<i> == <i> != <i>"), ("chained comparison", "<i> < <i> < <i> < 9"), ("class of number", "isinstance(<i>, bool)"), ("class of number", "type(<f>) is float"), ("class of number", "type(<v:h>[0]) is int"), ("class of number", "<i> is True"), ("equal and another", "str(<f>) == '-0.0'"), ("truth of object", "bool(Bag(<t>, <t>))"), ("equality of objects", "Bag(<t>) == Bag(<t>)"), ("equality of objects", "Point(<i>, <i>) == Point(<i>, 1)"),
        ("membership", "<i> in Bag(<t>, <t>)"), ("membership", "<i> in <v:h>"), ("none", "<v:d>.get(<K>) is None"), ("array", "bool(<v:a>[0] > <C>)"), ("array", "float(<v:a>[1]) < <C>"), ("all of tensors", "all(z.max() < <C> for z in <v:l>)"), ("equality of lists", "<v:h> == [<i>, <f>]"), ("subclass", "isinstance(<v:o>, Sub)"), ("enum", "Mode(<i> % 2 + 1) is Mode.FAST"), ("comparison", "<i> == <f>"), ("xor", "(<b>) ^ (<b>)"), ("comparison of tensors", "bool(<s> <= <C>)"), ("comparison of tensors", "bool(<C> <= <s>)"),
        ("class of number", "isinstance(<v:i>, int)"), ("class of number", "type(<v:i>) is bool"), ("class of number", "type(<v:f>) is float"), ("class of object", "type(<v:o>) is Sub"),
    ],
    "w": [
        ("text", "'x'"), ("name", "<v:w>"), ("f-string", 'f"{<i>}"'), ("f-string", 'f"{<f>:.2f}"'), ("format", "'%d' % <i>"), ("str", "str(<i>)"), ("method of text", "'ab'.upper()"),
        ("type", "type(<i>).__name__"), ("join", "'-'.join(str(z) for z in sorted(<v:q>))"), ("f-string", 'f"{<b>}"'),
        ("kind of number", "kind_of(<i>)"), ("kind of number", "kind_of(<f>)"), ("match", "kind_of(<y>)"), ("f-string", 'f"{<f>}"'), ("format", "'{:>4}|{!r}'.format(<i>, <w>)"), ("f-string of tensor", 'f"{<v:j>.sum()}"'), ("singledispatch", "kindly(<i>)"), ("singledispatch", "kindly(<f>)"), ("repr", "repr(<v:h>)"), ("repr", "repr(<f>)"), ("format", "'{} {k}'.format(<i>, k=<f>)"), ("replace", "'a-b'.replace('-', <w>)"), ("enum", "Mode(<i> % 2 + 1).name"), ("name of class", "type(<v:o>).__name__"),
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
        ("list", "<v:h>"), ("tuple", "<v:p>"), ("number", "<f>"), ("bool", "<b>"), ("kind of number", "kind_of(<y>)"), ("frozen dataclass", "Fixed(<t>, <f>)"), ("object", "Bag(<t>)"), ("list comprehension", "[z for z in <v:h> if z > <F>]"), ("dict comprehension", "{k: v * 2. for k, v in <v:d>.items() if k != <K>}"), ("generator expression", "tuple(z + 1. for z in <v:l> if <b>)"), ("walrus in comprehension", "[(u := z * 2) + u for z in <v:h>]"),
        ("dict union", "<v:d> | {'z': <t>}"), ("zip strict", "dict(zip(NAMES, <v:l>))"), ("any", "any(z > <F> for z in <v:h>)"), ("sorted", "sorted(<v:h>, reverse=<b>)"), ("sum of floats", "sum(<v:h>, <f>)"), ("min of list", "min(<v:h>, key=abs)"), ("numbers", "[type(z).__name__ for z in <v:h>]"), ("dict of numbers", "{z: type(z).__name__ for z in <v:h>}"), ("numbers", "(<f>, <i>, <b>)"), ("array of list", "np.array([<f>, <i>])"), ("tensor of list", "T([<f>, <f>])"), ("tensor of number", "T(<f>)"),
        ("keys", "[*<v:d>]"), ("nested", "[[<f>], {'k': (<i>, <w>)}]"), ("itertools", "list(itertools.product(range(<i> % 3), 'ab'))"), ("groupby", "[(k, len(list(g))) for k, g in itertools.groupby(<v:h>, key=lambda z: z > 1)]"), ("reversed", "list(reversed(<v:h>))"), ("slice", "<v:h>[::-1]"), ("enum", "Mode(<i> % 2 + 1)"), ("ellipsis", "(<t>)[..., None].shape"), ("isinstance", "isinstance(<v:o>, (Sub, Point))"), ("type", "type(<f>)"),
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
    ("write of array", "<v:t>[:] = <v:a>"), ("array as index", "<v:t>[IDX] = <f>"), ("array as index", "<n:t> = <v:m>[:, IDX][1]"), ("write of array", "IDX[1] = <i> % 3"), ("assert", "assert <b>"), ("assert", "assert <i> != <i>, <w>"), ("assert on tensor", "assert <s> < <C>, <i>"), ("assert on tensor", "assert <C> < <s>"), ("assert on tensor", "assert <C> < <s> < 40.1, 'far'"), ("number of list", "<v:h>[0] = <f>"), ("number of list", "<v:h>.append(<i>)"), ("number of list", "<v:h>[-1] += <i>"), ("sort", "<v:h>.sort()"), ("sort", "<v:h>.sort(key=lambda z: -z)"), ("remove", "<v:h>.remove(<i>)"), ("clear", "<v:h>.clear()"), ("tuple", "<n:t>, <n:i> = <v:p>"), ("tuple", "<n:p> = (<t>, <i>)"), ("tuple", "<n:p> = (*<v:p>[:1], <f>)"),
    ("write of one of two on tensor", "<u1> = <v:t> if <s> > <C> else <v:t>\n<u2> = <u1>[:2]\n<u2>[0] = <f>"), ("write of one of two on tensor", "<u1> = (<v:t> if <s> > <C> else <v:t>)[1:]\n<v:t>[1] = <f>\nLOG.append(<u1> * 1.)"),
    ("write beside", "<v:t>[<i> % 3] = <f>\n<n:t> = <v:t> * 1."), ("write beside", "<v:t>[0] = <f>\nLOG.append(<v:t> is <v:t>)"), ("write beside", "<v:t>[:2] *= <F>\n<n:t> = <v:t> + <v:t>"), ("write beside", "<v:o>.t[0] = <f>\n<n:t> = <v:t> - 1."), ("append beside", "<v:l>.append(<t>)\n<n:i> = len(<v:l>) + len(<v:l>)"), ("object behind", "HOME.k = <f>"), ("object behind", "HOME.t[1] = <f>"), ("object behind", "HOME.n += 1"),
    ("long list", "MANY[<i> % 9] = <t>"), ("long list", "MANY.append(<t>)"), ("write of long list", "MANY[<i> % 9][0] = <f>"), ("write at positions", "<v:t>[<j>] = <f>"), ("write at position", "<v:t>[(<j>)[0]] = <s>"),
    ("class attribute", "Box.base = <f>"), ("class attribute", "type(<v:o>).base = <f>"), ("class attribute", "Bag.made += 1"), ("attribute of class by object", "<v:o>.base = <f>"), ("delete of attribute", "del <v:o>.t"), ("delete of attribute", "<v:o>.base = 3.\ndel <v:o>.base"), ("delete of key", "del <v:d>[<K>]"), ("context variable", "VAR.set(<f>)"), ("object", "<u1> = Bag(<t>, <t>)\n<u1>[0] = <t>\n<u1> += <t>\n<n:t> = sum(<u1>)\n<n:i> = len(<u1>)"), ("object", "<u1> = Bag(<t>, <t>)\ndel <u1>[<i> % 2]\n<n:l> = list(<u1>)"), ("getattr of class", "<u1> = Loose(<t>)\n<u1>.t = <t>\n<n:t> = <u1>.ab + <u1>.third + <u1>.third"), ("frozen dataclass", "<u1> = Fixed(<t>, <f>)\n<u1>.t[0] = <f>\n<n:t> = <u1>.t"),
    ("assignment", "<n:b> = <b>"), ("assignment", "<n:w> = <w>"), ("assignment", "<n:h> = [<i>, <f>, <f>]"), ("alias", "<n:h> = <v:h>"), ("augmented number", "<r:i> *= <i>"), ("augmented number", "<r:f> -= <f>"), ("augmented number", "<r:i> //= 2"), ("augmented tensor", "<r:t> -= <t>"), ("augmented tensor", "<r:t> = <r:t> * <f>"), ("late binding", "<n:f> = <f>\n<u1> = lambda z: z * <r:f>\n<r:f> = <f>\n<n:t> = <u1>(<t>)"), ("write of slice", "<v:t>[:2] += <F>"), ("write of slice", "<v:t>[::2] = <F>"), ("view", "<u1> = <v:m>[0]\n<u1>[1] = <f>\n<n:t> = <v:m>[0]"), ("view", "<u1> = <v:t>.reshape(3, 1)\n<v:t>[1] = <f>\n<n:t> = <u1>[:, 0]"), ("view", "<u1> = <v:m>.T\n<v:m>[0] = <t>\n<n:t> = <u1>[:, 0]"), ("view of view", "<u1> = <v:t>[1:]\n<u2> = <u1>[1:]\n<u2>[0] = <f>\n<n:t> = <v:t> * 1."), ("write through two", "<u1> = <v:t>[:2]\n<u2> = <v:t>[1:]\n<u1>[1] = <f>\n<n:s> = <u2>[0]"), ("copy", "<n:t> = <v:t>.copy()\n<r:t>[0] = <F>"), ("write of array", "<v:a>[0] += <F>"), ("array of array", "<u1> = <v:a>.copy()\n<u1>[0] = <F>\n<n:t> = T(<u1>)"), ("print of number", "print(<f>, <i>, <b>)"), ("print of tensor", "print('sum', <s>)"), ("print with f-string", "print('%s %s' % (<w>, <i>))"), ("nested write", "<v:o>.log.append([<f>])\n<v:o>.log[-1].append(<t>)"), ("dict of lists", "<u1> = {'k': []}\n<u1>['k'].append(<t>)\n<n:l> = <u1>['k']"), ("defaultdict", "<u1> = collections.defaultdict(list)\n<u1>[<i>].append(<t>)\nLOG.append(sorted(<u1>))"), ("conditional effect", "<b> and LOG.append(<i>)"), ("conditional effect", "LOG.append(<f>) if <s> > <C> else None"), ("set", "<n:q> = <v:q> - {<i>}"), ("set", "<v:q>.update([<i>])"), ("extend", "<r:l> += [<t>]"), ("unpacking", "<n:f>, *<u1> = <v:h>"), ("generator", "<u1> = (z * <r:t> for z in <v:l>)\n<r:t> = <t>\n<n:t> = sum(<u1>)"), ("generator", "<u1> = closing(<t>)\n<n:t> = next(<u1>)\n<u1>.close()"), ("enum", "if Mode(<i> % 2 + 1) is Mode.FAST: LOG.append('fast')"), ("type", "LOG.append(type(<f>).__name__)"), ("truth of number", "if <f>: LOG.append(<f>)"), ("append", "LOG.append((<f>, <i>))"), ("global of number", "global GI\nGI = <i>"), ("global of tensor", "global GT\nGT = <t>"),
]  # fmt: skip
LEAVING: list[tuple[str, str]] = [
    ("raise", "raise <E>(<i>)"),
    ("return", "return <y>"),
    ("return", "return <t>"),
    ("assert", "assert <i> > 9, <w>"),
    ("raise", "raise Oops(<f>) from ValueError(<i>)"),
    ("exception", "positive(-1)"),
]
IN_LOOPS: list[tuple[str, str]] = [
    ("break", "if <i> > <I>: break"), ("continue", "if <b>: continue"), ("break on tensor", "if <s> > <C>: break"), ("continue on tensor", "if <s> < <C>: continue"),
    ("break", "if <b>: break"), ("continue", "if <i> != <I>: continue"), ("break", "if <b> and <i> < <I>: break"), ("return in loop", "if <s> > 5.1: return <t>"), ("raise in loop", "if <s> > 6.1: raise Oops(<i>)"),
]  # fmt: skip
COMPOUND: list[tuple[str, str]] = [
    ("if on tensor", "if <s> > <C>:\n    <block>"), ("if on tensor", "if <s> > <C>:\n    <block>\nelse:\n    <block>"), ("if on tensor", "if <s> > <C> and <s> < <C>:\n    <block>\nelse:\n    <block>"),
    ("elif on tensor", "if <s> > <C>:\n    <block>\nelif <s> > <C>:\n    <block>\nelse:\n    <block>"), ("if", "if <b>:\n    <block>"), ("if", "if <i> > <I>:\n    <block>\nelse:\n    <block>"),
    ("for of range", "for <u1:i> in range(<i> % 4):\n    <loop>"), ("for of long range", "for <u1:i> in range(20):\n    <short>"), ("for of list", "for <u1> in <v:l>: <r:t> = <r:t> + <u1>"), ("list grows in its loop", "for <u1> in <r:l>:\n    if len(<r:l>) < 5: <r:l>.append(<u1> * 0.5)"), ("for of list", "for <u1:t> in list(<v:l>)[:6]:\n    <loop>\nelse:\n    <block>"),
    ("for of dict", "for <u1>, <u2:t> in <v:d>.items():\n    <loop>"), ("for of set", "for <u1:i> in sorted(<v:q>):\n    <loop>"), ("enumerate", "for <u1:i>, <u2:t> in enumerate(list(<v:l>)[:6]):\n    <loop>"), ("zip", "for <u1:t>, <u2:i> in zip(<v:l>, (1, 2)):\n    <loop>"),
    ("for of tensor", "for <u1:s> in <t>:\n    <loop>"), ("for of generator", "for <u1:t> in gen(<t>, 2):\n    <loop>"), ("while", "<u1:i> = 0\nwhile <u1> < 3:\n    <u1> += 1\n    <short>"),
    ("while on tensor", "<u2> = 0\nwhile <s> < 6.3 and <u2> < 4:\n    <u2> = <u2> + 1\n    <r:t> = <r:t> + 1.\n    <short>\nLOG.append(<u2>)"), ("while on tensor", "<u3> = <t>\nwhile <u3>.sum() < 9.1:\n    <u3> = ops.abs(<u3>) * 2. + 1."),
    ("while true", "<u2> = 0\nwhile True:\n    <u2> = <u2> + 1\n    <short>\n    if <u2> > 2 or <s> > <C>: break"), ("for reversed", "for <u1:t> in reversed(list(<v:l>)[-6:]):\n    <loop>"),
    ("try", "try:\n    <block>\n    <leave>\nexcept <E>:\n    <block>"), ("try", "try:\n    <block>\nexcept Exception:\n    <block>\nelse:\n    <block>"), ("finally", "try:\n    <block>\nfinally:\n    <block>"), ("try", "try:\n    <block>\n    <leave>\nexcept (ValueError, Oops) as <u1>:\n    LOG.append(<u1>.args)\nfinally:\n    <block>"),
    ("try on tensor", "try:\n    if <s> > <C>: raise Oops(<i>)\n    <block>\nexcept Oops:\n    <block>"), ("with", "with Manager(<w>):\n    <block>"), ("with", "with Manager(<w>) as <u1:f>:\n    <block>"), ("with suppress", "with contextlib.suppress(ValueError, KeyError, Oops):\n    <block>\n    <leave>"), ("contextmanager", "with managed(<t>) as <u1:t>:\n    <block>"), ("with swallowing", "with Swallow():\n    <block>\n    <leave>"),
    ("match", "match <i> % 4:\n    case 0:\n        <block>\n    case 1 | 2:\n        <block>\n    case _:\n        <block>"), ("match sequence", "match [<i>, <t>]:\n    case [0, <u1:t>]:\n        <block>\n    case [<u2:i>, *_] if <u2> > 1:\n        <block>"), ("match class", "match <v:o>:\n    case Box(n=<u1:i>) if <u1> > <I>:\n        <block>\n    case Box(k=<u2:f>):\n        <block>"), ("match mapping", "match <v:d>:\n    case {'b': <u1:t>}:\n        <block>\n    case {'a': <u2:t>, **<u3>}:\n        <block>"),
    ("def", "def <n:c>(z):\n    <body>\n    return <t>"), ("def with default", "def <n:c>(z, k=<f>):\n    <body>\n    return z * k + <t>"), ("nonlocal", "def <u1>(z):\n    nonlocal <x:t>\n    <same> = <t>\n    return z\n<n:t> = <u1>(<t>)"), ("nonlocal number", "def <u1>():\n    nonlocal <x:i>\n    <same> += 1\n    return <same>\n<n:i> = <u1>() + <u1>()"),
    ("local generator", "def <u1>():\n    for z in <v:l>:\n        yield z * <F>\n    note(<i>)\n<n:l> = list(<u1>())"), ("local class", "class <u1>(Box):\n    def scaled(self, z): return super().scaled(z) + <t>\n<n:o> = <u1>(<f>)"), ("closure in loop", "<u1> = []\nfor <u2> in range(3): <u1>.append(lambda z, k=<u2>: z * k + <u2>)\n<n:t> = <u1>[0](<t>)"), ("decorated def", "@twice\ndef <n:c>(z):\n    return z + <t>"), ("yield from", "def <u1>():\n    yield from <v:l>\n    yield <t>\n<n:t> = sum(<u1>())"), ("recursive closure", "def <u1>(z, k):\n    return z if k <= 0 else <u1>(z * 0.5 + <t>, k - 1)\n<n:t> = <u1>(<t>, 2)"),
    ("async", "async def <u1>(z): return z + <t>\n<n:t> = run(<u1>(<t>))"), ("iterator", "<u1> = iter(<v:l>)\n<n:t> = next(<u1>, <t>)\nLOG.append(len(list(<u1>)))"), ("deque", "<u1> = collections.deque([<t>], maxlen=2)\n<u1>.append(<t>)\n<u1>.appendleft(<t>)\n<n:t> = <u1>[-1]"), ("send", "<u1> = talker()\nnext(<u1>)\n<n:t> = <u1>.send(<t>)"),
    ("if", "if <b>:\n    <block>\nelse:\n    <block>"), ("if", "if <b>:\n    <block>\nelif <b>:\n    <block>\nelse:\n    <block>"), ("if on chain", "if <C> < <s> < <C>:\n    <block>\nelse:\n    <block>"), ("if not", "if not <s> > <C>:\n    <block>"), ("if on tensor", "if <s> > <C> or <b>:\n    <block>\nelse:\n    <block>"), ("if on tensor", "if <C> >= <s>:\n    <block>\nelse:\n    <block>"), ("return on tensor", "if <s> > <C>:\n    return <y>"), ("return on tensor", "if <s> > <C>:\n    <block>\n    return <t>\nelif <b>:\n    <block>"), ("while else", "<u1:i> = 0\nwhile <u1> < <i> % 4:\n    <u1> += 1\n    <loop>\nelse:\n    <block>"), ("for of numbers", "for <u1:f> in <v:h>:\n    <loop>"), ("for of array", "for <u1> in <v:a>:\n    <r:t> = <r:t> * 0.5 + float(<u1>)"), ("for of keys", "for <u1> in <v:d>:\n    LOG.append(<u1>)\n    <loop>"), ("nested for", "for <u1:i> in range(2):\n    for <u2:i> in range(<u1> + 1):\n        <short>"), ("for of range on tensor", "for <u1:i> in range(6):\n    <r:t> = <r:t> + <u1>\n    if <r:t>.sum() > 9.1: break\nelse:\n    <block>"),
    ("if on size", "if len(<v:t>) > <I>:\n    <block>\nelse:\n    <block>"), ("if on size", "if <v:t>.shape[0] % 2 == 0:\n    <block>"),
    ("assert caught", "try:\n    assert <b>, <w>\n    <block>\nexcept AssertionError as <u1>:\n    LOG.append(<u1>.args)"), ("assert caught on tensor", "try:\n    assert <s> < <C>\n    <block>\nexcept AssertionError:\n    <block>"), ("try in loop", "for <u1:i> in range(3):\n    try:\n        if <u1> == <i>: raise Oops(<u1>)\n        <short>\n    except Oops as <u2>:\n        LOG.append(<u2>.args)\n        continue\n    finally:\n        <short>"), ("reraise", "try:\n    try:\n        <block>\n        <leave>\n    except Oops:\n        LOG.append('seen')\n        raise\nexcept (Oops, ValueError):\n    <block>"), ("raise from", "try:\n    try: positive(<f>)\n    except ValueError as <u1>: raise Oops('from') from <u1>\nexcept Oops as <u2>:\n    LOG.append(type(<u2>.__cause__).__name__)"), ("lookup error", "try:\n    <n:t> = <v:d>[<K>]\nexcept KeyError:\n    <block>"), ("lookup error", "try:\n    LOG.append(<v:h>[<i>])\nexcept IndexError:\n    <block>"), ("division by zero", "try:\n    LOG.append(<i> // <i>)\nexcept ZeroDivisionError as <u1>:\n    LOG.append(str(<u1>))"), ("return in finally", "def <u1>(z):\n    try:\n        if <b>: return z\n        <leave>\n    finally:\n        LOG.append('last')\n    return z * 2.\n<n:t> = <u1>(<t>)"), ("two managers", "with Manager(<w>), Swallow():\n    <block>\n    <leave>"), ("exit stack", "with contextlib.ExitStack() as <u1>:\n    <u1>.callback(LOG.append, <i>)\n    <block>"), ("with in loop", "for <u1:i> in range(2):\n    with Manager(<u1>):\n        if <b>: break\n        <short>"),
    ("match numbers", "match <f>:\n    case 0.5 | 2.0:\n        <block>\n    case float():\n        <block>\n    case _:\n        <block>"), ("match numbers", "match <i>:\n    case True:\n        <block>\n    case 1 | 2:\n        <block>\n    case int(<u1>) if <u1> > 2:\n        <block>"), ("match tuple", "match <v:p>:\n    case (<u1:t>, 0 | 1):\n        <block>\n    case (<u2:t>, <u3:i>):\n        <block>"), ("match dataclass", "match Point(<t>, <i>):\n    case Point(n=1):\n        <block>\n    case Point(<u1:t>, <u2:i>):\n        <block>"), ("match list", "match <v:h>:\n    case []:\n        <block>\n    case [<u1:i>]:\n        <block>\n    case [<u2:i>, *<u3>]:\n        <block>"), ("def with options", "def <u1>(z, *rest, k=<f>, **kw):\n    <body>\n    return z * k + len(rest) + len(kw)\n<n:t> = <u1>(<t>, *<v:h>, **{'p': 1})"), ("def with mutable default", "def <u1>(z, seen=[]):\n    seen.append(len(seen))\n    return z + len(seen)\n<n:t> = <u1>(<t>) + <u1>(<t>)"), ("closure counter", "def <u1>():\n    k = 0\n    def inner(z):\n        nonlocal k\n        k += 1\n        return z * k\n    return inner\n<u2> = <u1>()\n<n:t> = <u2>(<t>) + <u2>(<t>)"), ("local dataclass", "@dataclasses.dataclass\nclass <u1>:\n    t: object\n    k: float = <f>\n    def both(self): return self.t * self.k\n<n:t> = <u1>(<t>).both()"), ("local class", "class <u1>:\n    k = <f>\n    def __init__(self, t): self.t = t\n    def __call__(self, z): return z * self.k + self.t\n    @property\n    def twofold(self): return self.t * 2.\n<n:t> = <u1>(<t>)(<t>) + <u1>(<t>).twofold"),
    ("generator with try", "def <u1>():\n    try:\n        for z in <v:l>:\n            if z.sum() > <C>: return\n            yield z\n    finally:\n        LOG.append('end')\n<n:l> = [*<u1>()]"), ("generator of numbers", "def <u1>(k):\n    while k > 0:\n        yield k\n        k -= 1\nfor <u2:i> in <u1>(<i> % 4):\n    <short>"), ("comprehension of tensors", "<n:l> = [z * k for k, z in enumerate(<v:l>) if k != <I>]"), ("recursion over list", "def <u1>(z, rest):\n    return z if not rest else <u1>(z + rest[0], rest[1:])\n<n:t> = <u1>(<t>, <v:l>)"), ("recursion on tensor", "def <u1>(z, k):\n    if k <= 0 or z.sum() > 7.1: return z\n    return <u1>(z + <F>, k - 1)\n<n:t> = <u1>(<t>, 4)"), ("swap of lists", "<n:l>, <n:l> = <v:l>, [<t>]"), ("throw", "<u1> = closing(<t>)\nnext(<u1>)\ntry: <u1>.throw(Oops(1))\nexcept Oops: LOG.append('thrown')"),
]  # fmt: skip
