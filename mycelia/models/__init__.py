"""Networks that others have published, ready to train."""

from importlib import import_module as _import_module
from typing import Any as _Any

from mycelia.names import missing_in as _missing_in

_LATER = {
    "lenet": ("LeNet",),
    "resnet": ("ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"),
}
_MODULE = {name: module for module, names in _LATER.items() for name in names}
_missing = _missing_in("mycelia.models")

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> _Any:
    """A network's module is loaded when the network is first asked for."""
    if name not in _MODULE:
        return _missing(name)
    found = globals()[name] = getattr(_import_module(f"mycelia.models.{_MODULE[name]}"), name)
    return found
