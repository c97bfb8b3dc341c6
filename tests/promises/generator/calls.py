"""The calls of a generated program: what changes between them, and what is looked at afterwards."""

# ruff: noqa: E501 (tables of templates)
from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.promises.generator.writer import Writer

FIRST = {
    "x": ["T([1., 2., 3.])", "T([-1., 0.5, 2.])"],
    "y": ["T([0.5, 0.5, -2.])", "x"],
    "n": ["1", "2", "0", "3", "True"],
    "k": ["0.5", "2.0", "-1.0", "0.0", "1.0"],
    "items": ["[T([1., 0., 1.]), T([2., -1., 0.5])]", "[x, x]", "[x]"],
    "table": ["{'a': T([1., 1., 2.])}", "{'a': x, 'b': T([0., 3., 1.])}"],
    "box": ["Box(0.5)", "Sub(2.0)"],
    "ints": ["{1, 2}", "{0, 3, 5}"],
    "arr": ["np.array([1., 2., 3.], np.float32)", "np.array([0.5, 0., -1.], np.float32)"],
    "nums": ["[1, 0.5, 2]", "[0, 1.0]", "[True, 2, 0.0]", "[0.0]", "[2]"],
    "pair": ["(x, 2)", "(T([1., 1., 0.]), 0)", "(x, 1)", "(T([2., -1., 1.]), 0.0)"],
}
ANOTHER = {
    "x": [
        "T([4., -2., 1.])",
        "T([-3., -1., 0.5])",
        "T([0., 8., 2.])",
        "x * 2.",
        "x.copy()",
        "x.astype('float64')",
        "T([1, 2, -1])",
    ],
    "y": ["T([2., 2., 2.])", "x", "T([-1., -1., -1.])"],
    "n": ["n + 1", "n + 1", "n + 2", "7", "-1", "twin(n)", "twin(n)", "100", "float(n)", "int(n)", "0", "1", "-n"],
    "k": ["k * 2", "k + 0.5", "-k", "-k", "-0.0", "twin(k)", "twin(k)", "0.0", "3.5", "int(k)", "bool(k)"],
    "items": ["[x, y_]", "[T([0., 1., 0.])] * 2", "items + [x]", "list(items)"],
    "table": ["{'a': x}", "dict(table, c=x)", "{'a': T([2., 0., 2.]), 'b': x}"],
    "box": [
        "Sub(1.5)",
        "Box(0.5)",
        "(Box if type(box) is Sub else Sub)(box.k)",
        "(Box if type(box) is Sub else Sub)(box.k)",
    ],
    "ints": ["{2, 3}", "set()", "ints | {9}"],
    "arr": ["np.array([2., 0.5, 1.], np.float32)", "arr * 2", "arr.astype(np.float64)", "-arr", "arr[::-1]"],
    "nums": ["[n, 0.5]", "nums + [1]", "[twin(v) for v in nums]", "nums[::-1]", "[-v for v in nums]"],
    "pair": [
        "(pair[0], twin(pair[1]))",
        "(pair[0], -pair[1])",
        "(x, 1)",
        "(pair[0] * 2., pair[1])",
        "(x, pair[1] + 1)",
    ],
}
CHANGES = {  # of what the arguments hold, in place
    "x": ["x[0] = 5.", "x[1:] = 0.5", "x *= 2.", "x[:2][0] = -1."],
    "items": ["items.append(T([1., 1., 1.]))", "items[:1] = [T([3., 3., 0.])]", "items.reverse()"],
    "table": ["table['b'] = T([1., 2., 1.])", "table['a'] = T([0., 0., 1.])"],
    "box": [
        "box.k = box.k + 1.",
        "box.n += 1",
        "box.t = T([1., 5., 1.])",
        "box.t = x",
        "box.scaled = lambda z: z - 1.",
        "box.k = twin(box.k)",
        "box.__class__ = Box if type(box) is Sub else Sub",
        "box.__class__ = Box if type(box) is Sub else Sub",
        "box.k = 0.0",
        "box.k = -box.k",
        "box.n = twin(box.n)",
        "box.base = 4.0",
        "box.log = []",
        "box.t[0] = 5.",
    ],
    "ints": ["ints.add(4)", "ints.discard(1)"],
    "arr": ["arr[0] += 1.", "arr[:] = 0.", "arr[1] = -arr[1]", "arr[-1] = 2.5"],
    "nums": [
        "nums[-1] = twin(nums[-1])",
        "nums[0] = twin(nums[0])",
        "nums.append(3)",
        "nums[-1] += 1",
        "nums[0] += 1",
        "nums[0] = -nums[0]",
    ],
}
ALIASES = {  # two names of one thing, where there were two things, and the other way round
    "y": ["y = x", "y = x.copy()", "y = x[:]", "y = x.reshape(3)"],
    "items": ["items[0] = x", "items = [x, x]", "items = [z.copy() for z in items]", "items[-1:] = items[:1]"],
    "table": ["table['a'] = x", "table['b'] = table['a']", "table = {k: z.copy() for k, z in table.items()}"],
    "box": ["box.t = x", "box.t = box.t.copy()", "box.t = GT", "box.log = LOG"],
    "pair": ["pair = (x, pair[1])", "pair = (pair[0].copy(), pair[1])", "pair = (GT, pair[1])"],
    "x": ["x = GT", "x = W.value()", "x = x.copy()"],
    "arr": ["arr = arr.copy()"],
    "nums": ["nums = list(nums)", "nums = LOG if not LOG else nums"],
}
AS_LARGE = {"y": ["x", "x * 0.5 + 1."]}
RESIZED = [  # arguments of other sizes, in programs whose tensors are all as large as `x`
    "x = T([4., -2.]); y = x * 0.5", "x = T([1., 0.5, -1., 2.]); y = x - 1.", "x = ops.cat([x, x]); y = x * 2.",
    "x = x[1:]; y = x[::-1]", "x = T([2.]); y = x", "x = T([0.25, 3., -1., 2., 1.]); y = x.copy()",
]  # fmt: skip
OUTSIDE = [  # where the first occurs in the function, the second is worth a try
    (r"\bG\b|decorated", "global G; G = G + 1."), (r"\bG\b|decorated", "global G; G = -G"), (r"\bG\b|decorated", "global G; G = 0.0"), (r"\bG\b|decorated", "global G; G = twin(G)"), (r"\bGI\b", "global GI; GI = twin(GI)"), (r"\bGI\b", "global GI; GI = GI * 2"), (r"\bGI\b", "global GI; GI = 1"),
    (r"GT|helper", "global GT; GT = GT * 2."), (r"GT|helper", "GT[0] = 7."), (r"GT|helper", "global GT; GT = GT.astype('float64')"), (r"GT|helper", "global GT; GT = GT[:1]"), (r"HOME", "HOME.__class__ = Box if type(HOME) is Sub else Sub"), (r"HOME", "HOME.scaled = lambda z: z - 1."), (r"HOME", "HOME.base = 4.0"), (r"HOME", "HOME.k = twin(HOME.k) + 1"), (r"HOME", "HOME.half = lambda z: z * 4."), (r"HOME", "global HOME; HOME = Box(0.25)"), (r"HOME", "HOME.t = GT"), (r"HOME", "Sub.prop = property(lambda self: self.t - 2.)"), (r"MANY", "MANY[3] = T([4., 4., 0.])"), (r"MANY", "MANY[0] = MANY[1]"), (r"MANY", "MANY.append(GT)"), (r"MANY", "MANY.reverse()"), (r"MANY", "MANY[2][0] = 9."), (r"CONF", "CONF['k'] = 4.0"), (r"CONF", "CONF['k'] = twin(CONF['k'])"), (r"CONF", "CONF['k'] = 0.0"), (r"CONF", "CONF['k'] = -CONF['k']"), (r"CONF", "del CONF['k']; CONF['k'] = 2.5"),
    (r"base|scaled|\bbox\(|\bo\d+\(", "Box.base = Box.base + 1."), (r"base|scaled|\bbox\(|\bo\d+\(", "Box.base = twin(Box.base)"), (r"base|scaled|\bbox\(|\bo\d+\(", "Sub.base = -1.0"), (r"base|scaled|\bbox\(|\bo\d+\(", "Box.base = 0.0"), (r"base|scaled|\bbox\(|\bo\d+\(", "Box.base = -Box.base"), (r"scaled|\bbox\(", "Box.scaled = lambda self, z: z * 3."), (r"scaled", "Sub.scaled = Box.scaled"), (r"\.half", "Box.half = staticmethod(lambda z: z * 4.)"), (r"\.of\(", "Box.of = classmethod(lambda cls, k: cls(k + 1.))"),
    (r"W\b", "W.set_data(T([0., 1., 0.]))"), (r"W\b", "W.requires_grad = not W.requires_grad"), (r"helper", "global helper; helper = lambda z, k=1.: z - k"), (r"helper", "helper.__defaults__ = (-1.5,)"), (r"LOG", "LOG.clear()"), (r"NET", "NET.calls = 0"), (r"NET", "NET.w = P(T([1., 1., 1.]), name='v')"), (r"NET", "NET.construct = lambda z: z * 4."), (r"bump", "bump()"),
    (r"prop|Fixed", "Box.prop = property(lambda self: self.t * 5.)"), (r"rec\(", "global rec; rec = lambda z, n: z * 2."), (r"doubled", "Doubled.__get__ = lambda self, o, kind=None: o.t - 1."), (r"HEAP", "HEAP.append(9)"), (r"cached", "cached.cache_clear()"), (r"VAR", "VAR.set(VAR.get() + 1.)"), (r"VAR", "VAR.set(twin(VAR.get()))"), (r"LIMIT|kind_of", "global LIMIT; LIMIT = LIMIT + 1"), (r"LIMIT", "global LIMIT; LIMIT = twin(LIMIT)"), (r"NAMES", "global NAMES; NAMES = NAMES[::-1]"), (r"IDX", "IDX[0] = 1"), (r"IDX", "IDX[:] = [2, 1, 0]"), (r"Bag", "Bag.made = 7"), (r"Bag", "Bag.__bool__ = lambda self: False"),
    (r"Both", "Left.step = Base.step"), (r"Both", "Both.__bases__ = (Right, Left)"), (r"shifted", "global shifted; shifted = logged(lambda z, by=1.: z - by)"), (r"kindly", "kindly.register(int)(lambda v: 'whole')"), (r"only", "only.__kwdefaults__ = {'scale': 0.5}"), (r"Fixed", "Fixed.grown = lambda self, by: self"), (r"Loose", "Loose.__getattr__ = lambda self, name: self.t"), (r"positive", "global positive; positive = lambda z: z + 0.25"), (r"matched", "global matched; matched = lambda n, z: z * n"), (r"star", "global star; star = lambda *a, **k: a[0]"), (r"gen\(", "global gen; gen = lambda z, n: [z] * 2"),
    (r"kept", "kept.__defaults__[0].append(1)"), (r"twice", "global twice; twice = lambda fn: fn"), (r"Point", "Point.moved = lambda self, by: self"), (r"Manager", "Manager.__enter__ = lambda self: 1.5"), (r"Swallow", "Swallow.__exit__ = lambda self, *a: False"), (r"Oops", "global Oops; Oops = ValueError"),
]  # fmt: skip
STATE = [  # what is left behind where the function knows of the first
    ("NET", "NET.calls"), ("NET", "NET.w"), ("MANY", "MANY"), ("HOME", "HOME"), ("bump", "bump()"), ("Box", "Box.base"), ("base", "Sub.base"), ("Bag", "Bag.made"), ("VAR", "VAR.get()"), ("LIMIT", "LIMIT"),
]  # fmt: skip
SERIES = {  # changes one after the other: a number that has changed is known to change, and then becomes another kind
    "n": ["n = n + 1", "n = n + 1", "n = twin(n)", "n = float(n)", "n = n + 0.5", "n = 1", "n = True"],
    "k": ["k = k + 0.5", "k = k + 0.5", "k = twin(k)", "k = 0.0", "k = -0.0", "k = int(k)", "k = True"],
    "nums": [
        "nums[0] += 1",
        "nums[0] += 1",
        "nums[0] = twin(nums[0])",
        "nums[0] = 0.0",
        "nums[0] = -0.0",
        "nums[-1] = twin(nums[-1])",
    ],
    "box": [
        "box.k += 0.5",
        "box.n += 1",
        "box.k += 0.5",
        "box.n += 1",
        "box.k = twin(box.k)",
        "box.n = twin(box.n)",
        "box.k = 0.0",
        "box.k = -0.0",
    ],
    "arr": ["arr[0] += 1.", "arr[:] = -arr", "arr[0] = 0.", "arr[0] = -0."],
}
AFTER = [
    "out.append(out[-1] is x)", "if isinstance(out[-1], list): out[-1].append(1)", "if isinstance(out[-1], dict): out[-1]['new'] = 1", "if isinstance(out[-1], T) and out[-1].shape: out[-1][0] = 11.",
    "if isinstance(out[-1], set): out[-1].add(99)", "out.append(type(out[-1]).__name__)",
]  # fmt: skip


def calls_of(writer: Writer, taken: list[str], body: str) -> str:
    """The function `main`: calls with the same and with other arguments, after changes of what they read."""
    choose, first = writer.random.choice, FIRST | AS_LARGE if writer.sized else FIRST
    lines = ["out, y_ = [], T([1., -1., 1.])"]
    lines += [f"{name} = {choose(first[name])}" for name in taken]
    keyword = writer.random.random() < 0.2
    given = ", ".join(f"{name}={name}" if keyword and name != "x" else name for name in taken)
    global_names: list[str] = []
    series = iter(SERIES.get(writer.focus or "", ()) if writer.random.random() < 0.4 else ())
    for call in range(writer.random.randint(3, 6)):
        if call and (line := next(series, None)) is not None:
            lines.append(line)
        for _ in range(choose((0, 1, 1, 2)) if call else 0):
            line = _change(writer, taken, body)
            if line.startswith("global "):
                name, _, line = line[7:].partition("; ")
                global_names.append(name)
            lines.append(line)
        lines += [f"try: out.append(f({given}))", "except Exception as e: out.append(e)"]
        if writer.random.random() < 0.3:
            lines.append(choose(AFTER))
    left = [state for word, state in STATE if word in body]
    lines.append(f"return out, [{', '.join(taken)}], LOG, HEAP, CONF, G, GI, GT, W, W.requires_grad, {', '.join(left)}")
    declared = [f"global {', '.join(dict.fromkeys(global_names))}"] if global_names else []
    return "\n".join(["def main():", *[f"    {line}" for line in (*declared, *lines)]]) + "\n"


def transformed_calls(writer: Writer, taken: list[str]) -> str:
    """A `main` that calls the function itself, its gradient, the second one, for a batch, and the gradient of that."""
    choose, first = writer.random.choice, FIRST | AS_LARGE if writer.sized else FIRST
    how = ["f", "GRAD(f)", "GRAD2(f)", "BATCH(f)", "GRAD_BATCH(f)"]
    how = [how[0], *[h for h in how[1:] if writer.random.random() < 0.5]] if writer.random.random() < 0.5 else how[1:]
    writer.used.update(how)
    lines = [f"made = [{', '.join(f'J({h})' for h in how)}]", "out = []"]
    lines += [f"{name} = {choose(first[name])}" for name in taken]
    for call in range(writer.random.randint(1, 3)):
        if call and writer.sized:
            lines.append(resized(writer, taken))
        elif call:
            name = choose(taken)
            lines.append(f"{name} = {choose(ANOTHER[name])}")
        lines += [
            "for g in made:",
            f"    try: out.append(g({', '.join(taken)}))",
            "    except Exception as e: out.append(e)",
        ]
    return "\n".join(["def main():", *[f"    {line}" for line in (*lines, "return out")]]) + "\n"


def resized(writer: Writer, taken: list[str]) -> str:
    """A line that gives the tensors another size."""
    writer.used["sizes change"] += 1
    line = writer.random.choice(RESIZED)
    return line if "y" in taken else line.partition(";")[0]


def _change(writer: Writer, taken: list[str], body: str) -> str:
    """A line that changes something, most often something that the function uses."""
    if writer.sized and writer.random.random() < 0.6:
        return resized(writer, taken)
    choose, kind, focus = writer.random.choice, writer.random.random(), writer.focus
    _, _, inner = body.partition("\n")
    used = [name for name in taken if re.search(rf"\b{name}\b", inner)] or taken
    if kind < 0.35 or (focus is not None and writer.random.random() < 0.3):
        name = focus or choose(used)
        writer.used["argument changes"] += 1
        return f"{name} = {choose(ANOTHER[name])}"
    if kind < 0.5 and (linked := [name for name in used if name in ALIASES]):
        writer.used["aliases change"] += 1
        return choose(ALIASES[choose(linked)])
    inside = [name for name in used if name in CHANGES]
    if kind < 0.75 and inside:
        writer.used["contents change"] += 1
        return choose(CHANGES[focus if focus in inside and writer.random.random() < 0.6 else choose(inside)])
    writer.used["outside changes"] += 1
    worth = [change for needs, change in OUTSIDE if re.search(needs, inner)]
    return choose(worth if worth and writer.random.random() < 0.9 else [change for _, change in OUTSIDE])
