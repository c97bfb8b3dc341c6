"""Setting attributes, as Python does."""

from __future__ import annotations

import functools
from types import (
    CellType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from mycelia.capture.attributes import FIELDS, USUAL, Attributes, has_dict
from mycelia.capture.holding import written_in
from mycelia.capture.machine import distributes
from mycelia.capture.values import MISSING, UserError, alternatives
from mycelia.eager import Parameter, Tensor


class AttributeSetting(Attributes):
    """`x.name = v`, `del x.name`."""

    @distributes
    def set_attribute(self, obj: Any, name: str, value: tuple[Any, ...]) -> None:
        """`obj.name = value[0]`, `del obj.name` if there is none. The value may be either: it is only put somewhere."""
        cls = type(obj)
        if isinstance(obj, type):
            if cls is not type or name.startswith("__") or not value or obj.__flags__ & 1 << 8:
                self.refuse(f"an attribute of the class {obj.__name__} is set")
            self.store.write(obj, ("attr", name), value[0])
            return
        if type(obj) is Parameter:
            self.set_parameter(obj, name, value)
            return
        special = {ModuleType, MethodType, functools.partial, CellType, property, Tensor}
        if cls in special or (cls.__module__ == "builtins" and cls is not FunctionType) or isinstance(obj, tuple):
            self.refuse(f"{cls.__name__}.{name} is set")
        if cls is FunctionType and name in FIELDS[FunctionType]:
            if not self.store.is_fresh(obj) or name not in ("__name__", "__qualname__", "__module__", "__doc__"):
                self.refuse(f"the {name} of a function is set")
            self.store.write(obj, ("field", name), value[0])
            return
        setter = self.lookup(cls, "__setattr__" if value else "__delattr__")
        if setter not in USUAL:
            self.set_by(setter, obj, name, value)
            return
        self.set_usual(obj, name, value)

    def set_by(self, setter: Any, obj: Any, name: str, value: tuple[Any, ...]) -> None:
        ours = getattr(type(obj), "__interpreted_set__", None)
        if ours is not None and value and type(setter) is FunctionType and written_in(setter) == "mycelia.nn.cell":
            self.store.world.pin(setter)
            ours(self, obj, name, value[0])
            return
        if type(setter) is not FunctionType:
            self.refuse(f"{type(obj).__name__} says itself what setting an attribute does")
        self.call(setter, (obj, name, *value), {})

    def set_usual(self, obj: Any, name: str, value: tuple[Any, ...]) -> None:
        """What `object.__setattr__` and `object.__delattr__` do."""
        cls = type(obj)
        found = self.lookup(cls, name)
        if type(found) is property:
            setter = self.whole(found, ("field", "fset" if value else "fdel"))
            if setter is None:
                self.refuse(f"{cls.__name__}.{name} cannot be set")
            self.call(setter, (obj, *value), {})
        elif type(found) is MemberDescriptorType:
            slot = "member", self.member(found)
            if not value and self.read(obj, slot) is MISSING:
                raise UserError(AttributeError(name))
            self.store.write(obj, slot, value[0] if value else MISSING)
        elif found is not MISSING and self.has_set(found):
            setter = self.lookup(type(found), "__set__" if value else "__delete__")
            if type(setter) is not FunctionType:
                self.refuse(f"{cls.__name__}.{name} is a descriptor")
            self.call(setter, (found, obj, *value), {})
        elif not has_dict(obj):
            self.refuse(f"{cls.__name__} has no place for {name}")
        else:
            if not value and any(v is MISSING for v in alternatives(self.read(obj, ("attr", name)))):
                raise UserError(
                    AttributeError(f"{cls.__name__!r} object has no attribute {name!r}", name=name, obj=obj)
                )
            self.store.write(obj, ("attr", name), value[0] if value else MISSING)

    def set_parameter(self, obj: Parameter, name: str, value: tuple[Any, ...]) -> None:
        if name == "data" and value:
            self.native(Parameter.set_data, (obj, value[0]), {})
        elif name in ("name", "requires_grad", "layerwise_parallel", "parallel_optimizer") and value:
            self.store.write(obj, ("attr", name), value[0])
        else:
            self.refuse(f"the {name} of a parameter is set")
