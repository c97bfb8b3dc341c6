"""Faults sown into the capture, to see whether generated programs find them: text of one of its modules, replaced.

Each is a mistake that somebody could make, and none of them is loud by itself: something is not guarded, not written
back, done twice, or done on the wrong side. A fault whose text is no longer there is stale, and says so.
"""

# ruff: noqa: E501 (a table of texts)
from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

PACKAGES = ("mycelia/capture", "mycelia/api")
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Fault:
    """In this module, the first place that reads `old` reads `new`; where two checks refuse the same, so does another."""

    name: str
    module: str
    old: str
    new: str
    second: tuple[str, str, str] | None = None

    def edits(self) -> dict[Path, list[tuple[str, str]]] | None:
        """The files that it is sown into, with what is replaced there; None if the fault is stale."""
        found: dict[Path, list[tuple[str, str]]] = {}
        for module, old, new in filter(None, ((self.module, self.old, self.new), self.second)):
            paths = [path for package in PACKAGES if (path := ROOT / package / f"{module}.py").exists()]
            where = [path for path in paths if old in path.read_text()]
            if not where:
                return None
            found.setdefault(where[0].resolve(), []).append((old, new))
        return found


FAULTS = [
    # ------------------------------------------------------------------------------------------------------- guards
    Fault("zeros are not guarded", "guards", 'self.unless(f"not same({source}, {wanted})")', "pass"),
    Fault("zeros are guarded by ==", "guards", "not same({source}, {wanted})", "{source} != {wanted}"),
    Fault("numbers and texts are guarded by type", "guards", "or t != {wanted})", "and t != {wanted})"),
    Fault("numbers and texts are guarded by ==", "guards", "(t.__class__ is not {self.name(type(value))} or t != {wanted})", "t != {wanted}"),
    Fault("aliases are not guarded", "guards", 'self.unless(f"{source} is not {self.known_as(expect.number)}")', "pass"),
    Fault("new aliases are not guarded", "guards", 'self.unless(f"{names[0]} is {names[1]}")', "pass"),
    Fault("new aliases of what was met are not guarded", "guards", "            if others:\n", "            if False:\n"),
    Fault("classes of objects are not guarded", "guards", 'self.unless(self.is_not(f"type(o{expect.number})", there(expect.type)))', "pass"),
    Fault("classes of objects that were met are not guarded", "guards", "if expect.type.__flags__ & MUTABLE:", "if False:"),
    Fault("whatever a variable holds was met", "guards", "            if lasts(thing):\n                self.unless_other(self.is_not(source, thing))", "            if lasts(thing):\n                pass"),
    Fault("what is absent is not guarded", "guards", 'self.unless(f"{slot[1]!r} in {mapping}")', "pass"),
    Fault("types of tensors are not guarded", "guards", 'is not ndarray or {other} or {t}.shape', "is not ndarray or {t}.shape"),
    Fault("shapes of tensors are not guarded", "guards", " or {t}.shape != {self.name(shape)}", ""),
    Fault("tensors behind the function are not looked at", "guards", "self.unless(f\"not {self.name(kept)}({arrays[1:] if alone else f'({arrays},)'})\")", "pass"),
    Fault("sizes need not be as they were compared", "guards", 'self.unless(f"not {self.name(scope)}.holds(sizes)")', "pass"),
    Fault("lengths are not guarded", "guards", " or len({t}) != {len(expect.parts)}", " or len({t}) < {len(expect.parts)}"),
    Fault("classes of numbers are not guarded", "guards", 'self.unless(f"h{expect.step}.__class__ is not {self.name(expect.type)}")', "pass"),
    Fault("numbers that decide are not guarded", "guards", 'self.constant(f"h{step.step}", step.value)', "pass"),
    Fault("arrays are guarded by type", "guards", "return array.tobytes() == copy.tobytes()", "return True"),
    Fault("arrays are guarded by themselves", "world", "copy = self.seen[key] = array.copy()", "copy = self.seen[key] = array"),
    Fault("attributes of classes are not guarded", "attributes", 'found = self.read(c, ("attr", name))', "found = vars(c).get(name, MISSING)"),
    Fault("only the first item is guarded", "guards", "for i, part in enumerate(expect.parts):\n                self.expect(", "for i, part in enumerate(expect.parts[:1]):\n                self.expect("),
    # ------------------------------------------------------------------------------------------- what is the same
    Fault("1 is True", "values", "if kind is not type(b) or kind not in EXACT:", "if kind not in EXACT:"),
    Fault("0.0 is -0.0", "values", "return repr(a) == repr(b)", "return bool(a == b)"),
    Fault("one of two is the second", "values", "return Either(cond, a, b)", "return b"),
    Fault("`is` is no", "operators", "            return x is y\n        return x is y", "            return x is y\n        return False"),
    # ------------------------------------------------------------------------------------------------- the store
    Fault("a join forgets the second way", "store", "either(cond, *values) if len(values) == 2 else values[0]", "values[0]"),
    Fault("a join sees the first way", "store", "(yes.slots | no.slots).items()", "yes.slots.items()"),
    Fault("a join sees the second way", "store", "(yes.slots | no.slots).items()", "no.slots.items()"),
    Fault("data are not written back", "programs", "                restore(obj, slot, new)", "                slot == DATA or restore(obj, slot, new)"),
    Fault("data alone are not written back", "programs", "objects[n].renew(results[place])", "pass"),
    Fault("items are added", "slots", "obj[:] = value", "obj.extend(value)"),
    Fault("keys stay", "slots", "    obj.clear()\n", ""),
    Fault("attributes are not written back", "slots", "        vars(obj)[name] = value", "        pass"),
    Fault("variables are not written back", "slots", "obj.cell_contents = value", "pass"),
    Fault("globals are not written back", "slots", "obj.pop(name, None) if value is MISSING else dict.__setitem__(obj, name, value)", "pass"),
    Fault("changes of containers are lost", "items", "if after is not before:", "if after is before:"),
    Fault("new objects are made once", "program", "self.done: dict[int, Any] = {}", 'self.done = ending.__dict__.setdefault("done", {})'),
    Fault("either is the other", "program", "value.yes if self.results[value.cond.place] else value.no", "value.no if self.results[value.cond.place] else value.yes"),
    # ------------------------------------------------------------------------------------------- shared memory
    Fault("the whole does not see what is written to a part", "tensors", "for link in sharing.upwards(x):", "for link in ():"),
    Fault("parts do not see what is written to the whole", "tensors", "for link in below:", "for link in ():"),
    Fault("results share no memory", "program", "if (link := self.ending.kin.get(blank.key)) is not None:", "if (link := None) is not None:"),
    Fault("arguments share no memory", "programs", 'if getattr(objects[n], "_kin", None) is not None and overlap(objects):', "if False:"),
    Fault("one of two tensors is written to", "tensors", "        if id(x) in sharing.unclear:", "        if False:", ("tensors", " or id(x) in self.sharing.unclear", "")),
    Fault("every position exists", "programs", "        if any(results[i] for i in self.flags):", "        if False:"),
    # ------------------------------------------------------------------------------------------------ statements
    Fault("the rest runs after all", "statements", "return rest() if outcome is FALLS else outcome", "return rest()"),
    Fault("the rest runs on the wrong side", "statements", "return self.branch(goes_on, rest, lambda: leaving(outcome) or FALLS, exits=raises)", "return self.branch(goes_on, lambda: leaving(outcome) or FALLS, rest, exits=raises)"),
    Fault("a star takes all", "statements", "items[star : len(items) - after])\n        values", "items[star:])\n        values"),
    Fault("in place is not in place", "statements", "name = f\"i{BINARY[type(stmt.op)].rstrip('_')}\"", "name = BINARY[type(stmt.op)]"),
    Fault("one target of many", "statements", "for target in stmt.targets:\n            self.assign(target, value, frame)", "for target in stmt.targets[-1:]:\n            self.assign(target, value, frame)"),
    Fault("finally is skipped", "statements", "last = self.block(stmts, frame)", "last = FALLS"),
    Fault("every error is caught", "statements", "return isinstance(error, tuple(listed))", "return True"),
    Fault("else of try is skipped", "statements", "return self.block(stmt.orelse, frame)\n            if outcome.kind", "return FALLS\n            if outcome.kind"),
    Fault("asserts hold", "statements", "return self.decide(test, lambda: FALLS, fails, exits=raises)", "return FALLS"),
    Fault("cases are others", "matching", "return truth if isinstance(truth, bool) else self.refuse(\"a case that depends", "return not truth if isinstance(truth, bool) else self.refuse(\"a case that depends"),
    Fault("guards of cases hold", "matching", "                if not truth:\n                    continue", "                pass"),
    Fault("a manager is not left", "statements", "self.call(leave, (manager, None, None, None), {})", "pass"),
    Fault("the ways of an if are swapped", "statements", "test, lambda: self.block(stmt.body, frame), lambda: self.block(stmt.orelse, frame), exits=raises", "test, lambda: self.block(stmt.orelse, frame), lambda: self.block(stmt.body, frame), exits=raises"),
    # ------------------------------------------------------------------------------------------------ expressions
    Fault("or is and", "expressions", "sides if isinstance(node.op, ast.And) else sides[::-1]", "sides"),
    Fault("chains end early", "expressions", "lambda: self.compared(node, frame, i + 1, y), lambda: found", "lambda: found, lambda: found"),
    Fault("is not is is", "expressions", "return found if isinstance(op, ast.Is) else self.negated(found)", "return found"),
    Fault("not in is in", "expressions", "return found if isinstance(op, ast.In) else self.negated(found)", "return found"),
    Fault("comprehensions keep all", "comprehensions", "            if not truth:\n                return False", "            pass"),
    Fault("a walrus assigns nothing", "expressions", "        self.assign(node.target, value, frame)\n        return value", "        return value"),
    Fault("a conditional expression is the other", "expressions", "lambda: self.eval(node.body, frame), lambda: self.eval(node.orelse, frame))", "lambda: self.eval(node.orelse, frame), lambda: self.eval(node.body, frame))"),
    Fault("defaults are those of now", "calls", 'defaults = self.whole(fn, ("field", "__defaults__")) or ()', 'defaults = tuple(x * 2 if type(x) is float else x for x in self.whole(fn, ("field", "__defaults__")) or ())'),
    Fault("options are lost", "calls", "                extra[k] = v", "                pass"),
    Fault("the rest of the arguments is all", "calls", "tuple(args[len(positional) :])", "tuple(args)"),
    # --------------------------------------------------------------------------------------- containers, iteration
    Fault("a key that is there is not", "items", "self.items_of(container), self.plain(x)) is not None", "self.items_of(container), self.plain(x)) is None"),
    Fault("values are keys", "items", '"values": items[2 * i + 1]}', '"values": items[2 * i]}'),
    Fault("a list is iterated as it was", "loops", "return lambda i: items[i] if i < len(items := self.whole(over)) else MISSING", "items = self.whole(over)\n            return lambda i: items[i] if i < len(items) else MISSING"),
    Fault("insert is one off", "models", "return (*items[:i], x, *items[i:]), None", "return (*items[: i + 1], x, *items[i + 1 :]), None"),
    Fault("pop takes the first", "models", "return without(items, range(len(items))[i]), items[i]", "return without(items, 0), items[0]"),
    Fault("setdefault sets nothing", "models", "return (with_pair(items, key, default), default) if i is None", "return (items, default) if i is None"),
    Fault("reverse does nothing", "models", '"reverse": lambda items: (items[::-1], None)', '"reverse": lambda items: (items, None)'),
    Fault("zip begins with the second", "iteration", "yield from zip(*columns, strict=strict)", "yield from itertools.islice(zip(*columns, strict=strict), 1, None)"),
    Fault("a sort is the other way", "iteration", "reverse=self.plain(reverse))\n", "reverse=not self.plain(reverse))\n"),
    Fault("any is all", "iteration", "return self._until(x, True)", "return self._until(x, False)"),
    Fault("enumerate counts from one", "iteration", "itertools.count(first)", "itertools.count(first + 1)"),
    Fault("a generator ends early", "generators", "return (yield from self.block_steps(stmt.orelse, frame))\n            outcome", "return FALLS\n            outcome"),
    # -------------------------------------------------------------------------------------------- loops, numbers
    Fault("continue breaks", "loops", 'outcome = caught("continue", self.block(stmt.body, frame))', 'outcome = caught("break", self.block(stmt.body, frame))'),
    Fault("a variable holds a copy after a loop", "carrying", "base.write(c.obj, c.slot, either(ran, made, before))", "base.write(c.obj, c.slot, made)"),
    Fault("a tensor from before a loop is carried", "carrying", "        if id(end) not in turn.made:", "        if False:", ("carrying", "or id(root) not in turn.made or", "or")),
    Fault("two variables of a loop are two tensors", "carrying", "        if len(holds) > 1 and", "        if len(holds) > 9 and"),
    Fault("the tensor of an earlier turn is written to", "tensors", "        if id(x) in self.stand_ins:", "        if False:", ("rolling", "any((id(t), DATA) in kept for", "any(False for")),
    Fault("a break inside a piece goes on", "pieces", "if outcome.kind == 'break': break", "if outcome.kind == 'break': continue"),
    Fault("what both ways compute belongs to the first", "regions", "            self.shared[v] = mine[:shared]", "            pass"),
    Fault("numbers are floats", "program", "return value.kind(self.results[value.value.place].item())", "return float(self.results[value.value.place].item())"),
    Fault("comparisons are strict", "numbers", '"le": p.less_equal', '"le": p.less'),
    Fault("a call returns what another returned", "recursion", "is_new = p.logical_not(next(found))", "is_new = p.logical_or(p.logical_not(next(found)), p.full(True, bool_, ()))"),
    Fault("methods of instances are those of the class", "attributes", "        if not any(missing):\n            return own", "        if not any(missing) and found is MISSING:\n            return own"),
    Fault("a property is not called", "attributes", "            return self.call(getter, (obj,), {})\n        if kind is MemberDescriptorType", "            return self.read(obj, (\"attr\", \"k\"))\n        if kind is MemberDescriptorType"),
    Fault("super is the class itself", "attributes", "mro = mro[mro.index(behind) + 1 :]", "mro = mro[-2:]"),
]  # fmt: skip


def sow(name: str) -> None:
    """From now on, the module that is imported has this fault."""
    (fault,) = (f for f in FAULTS if f.name == name)
    edits = fault.edits()
    if edits is None:
        sys.exit(f"stale: {name}")
    assert not any(m in sys.modules for m in ("mycelia",)), "it is too late"
    usual = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, module: str) -> CodeType | None:
        path = Path(self.path).resolve()
        if path not in edits:
            return usual(self, module)
        text = path.read_text()
        for old, new in edits[path]:
            text = text.replace(old, new, 1)
        return compile(text, str(path), "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
