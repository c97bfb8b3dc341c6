"""Networks around networks: with a loss, with gradients, with a whole training step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mycelia.api import jvp, value_and_grad, vjp
from mycelia.api.parallel_context import ParallelMode, get_auto_parallel_context
from mycelia.communication import get_group_size
from mycelia.eager import Parameter, ParameterTuple, Tensor
from mycelia.errors import ArgumentError
from mycelia.nn.cell import Cell
from mycelia.nn.optim import Optimizer
from mycelia.ops.communication import all_reduce
from mycelia.primitives import WORLD

ADDED_UP = (ParallelMode.DATA_PARALLEL, ParallelMode.HYBRID_PARALLEL)
"""Modes in which a training step adds up the gradients of all processes."""


class WithLossCell(Cell):
    """A network and its loss: from data and labels to one number.

    >>> from mycelia.nn import Identity, MSELoss
    >>> WithLossCell(Identity(), MSELoss())(Tensor([1.0]), Tensor([3.0])).item()
    4.0
    """

    def __init__(self, backbone: Cell, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self.backbone, self._loss_fn = backbone, loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self.backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network without the loss."""
        return self.backbone


class WithEvalCell(Cell):
    """A network as an evaluation sees it: the loss, the prediction and the labels.

    >>> from mycelia.nn import Identity, MSELoss
    >>> loss, prediction, labels = WithEvalCell(Identity(), MSELoss())(Tensor([1.0]), Tensor([3.0]))
    >>> loss.item(), prediction.item()
    (4.0, 1.0)
    """

    def __init__(self, network: Cell, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network, self._loss_fn = network, loss_fn

    def construct(self, data: Any, label: Any) -> tuple[Any, Any, Any]:
        outputs = self.network(data)
        return self._loss_fn(outputs, label), outputs, label


class ForwardValueAndGrad(Cell):
    """What a network gives, with gradients: of all inputs (`get_all`), of weights (`get_by_list`), or the first input.

    >>> from mycelia.nn import ReLU
    >>> value, gradient = ForwardValueAndGrad(ReLU())(Tensor([2.0, -1.0]))
    >>> gradient.asnumpy()
    array([1., 0.], dtype=float32)
    """

    def __init__(
        self,
        network: Any,
        weights: Iterable[Parameter] | None = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if get_by_list and weights is None:
            raise ArgumentError("gradients of weights need the weights", hint="weights=net.trainable_params()")
        self.network, self.get_all, self.get_by_list, self.sens_param = network, get_all, get_by_list, sens_param
        self.__dict__["weights"] = None if weights is None else ParameterTuple(weights)

    def construct(self, *inputs: Any) -> tuple[Any, Any]:
        count = len(inputs) - self.sens_param
        position = None if self.get_by_list and not self.get_all else range(count) if self.get_all else 0
        weights = self.__dict__["weights"] if self.get_by_list else None
        return value_and_grad(self.network, position, weights, sens_param=self.sens_param)(*inputs)


class TrainOneStepCell(Cell):
    """A training step: the loss of a network on its inputs, the gradients of its weights, and their update.

    `sens` scales the loss before it is differentiated; `return_grad` gives the gradients back beside the loss.

    >>> from mycelia.nn import SGD, Dense, MSELoss
    >>> net = Dense(1, 1, weight_init="ones", has_bias=False)
    >>> step = TrainOneStepCell(WithLossCell(net, MSELoss()), SGD(net.trainable_params(), 0.25))
    >>> step(Tensor([[1.0]]), Tensor([[3.0]])).item(), net.weight.asnumpy()
    (4.0, array([[2.]], dtype=float32))
    """

    def __init__(
        self, network: Cell, optimizer: Optimizer, sens: float | None = None, return_grad: bool = False
    ) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.optimizer = network, optimizer
        self.sens, self.return_grad = 1.0 if sens is None else float(sens), return_grad
        self.network.set_grad()
        self.grad_reducer: DistributedGradReducer | None = None
        if get_auto_parallel_context("parallel_mode") in ADDED_UP:
            mean = bool(get_auto_parallel_context("gradients_mean"))
            self.grad_reducer = DistributedGradReducer(optimizer.parameters, mean)

    def construct(self, *inputs: Any) -> Any:
        weights = self.optimizer.parameters
        (_, loss), gradients = value_and_grad(self._scaled, None, weights, has_aux=True)(*inputs)
        if self.grad_reducer is not None:
            gradients = self.grad_reducer(gradients)
        self.optimizer(gradients)
        if self.return_grad:
            return loss, {weight.name: gradient for weight, gradient in zip(weights, gradients, strict=True)}
        return loss

    def _scaled(self, *inputs: Any) -> tuple[Tensor, Tensor]:
        """The loss as it is differentiated, and as it is."""
        loss = self.network(*inputs)
        return loss * self.sens, loss


class DistributedGradReducer(Cell):
    """Gradients of all processes, added up, or their `mean`: what data-parallel training gives to the optimizer.
    Without a word it is what `set_auto_parallel_context(gradients_mean=...)` says, and that is at first the sum.

    >>> reduced = DistributedGradReducer([Parameter([1.0])])((Tensor([4.0]),))
    >>> reduced[0].tolist()
    [4.0]
    """

    def __init__(
        self,
        parameters: Iterable[Parameter],
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str = WORLD,
    ) -> None:
        super().__init__(auto_prefix=False)
        if degree is not None and (type(degree) is not int or degree < 1):
            raise ArgumentError(f"degree is how many processes there are, not {degree!r}")
        if fusion_type != 1:
            raise ArgumentError("gradients are reduced one by one here", hint="leave out fusion_type")
        self.count, self.group = len(list(parameters)), group
        self.mean = bool(get_auto_parallel_context("gradients_mean") if mean is None else mean)
        self.degree = degree

    def construct(self, grads: Any) -> tuple[Tensor, ...]:
        if len(grads) != self.count:
            raise ArgumentError(f"{len(grads)} gradients for {self.count} parameters")
        share = 1.0 / (self.degree or get_group_size(self.group))
        reduced = [all_reduce(g, "sum", self.group) for g in grads]
        return tuple([g * share for g in reduced] if self.mean else reduced)


class Jvp(Cell):
    """What a network gives, and its change when the inputs move along `v`: called with the inputs and `v`, the last.

    >>> from mycelia.nn import ReLU
    >>> [t.tolist() for t in Jvp(ReLU())(Tensor([2.0, -1.0]), Tensor([3.0, 3.0]))]
    [[2.0, 0.0], [3.0, 0.0]]
    """

    def __init__(self, fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        *inputs, v = args
        return jvp(self.fn, tuple(inputs) if len(inputs) > 1 else inputs[0], v)


class Vjp(Cell):
    """What a network gives, and the gradient of its inputs when that of its result is `v`, the last argument.

    >>> from mycelia.nn import ReLU
    >>> out, gradient = Vjp(ReLU())(Tensor([2.0, -1.0]), Tensor([3.0, 3.0]))
    >>> gradient.tolist()
    [3.0, 0.0]
    """

    def __init__(self, fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        *inputs, v = args
        out, back = vjp(self.fn, *inputs)
        found = back(*v) if isinstance(v, tuple) else back(v)
        alone = isinstance(found, tuple) and len(found) == 1
        return out, found[0] if alone else found


class WithGradCell(Cell):
    """The gradients of a network's weights, of its loss on data and labels, or of its own result.

    >>> from mycelia.nn import Dense, MSELoss
    >>> net = Dense(1, 1, weight_init="ones", has_bias=False)
    >>> WithGradCell(net, MSELoss())(Tensor([[1.0]]), Tensor([[3.0]]))[0].tolist()
    [[-4.0]]
    """

    def __init__(self, network: Cell, loss_fn: Any = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.loss_fn, self.sens = network, loss_fn, sens
        self.network.set_grad()
        self.__dict__["weights"] = ParameterTuple(network.trainable_params())

    def construct(self, *inputs: Any) -> Any:
        return value_and_grad(self._seen, None, self.__dict__["weights"])(*inputs)[1]

    def _seen(self, *inputs: Any) -> Any:
        """What is differentiated."""
        if self.loss_fn is None:
            out = self.network(*inputs)
        else:
            *data, label = inputs
            out = self.loss_fn(self.network(*data), label)
        return out if self.sens is None else out * self.sens
