"""What all distributions share: parameters, which a call may give anew, and questions that answer one another."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from mycelia import checks, ops
from mycelia.eager import Generator, Parameter, Tensor, as_dtype, cast
from mycelia.errors import ArgumentError, DTypeError, ShapeError
from mycelia.nn.cell import Cell
from mycelia.types import DType, bool_, float32, float64

QUESTIONS = (
    "prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival", "mean", "mode", "sd", "var", "entropy",
    "cross_entropy", "kl_loss", "sample", "get_dist_args", "get_dist_type",
)  # fmt: skip


class Distribution(Cell):
    """The family: its parameters are named in `words`, given when it is made or with each call, in this order.

    A subclass says what it can, of `_log_prob` or `_prob`, `_cdf` or `_log_cdf` or `_survival_function`, `_mean`,
    `_mode`, `_sd` or `_var`, `_entropy`, `_kl_loss` and `_sample`; each is given all parameters behind its own
    arguments. What it leaves out follows from the rest. A call by name, `d("log_prob", x)`, asks the same questions.

    >>> from mycelia.nn.probability.distribution import Normal
    >>> Normal(0.0, 2.0)("sd").item()
    2.0
    """

    words: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[dict[str, tuple[float, float]]] = {}  # between which numbers a parameter lies, without these
    continuous = False  # whether its numbers are floats, and no others

    def __init__(
        self, seed: int | None = None, dtype: Any = float32, name: str = "", param: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__()
        checks.text(self.cls_name, "name", name)
        self._seed = 0 if seed is None else checks.whole(name or self.cls_name, "seed", seed, least=0)
        self._dtype = as_dtype(dtype)
        if self._dtype is bool_ or (self.continuous and not self._dtype.is_float):
            raise DTypeError(
                f"{self.cls_name} gives {'floats' if self.continuous else 'whole numbers or floats'}, not {dtype!r}",
                hint="leave dtype out",
            )
        self._name = name or self.cls_name
        self._parameters = dict((param or {}).get("param_dict", param or {}))
        self.parameter_type: DType = self._dtype if self._dtype.is_float else float32
        self._source = Generator().manual_seed(self._seed) if self._seed else None
        self._scalar = all(isinstance(v, int | float) for v in self._parameters.values() if v is not None)
        for word, value in self._parameters.items():
            setattr(self, f"_{word}_given", self._held(word, value))
        shapes = {w: getattr(self, f"_{w}_given").shape for w, v in self._parameters.items() if v is not None}
        try:
            np.broadcast_shapes(*shapes.values())
        except ValueError:
            raise ShapeError(f"the parameters of {self.cls_name} do not fit together", given=shapes) from None

    def _given(self, word: str) -> Any:
        """A parameter that was given when it was made."""
        return getattr(self, f"_{word}_given")

    def _held(self, word: str, value: Any) -> Any:
        """A parameter of the distribution as a tensor; one that is trained stays what it is."""
        if value is None or isinstance(value, Parameter):
            return value
        held = cast(value if isinstance(value, Tensor) else Tensor(np.asarray(value)), self.parameter_type)
        low, high = self.limits.get(word, (-np.inf, np.inf))
        numbers = held.asnumpy()
        if not ((numbers > low) | (low == -np.inf)).all() or not ((numbers < high) | (high == np.inf)).all():
            raise ArgumentError(f"{self.name}: {word} lies between {low} and {high}", given={word: value})
        return held

    # ------------------------------------------------------------------------------------------- what it is made of

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The element type of its numbers."""
        return self._dtype

    @property
    def seed(self) -> int:
        """Where its samples begin; 0 leaves that to the session."""
        return self._seed

    @property
    def parameters(self) -> dict[str, Any]:
        """What it was made of."""
        return self._parameters

    @property
    def is_scalar_batch(self) -> bool:
        """Whether all its parameters are numbers."""
        return self._scalar

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The shape that its parameters broadcast to; None if one is not known yet."""
        given = [getattr(self, f"_{word}_given") for word in self.words]
        return None if any(v is None for v in given) else np.broadcast_shapes(*[v.shape for v in given])

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape that its parameters broadcast to."""
        return self.batch_shape

    def get_dist_type(self) -> str:
        """The name of the family.

        >>> from mycelia.nn.probability.distribution import Gumbel
        >>> Gumbel(0.0, 1.0).get_dist_type()
        'Gumbel'
        """
        return self.cls_name

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple[Tensor, ...]:
        """Its parameters, or those given now.

        >>> from mycelia.nn.probability.distribution import Normal
        >>> [t.item() for t in Normal(1.0, 2.0).get_dist_args(3.0)]
        [3.0, 2.0]
        """
        extra = set(kwargs) - set(self.words)
        if len(args) > len(self.words) or extra:
            raise ArgumentError(
                f"{self.name} has the parameters {', '.join(self.words)}",
                given={"args": args, "kwargs": sorted(kwargs)},
            )
        now = {**dict(zip(self.words, args, strict=False)), **kwargs}
        found = []
        for word in self.words:
            value = now.get(word)
            value = getattr(self, f"_{word}_given", None) if value is None else value
            if value is None:
                raise ArgumentError(
                    f"{self.name}: {word} is not known",
                    hint="give it when the distribution is made, or with the call",
                )
            found.append(cast(value, self.parameter_type) if isinstance(value, Tensor) else self._held(word, value))
        return tuple(found)

    def _value(self, value: Any) -> Tensor:
        return cast(value if isinstance(value, Tensor) else Tensor(np.asarray(value)), self.parameter_type)

    def _rule(self, *names: str) -> Callable[..., Tensor] | None:
        """The first of these rules that the family has."""
        return next((getattr(self, n) for n in names if hasattr(self, n)), None)

    def _none(self, question: str) -> ArgumentError:
        return ArgumentError(
            f"{self.cls_name} has no {question} in closed form", hint="take the mean over samples of it"
        )

    # ---------------------------------------------------------------------------------------------------- densities

    def log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the density, or of the probability, at a value.

        >>> from mycelia.nn.probability.distribution import Exponential
        >>> Exponential(1.0).log_prob(2.0).item()
        -2.0
        """
        x, given = self._value(value), self.get_dist_args(*args, **kwargs)
        if rule := self._rule("_log_prob"):
            return rule(x, *given)
        if rule := self._rule("_prob"):
            return ops.log(rule(x, *given))
        raise self._none("density")

    def prob(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The density, or the probability, at a value.

        >>> from mycelia.nn.probability.distribution import Uniform
        >>> Uniform(0.0, 2.0).prob(1.0).item()
        0.5
        """
        if rule := self._rule("_prob"):
            return rule(self._value(value), *self.get_dist_args(*args, **kwargs))
        return ops.exp(self.log_prob(value, *args, **kwargs))

    # ------------------------------------------------------------------------------------------------------- shares

    def cdf(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The share that lies at or below a value.

        >>> from mycelia.nn.probability.distribution import Uniform
        >>> Uniform(0.0, 2.0).cdf(0.5).item()
        0.25
        """
        x, given = self._value(value), self.get_dist_args(*args, **kwargs)
        if rule := self._rule("_cdf"):
            return rule(x, *given)
        if rule := self._rule("_log_cdf"):
            return ops.exp(rule(x, *given))
        if rule := self._rule("_survival_function"):
            return 1.0 - rule(x, *given)
        raise self._none("distribution function")

    def log_cdf(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the share that lies at or below a value.

        >>> from mycelia.nn.probability.distribution import Normal
        >>> round(Normal(0.0, 1.0).log_cdf(-20.0).item(), 3)
        -203.917
        """
        if rule := self._rule("_log_cdf"):
            return rule(self._value(value), *self.get_dist_args(*args, **kwargs))
        return ops.log(self.cdf(value, *args, **kwargs))

    def survival_function(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The share that lies above a value.

        >>> from mycelia.nn.probability.distribution import Uniform
        >>> Uniform(0.0, 2.0).survival_function(0.5).item()
        0.75
        """
        x, given = self._value(value), self.get_dist_args(*args, **kwargs)
        if rule := self._rule("_survival_function"):
            return rule(x, *given)
        if rule := self._rule("_log_survival"):
            return ops.exp(rule(x, *given))
        return 1.0 - self.cdf(value, *args, **kwargs)

    def log_survival(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the share that lies above a value.

        >>> from mycelia.nn.probability.distribution import Exponential
        >>> Exponential(2.0).log_survival(3.0).item()
        -6.0
        """
        if rule := self._rule("_log_survival"):
            return rule(self._value(value), *self.get_dist_args(*args, **kwargs))
        return ops.log(self.survival_function(value, *args, **kwargs))

    # ------------------------------------------------------------------------------------------------------ moments

    def _asked(self, question: str, args: Any, kwargs: Any) -> Tensor:
        if rule := self._rule(f"_{question}"):
            return rule(*self.get_dist_args(*args, **kwargs))
        raise self._none(question)

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """The mean.

        >>> from mycelia.nn.probability.distribution import Gamma
        >>> Gamma(3.0, 2.0).mean().item()
        1.5
        """
        return self._asked("mean", args, kwargs)

    def mode(self, *args: Any, **kwargs: Any) -> Tensor:
        """Where the density is largest.

        >>> from mycelia.nn.probability.distribution import Gamma
        >>> Gamma(3.0, 2.0).mode().item()
        1.0
        """
        return self._asked("mode", args, kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """The variance.

        >>> from mycelia.nn.probability.distribution import Normal
        >>> Normal(0.0, 3.0).var().item()
        9.0
        """
        if rule := self._rule("_var"):
            return rule(*self.get_dist_args(*args, **kwargs))
        return ops.square(self._asked("sd", args, kwargs))

    def sd(self, *args: Any, **kwargs: Any) -> Tensor:
        """The standard deviation.

        >>> from mycelia.nn.probability.distribution import Poisson
        >>> Poisson(9.0).sd().item()
        3.0
        """
        if rule := self._rule("_sd"):
            return rule(*self.get_dist_args(*args, **kwargs))
        return ops.sqrt(self._asked("var", args, kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """The mean of minus the logarithm of the density.

        >>> from mycelia.nn.probability.distribution import Exponential
        >>> Exponential(1.0).entropy().item()
        1.0
        """
        return self._asked("entropy", args, kwargs)

    # --------------------------------------------------------------------------------------------------- divergences

    def _pair(self, dist: Any, args: Any, kwargs: Any) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The parameters of the other distribution, which stand first and end with _b, and those of this one."""
        if dist != self.cls_name:
            raise ArgumentError(
                f"{self.cls_name} is compared with another one of its family, not with {dist!r}",
                hint=f'the first argument is "{self.cls_name}"',
            )
        count = len(self.words)
        ours = {k.removesuffix("_a"): v for k, v in kwargs.items() if not k.endswith("_b")}
        theirs = {k.removesuffix("_b"): v for k, v in kwargs.items() if k.endswith("_b")}
        missing = [w for w in self.words[len(args[:count]) :] if w not in theirs]
        if missing:
            raise ArgumentError(
                f"the other {self.cls_name} has no {', '.join(missing)}", hint="give all its parameters"
            )
        return self.get_dist_args(*args[:count], **theirs), self.get_dist_args(*args[count:], **ours)

    def kl_loss(self, dist: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The divergence of Kullback and Leibler from this distribution to another of its family, whose name and
        parameters are given: the mean, over this one, of the difference of the logarithms.

        >>> from mycelia.nn.probability.distribution import Normal
        >>> Normal(0.0, 1.0).kl_loss("Normal", 1.0, 1.0).item()
        0.5
        """
        theirs, ours = self._pair(dist, args, kwargs)
        if rule := self._rule("_kl_loss"):
            return rule(*ours, *theirs)
        raise self._none("divergence")

    def cross_entropy(self, dist: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The mean, over this distribution, of minus the logarithm of the density of another of its family.

        >>> from mycelia.nn.probability.distribution import Exponential
        >>> Exponential(1.0).cross_entropy("Exponential", 1.0).item()
        1.0
        """
        _, ours = self._pair(dist, args, kwargs)
        return self.entropy(*ours) + self.kl_loss(dist, *args, **kwargs)

    # ------------------------------------------------------------------------------------------------------- samples

    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Tensor:
        """Numbers drawn: so many, each in the shape of the parameters. Gradients flow into the parameters where samples
        are functions of them and of noise.

        >>> from mycelia.nn.probability.distribution import Normal
        >>> Normal(Tensor([0.0, 1.0]), 1.0, seed=3).sample((5,)).shape
        (5, 2)
        """
        given = self.get_dist_args(*args, **kwargs)
        wanted = tuple(shape) if isinstance(shape, tuple | list) else (int(shape),)
        whole = (*wanted, *np.broadcast_shapes(*[v.shape for v in given]))
        if rule := self._rule("_sample"):
            return cast(rule(whole, *given), self.dtype)
        raise self._none("sample")

    def _uniform(self, shape: tuple[int, ...]) -> Tensor:
        """Numbers above 0 and below 1."""
        drawn = ops.rand(shape, dtype=float64, generator=self._source)
        return cast(ops.clamp(drawn, 1e-300, 1.0 - 2.0**-53), float64)

    def _noise(self, shape: tuple[int, ...]) -> Tensor:
        return ops.randn(shape, dtype=self.parameter_type, generator=self._source)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        checks.choice(self.cls_name, "name", name, QUESTIONS)
        if name == "get_dist_type":
            return self.get_dist_type()  # whatever its parameters are
        return getattr(self, name)(*args, **kwargs)
