"""The calls of a generated program: what changes between them, and what is looked at afterwards."""

# ruff: noqa: E501 (tables of templates)
from __future__ import annotations

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
}
ANOTHER = {
    "x": ["T([4., -2., 1.])", "T([-3., -1., 0.5])", "T([0., 8., 2.])", "x * 2.", "x.copy()"],
    "y": ["T([2., 2., 2.])", "x", "T([-1., -1., -1.])"],
    "n": ["n + 1", "n + 1", "n + 2", "7", "-1", "bool(n)", "100", "float(n)", "int(n)", "0", "-n"],
    "k": ["k * 2", "k + 0.5", "-k", "-k", "-0.0", "1", "0.0", "3.5", "int(k)", "bool(k)"],
    "items": ["[x, y_]", "[T([0., 1., 0.])] * 2", "items + [x]", "list(items)"],
    "table": ["{'a': x}", "dict(table, c=x)", "{'a': T([2., 0., 2.]), 'b': x}"],
    "box": ["Sub(1.5)", "Sub(0.5)", "Box(0.5)", "(Box if type(box) is Sub else Sub)(box.k)"],
    "ints": ["{2, 3}", "set()", "ints | {9}"],
    "arr": ["np.array([2., 0.5, 1.], np.float32)", "arr * 2"],
}
CHANGES = {  # of what the arguments hold, in place
    "x": ["x[0] = 5.", "x[1:] = 0.5", "x *= 2."],
    "items": ["items.append(T([1., 1., 1.]))", "items[:1] = [T([3., 3., 0.])]", "items.reverse()"],
    "table": ["table['b'] = T([1., 2., 1.])", "table['a'] = T([0., 0., 1.])"],
    "box": [
        "box.k = box.k + 1.",
        "box.n += 1",
        "box.t = T([1., 5., 1.])",
        "box.t = x",
        "box.scaled = lambda z: z - 1.",
    ],
    "ints": ["ints.add(4)", "ints.discard(1)"],
    "arr": ["arr[0] += 1.", "arr[:] = 0."],
}
OUTSIDE = [
    "global G; G = G + 1.", "global G; G = -G", "global G; G = 0.0", "global GI; GI = float(GI)", "global GI; GI = GI * 2", "global GT; GT = GT * 2.", "CONF['k'] = 4.0", "Box.base = Box.base + 1.", "W.set_data(T([0., 1., 0.]))",
    "global helper; helper = lambda z, k=1.: z - k", "Box.scaled = lambda self, z: z * 3.", "LOG.clear()", "NET.calls = 0", "GT[0] = 7.", "bump()",
    "Box.prop = property(lambda self: self.t * 5.)", "global rec; rec = lambda z, n: z * 2.", "Doubled.__get__ = lambda self, o, kind=None: o.t - 1.", "NET.w = P(T([1., 1., 1.]), name='v')",
    "HEAP.append(9)", "cached.cache_clear()", "del CONF['k']; CONF['k'] = 2.5",
]  # fmt: skip
AFTER = [
    "out.append(out[-1] is x)", "if isinstance(out[-1], list): out[-1].append(1)", "if isinstance(out[-1], dict): out[-1]['new'] = 1", "if isinstance(out[-1], T) and out[-1].shape: out[-1][0] = 11.",
    "if isinstance(out[-1], set): out[-1].add(99)", "out.append(type(out[-1]).__name__)",
]  # fmt: skip


def calls_of(writer: Writer, taken: list[str]) -> str:
    """The function `main`: calls with the same and with other arguments, after changes of what they read."""
    choose = writer.random.choice
    lines = ["out, y_ = [], T([1., -1., 1.])"]
    lines += [f"{name} = {choose(FIRST[name])}" for name in taken]
    keyword = writer.random.random() < 0.2
    given = ", ".join(f"{name}={name}" if keyword and name != "x" else name for name in taken)
    global_names: list[str] = []
    for call in range(writer.random.randint(2, 6)):
        for _ in range(writer.random.randint(0, 2) if call else 0):
            line = _change(writer, taken, writer.focus)
            if line.startswith("global "):
                name, _, line = line[7:].partition("; ")
                global_names.append(name)
            lines.append(line)
        lines += [f"try: out.append(f({given}))", "except Exception as e: out.append(e)"]
        if writer.random.random() < 0.3:
            lines.append(choose(AFTER))
    state = ", ".join(taken)
    lines.append(f"return out, [{state}], LOG, HEAP, CONF, G, GI, GT, W, W.requires_grad, NET.calls, NET.w, bump()")
    declared = [f"global {', '.join(dict.fromkeys(global_names))}"] if global_names else []
    return "\n".join(["def main():", *[f"    {line}" for line in (*declared, *lines)]]) + "\n"


def transformed_calls(writer: Writer, taken: list[str]) -> str:
    """A `main` that calls the function itself, its gradient, the second one, for a batch, and the gradient of that."""
    choose = writer.random.choice
    how = ["f", "GRAD(f)", "GRAD2(f)", "BATCH(f)", "GRAD_BATCH(f)"]
    how = [how[0], *[h for h in how[1:] if writer.random.random() < 0.5]] if writer.random.random() < 0.5 else how[1:]
    writer.used.update(how)
    lines = [f"made = [{', '.join(f'J({h})' for h in how)}]", "out = []"]
    lines += [f"{name} = {choose(FIRST[name])}" for name in taken]
    for call in range(writer.random.randint(1, 3)):
        if call:
            name = choose(taken)
            lines.append(f"{name} = {choose(ANOTHER[name])}")
        lines += [
            "for g in made:",
            f"    try: out.append(g({', '.join(taken)}))",
            "    except Exception as e: out.append(e)",
        ]
    return "\n".join(["def main():", *[f"    {line}" for line in (*lines, "return out")]]) + "\n"


def _change(writer: Writer, taken: list[str], focus: str | None) -> str:
    choose, kind = writer.random.choice, writer.random.random()
    if kind < 0.35 or (focus is not None and writer.random.random() < 0.3):
        name = focus or choose(taken)
        writer.used["argument changes"] += 1
        return f"{name} = {choose(ANOTHER[name])}"
    inside = [name for name in taken if name in CHANGES]
    if kind < 0.75:
        writer.used["contents change"] += 1
        return choose(CHANGES[focus if focus in inside and writer.random.random() < 0.6 else choose(inside)])
    writer.used["outside changes"] += 1
    return choose(OUTSIDE)
