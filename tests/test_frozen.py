"""`frozen` is the standard library's `dataclass(frozen=True)`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

from mycelia.frozen import frozen

NAN = float("nan")


def classes(made, **options):
    """Classes of every kind, made by one of the two."""

    @made(**options)
    class Empty:
        pass

    @made(**options)
    class Plain:
        x: int
        y: object = 2
        kind: ClassVar[str] = "plain"

    @made(**options)
    class Below(Plain):
        """With fields of its own, and another default."""

        z: tuple[int, ...] = ()
        y: object = "two"

        def __post_init__(self):
            if self.z == (0,):
                raise ValueError("zero")

    @made(**options)
    class Own:
        x: int = 0

        def __eq__(self, other):
            return isinstance(other, type(self))

        def __hash__(self):
            return 7

        def __repr__(self):
            return "own"

    @made(**options)
    class Fields(Below):
        more: list = field(default_factory=list, compare=False)

    @made(**options)
    class After(Fields):
        last: int = 5

    class Undecorated(Plain):
        pass

    @made(**options)
    class Named:
        put: int = 0
        object: object = min
        name: str = "cls"
        fields: tuple[int, ...] = ()
        value: int = 0

    return [Empty, Plain, Below, Own, Fields, After, Undecorated, Named]


def standard(**options):
    return dataclass(frozen=True, **options)


def tried(call):
    """What a call gives, in words that two classes can share; or its error."""
    try:
        found = call()
    except Exception as error:
        return type(error), str(error).replace("frozen.", "").replace("standard.", "")
    return found if isinstance(found, bool | int | str | tuple) else repr(found)


def seen(cls):
    """All that can be seen of a class."""
    args = [(), (1,), (1, [2]), (1, 2, (3,)), (NAN,), (1, 2, (0,)), (1, 2, 3, 4, 5, 6)]
    every = [tried(lambda a=a: cls(*a)) for a in args]
    made = []
    for a in args:
        try:
            made.append(cls(*a))
        except (TypeError, ValueError):
            continue
    every += [[x == y for y in made] for x in made]
    every += [tried(lambda x=x: hash(x) == hash(copy.copy(x))) for x in made]
    every += [tried(lambda x=x, name=name: setattr(x, name, 1)) for x in made for name in ("x", "new")]
    every += [tried(lambda x=x, name=name: delattr(x, name)) for x in made for name in ("x", "new")]
    every += [tried(lambda x=x: dataclasses.replace(x, x=9)) for x in made]
    every += [tried(lambda x=x: dataclasses.asdict(x)) for x in made]
    every += [[(f.name, f.type, f.default is dataclasses.MISSING) for f in dataclasses.fields(cls)]]
    every += [cls.__match_args__, str(inspect.signature(cls)), cls.__dataclass_params__.frozen, cls == cls]
    return every


@pytest.mark.parametrize("options", [{}, {"eq": False}], ids=["equal", "same"])
@pytest.mark.parametrize("place", range(8))
def test_a_class_is_what_the_standard_library_makes(place, options):
    assert seen(classes(frozen, **options)[place]) == seen(classes(standard, **options)[place])


@pytest.mark.parametrize("made", [frozen, standard()], ids=["frozen", "standard"])
def test_what_runs_when_an_object_is_made_belongs_to_the_module_of_its_class(made):
    seen = made(type("Seen", (), {"__annotations__": {"x": "int"}, "__module__": "mycelia.errors"}))
    init = seen.__init__
    assert (init.__code__.co_filename, init.__globals__.get("__name__")) == ("<string>", "mycelia.errors")


def test_either_may_be_above_the_other():
    @dataclass(frozen=True)
    class Below(classes(frozen)[1]):
        z: int = 3

    @frozen
    class Further(Below):
        a: int = 4

    assert (Further(1).z, Further(1), Further(1) == Further(1, 2)) == (3, Further(1, 2, 3, 4), True)


@pytest.mark.parametrize("made", [frozen, standard()], ids=["frozen", "standard"])
def test_what_neither_makes_is_refused(made):
    def ordered():
        class Wrong:
            x: int = 1
            y: int

        made(Wrong)

    def mutable():
        class Wrong:
            x: list = []

        made(Wrong)

    def open_below():
        @dataclass
        class Open:
            x: int

        class Wrong(Open):
            y: int

        made(Wrong)

    def set_by_hand():
        class Wrong:
            def __setattr__(self, name, value):
                """Nothing is set."""

        made(Wrong)

    for wrong in (ordered, mutable, open_below, set_by_hand):
        with pytest.raises((TypeError, ValueError)):
            wrong()


@frozen
class Kept:
    x: int
    y: tuple[int, ...] = ()


def test_objects_are_kept_and_copied():
    one = Kept(1, (2,))
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    match one:
        case Kept(x, (y,)):
            assert (x, y) == (1, 2)
