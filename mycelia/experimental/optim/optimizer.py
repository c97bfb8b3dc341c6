"""The optimizer with groups: each has parameters and settings, which programs may read and change between steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from mycelia import checks
from mycelia.eager import Parameter, ParameterTuple, Tensor, assign, cast
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.nn import Cell
from mycelia.types import float32, int32

State = tuple[Tensor, ...]


class Optimizer(Cell):
    """The base. A kind of one's own says in `rule` what becomes of a weight, or in `construct` what a step is.

    `params` are parameters, or dictionaries with "params" and settings; settings that one lacks are the `defaults`.
    The rate of a group, `group["lr"]`, is a Parameter, which can be assigned to.

    >>> class Descent(Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    ...     def construct(self, gradients):
    ...         for group, start in zip(self.param_groups, self.group_start_id):
    ...             for i, weight in enumerate(group["params"]):
    ...                 assign(weight, weight - gradients[start + i] * group["lr"])
    >>> w = Parameter([1.0, 2.0], name="w")
    >>> done = Descent([w], 0.5)((Tensor([1.0, 1.0]),))
    >>> w.tolist()
    [0.5, 1.5]
    """

    slots: ClassVar[tuple[str, ...]] = ()  # what is remembered of each weight
    decoupled: ClassVar[bool] = False  # whether the decay of weights is left to `rule`, instead of joining the gradient

    def __init__(self, params: Iterable[Any], defaults: Mapping[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        if isinstance(params, Tensor | Cell | dict) or not isinstance(params, Iterable):
            raise CallError(
                f"an optimizer takes a list of parameters, not a {type(params).__name__}",
                hint="give net.trainable_params() first",
            )
        if not isinstance(defaults, Mapping):
            raise CallError(f"defaults are a dictionary of settings, not a {type(defaults).__name__}")
        given = list(params)
        if not given:
            raise ArgumentError("an optimizer needs parameters to change", hint="for example net.trainable_params()")
        self.defaults = dict(defaults)
        self.param_groups: list[dict[str, Any]] = []
        self.group_start_id = [0]
        self.lrs: list[Parameter] = []
        self.step_t = Parameter(Tensor(0, int32), name="step_t", requires_grad=False)
        self.__dict__["parameters"] = ParameterTuple(())  # they belong to the network, which names and saves them
        self.__dict__["states"] = []
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    parameters: ParameterTuple
    states: list[ParameterTuple]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Change these parameters too, by settings of their own.

        >>> optimizer = Optimizer([Parameter([1.0], name="w")], {"lr": 0.1})
        >>> optimizer.add_param_group({"params": Parameter([1.0], name="b"), "lr": 0.5})
        >>> [group["lr"].item() for group in optimizer.param_groups]
        [0.1, 0.5]
        """
        if not isinstance(param_group, dict) or "params" not in param_group:
            raise CallError("a group of parameters is a dictionary with params", given={"group": param_group})
        params = param_group["params"]
        if isinstance(params, set | frozenset):
            raise CallError("the order of parameters matters, and a set has none", hint="give a list")
        listed = [params] if isinstance(params, Parameter) else list(params)
        for parameter in listed:
            if not isinstance(parameter, Parameter):
                raise CallError(f"an optimizer changes parameters, not a {type(parameter).__name__}")
        known = {id(p) for p in self.parameters}
        if len({id(p) for p in listed}) < len(listed) or any(id(p) in known for p in listed):
            raise ArgumentError("a parameter is given to the optimizer twice", hint="give each one once")
        group = {**self.defaults, **param_group, "params": listed}
        group["weight_decay"] = checks.number(self.cls_name, "weight_decay", group.get("weight_decay", 0.0), least=0)
        if "lr" not in group:
            raise ArgumentError("a group of parameters has no lr, and the defaults neither")
        group["lr"] = self._rate(group["lr"], f"learning_rate_group_{len(self.param_groups)}")
        self.check(group)
        self.param_groups.append(group)
        self.lrs.append(group["lr"])
        self.insert_param_to_cell(group["lr"].name, group["lr"])
        self.group_start_id.append(self.group_start_id[-1] + len(listed))
        self.__dict__["parameters"] = ParameterTuple((*self.parameters, *listed))
        for parameter in listed:
            self.states.append(self._begun(parameter, group))

    def _rate(self, rate: Any, name: str) -> Parameter:
        if isinstance(rate, Tensor):
            if rate.ndim:
                raise ArgumentError(f"a learning rate is one number, and this tensor has shape {rate.shape}")
            return Parameter(rate.astype(float32), name=name, requires_grad=False)
        return Parameter(
            Tensor(checks.number(self.cls_name, "lr", rate, least=0), float32), name=name, requires_grad=False
        )

    def _begun(self, parameter: Parameter, group: dict[str, Any]) -> ParameterTuple:
        """What is remembered of one weight, before the first step."""
        first = self.first(group)
        made = []
        for name in self.slots:
            state = parameter.clone(first.get(name, "zeros"))
            state.name, state.requires_grad = f"{name}.{parameter.name}", False
            made.append(state)
        held = ParameterTuple(made)
        for state in made:
            self.insert_param_to_cell(state.name.replace(".", "_"), state)
        return held

    def check(self, group: dict[str, Any]) -> None:
        """Complain about settings of a group that make no sense."""

    def first(self, group: dict[str, Any]) -> dict[str, Any]:
        """What the state of a weight begins with, where it is not zeros."""
        return {}

    def construct(self, gradients: Sequence[Tensor]) -> bool:
        if not isinstance(gradients, tuple | list) or len(gradients) != len(self.parameters):
            count = len(gradients) if isinstance(gradients, tuple | list) else "something else than a tuple of"
            raise ArgumentError(
                f"{self.cls_name} has {len(self.parameters)} parameters and was given {count} gradients",
                hint="differentiate with respect to optimizer.parameters",
            )
        assign(self.step_t, self.step_t + 1)
        t = cast(self.step_t, float32)
        at = 0
        for group in self.param_groups:
            rate = group["lr"]
            for weight in group["params"]:
                gradient, state = gradients[at], self.states[at]
                if gradient.shape != weight.shape:
                    raise ShapeError(
                        f"parameter {weight.name} of shape {weight.shape} was given a gradient of shape "
                        f"{gradient.shape}",
                        hint="give the gradients in the order of optimizer.parameters",
                    )
                gradient = cast(gradient, weight.dtype)
                if group.get("maximize", False):
                    gradient = -gradient
                if group["weight_decay"] and not self.decoupled:
                    gradient = gradient + weight * group["weight_decay"]
                new, after = self.rule(weight, gradient, tuple(state), t, rate, group)
                for held, value in zip(state, after, strict=True):
                    assign(held, value)
                assign(weight, new)
                at += 1
        return True

    def rule(
        self, w: Tensor, g: Tensor, state: State, t: Tensor, lr: Any, group: dict[str, Any]
    ) -> tuple[Tensor, State]:
        """The weight and its state after step t, which counts from 1."""
        raise ArgumentError(f"{self.cls_name} does not say how a parameter changes", hint="define rule or construct")

    def __repr__(self) -> str:
        lines = [f"{self.cls_name} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            for name in sorted(group.keys() - {"params"}):
                value = group[name]
                lines.append(f"    {name}: {value.value() if isinstance(value, Parameter) else value}")
        return "\n".join([*lines, ")"])
