"""Losses that are negative log-likelihoods: of normal and Poisson numbers, of aligned labels, of sampled classes."""

from __future__ import annotations

import math
from typing import Any

from mycelia import checks, ops
from mycelia.eager import Tensor, cast
from mycelia.errors import ArgumentError, CallError, ShapeError
from mycelia.nn.loss import LossBase
from mycelia.ops import margins
from mycelia.ops.alignment import alignment
from mycelia.types import int32


class GaussianNLLLoss(LossBase):
    """-log of the density of labels that are normal with mean `logits` and variance `var`, which is at least `eps`.

    `full` adds the constant log(2 pi) / 2.

    >>> GaussianNLLLoss()(Tensor([1.0]), Tensor([3.0]), Tensor([1.0])).item()
    2.0
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.full = checks.truth(self.cls_name, "full", full)
        self.eps = checks.number(self.cls_name, "eps", eps, above=0)

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        return margins.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """-log of the probability of a Poisson number `target`, whose rate, or its logarithm, is `input`.

    `full` adds Stirling's approximation of log(target!), for targets above 1.

    >>> PoissonNLLLoss()(Tensor([0.0]), Tensor([1.0])).item()
    1.0
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        super().__init__(reduction)
        self.log_input = checks.truth(self.cls_name, "log_input", log_input)
        self.full = checks.truth(self.cls_name, "full", full)
        self.eps = checks.number(self.cls_name, "eps", eps, above=0)

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        target = cast(target, input.dtype)
        rate, log = (ops.exp(input), input) if self.log_input else (input, ops.log(input + self.eps))
        losses = rate - target * log
        if self.full:
            large = ops.maximum(target, 1.0)
            stirling = large * ops.log(large) - large + 0.5 * ops.log(2 * math.pi * large)
            losses = losses + ops.where(target > 1, stirling, ops.zeros_like(stirling))
        return self.get_loss(losses)


class CTCLoss(LossBase):
    """-log of the probability of a sequence of labels, over all its alignments with time, with blanks between labels.

    `log_probs` are (time, batch, classes), or without a batch; "mean" divides by the length of each target first.
    `zero_infinity` makes losses zero where a target does not fit into its time.

    >>> even = Tensor([[[math.log(0.5)] * 2]] * 2)
    >>> f"{CTCLoss()(even, Tensor([[1]]), Tensor([2]), Tensor([1])).item():.4f}"
    '0.2877'
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction)
        self.blank = checks.whole(self.cls_name, "blank", blank, least=0)
        self.zero_infinity = checks.truth(self.cls_name, "zero_infinity", zero_infinity)

    def construct(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        if log_probs.ndim not in (2, 3) or self.blank >= log_probs.shape[-1]:
            raise ShapeError(
                f"CTCLoss with blank {self.blank} takes (time, batch, classes) or (time, classes)",
                given={"log_probs": log_probs.shape},
                hint="blank is one of the classes",
            )
        lengths, sizes = ops.ravel(Tensor(input_lengths)), ops.ravel(Tensor(target_lengths))
        one = log_probs.ndim == 2
        if one:
            log_probs, targets = log_probs[:, None], targets.reshape((1, -1))
        losses = alignment(log_probs, targets, lengths, sizes, self.blank)
        if self.zero_infinity:
            losses = ops.where(ops.isinf(losses), ops.zeros_like(losses), losses)
        if self.reduction == "mean":
            losses = losses / ops.maximum(sizes, 1).astype(losses.dtype)
        losses = self.get_loss(losses)
        return losses[0] if one and self.reduction == "none" else losses


class FocalLoss(LossBase):
    """Cross-entropy that weighs an example less, the better it is known: (1 - p) ** gamma times -log p.

    `labels` have the shape of the scores, or one channel with the numbers of the classes.

    >>> f"{FocalLoss()(Tensor([[0.0, 0.0]]), Tensor([[1]])).item():.4f}"
    '0.1733'
    """

    def __init__(self, weight: Tensor | None = None, gamma: float = 2.0, reduction: str = "mean") -> None:
        super().__init__(reduction)
        if weight is not None and weight.ndim != 1:
            raise ArgumentError(f"weight of FocalLoss has one axis, not shape {weight.shape}")
        self.weight, self.gamma = weight, checks.number(self.cls_name, "gamma", gamma)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        if logits.ndim != labels.ndim or logits.ndim < 2 or labels.shape[1] not in (1, logits.shape[1]):
            raise ShapeError(
                "labels have the axes of the scores, and one channel or as many",
                given={"logits": logits.shape, "labels": labels.shape},
            )
        flat = (logits.shape[0], logits.shape[1], -1)
        logs = ops.log_softmax(logits.reshape(flat), 1)
        labels = labels.reshape((labels.shape[0], labels.shape[1], -1))
        weights = ops.ones_like(logs) if self.weight is None else ops.broadcast_to(self.weight[:, None], logs.shape)
        if labels.shape[1] == 1:
            places = cast(labels, int32)
            logs, weights = (ops.gather_elements(x, 1, places)[:, 0] for x in (logs, weights))
            losses = -((1.0 - ops.exp(logs)) ** self.gamma) * logs * weights
            return self.get_loss(ops.mean(losses, 1))
        losses = -((1.0 - ops.exp(logs)) ** self.gamma) * logs * weights * cast(labels, logs.dtype)
        return self.get_loss(ops.mean(losses, -1))


class SampledSoftmaxLoss(LossBase):
    """The cross-entropy among the right classes and some that are drawn at random, instead of all.

    Called with `weights` (classes, features), `biases`, `labels` (batch, num_true) and inputs (batch, features).
    `sampled_values` gives the classes drawn, and how often the right and the drawn ones are expected.

    >>> drawn = Tensor([0]), Tensor([[1.0]]), Tensor([1.0])
    >>> loss = SampledSoftmaxLoss(1, 2, sampled_values=drawn)
    >>> w = Tensor([[0.0], [0.0]])
    >>> f"{loss(w, Tensor([0.0, 0.0]), Tensor([[1]]), Tensor([[1.0]])).item():.4f}"
    '0.6931'
    """

    def __init__(
        self,
        num_sampled: int,
        num_classes: int,
        num_true: int = 1,
        sampled_values: Any = None,
        remove_accidental_hits: bool = True,
        seed: int = 0,
        reduction: str = "none",
    ) -> None:
        super().__init__(reduction)
        self.num_classes = checks.whole(self.cls_name, "num_classes", num_classes, least=1)
        self.num_sampled = checks.whole(self.cls_name, "num_sampled", num_sampled, least=1)
        self.num_true = checks.whole(self.cls_name, "num_true", num_true, least=1)
        checks.whole(self.cls_name, "seed", seed, least=0)
        if max(num_sampled, num_true) > num_classes:
            raise ArgumentError(f"{num_sampled} drawn and {num_true} right classes are more than {num_classes}")
        if sampled_values is not None and (not isinstance(sampled_values, tuple | list) or len(sampled_values) != 3):
            raise CallError(
                "sampled_values are three tensors", given={"sampled_values": sampled_values},
                hint="the classes drawn, and how often the right and the drawn ones are expected",
            )  # fmt: skip
        self.sampled_values = sampled_values
        self.remove_accidental_hits = checks.truth(self.cls_name, "remove_accidental_hits", remove_accidental_hits)

    def construct(self, weights: Tensor, biases: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
        labels = cast(labels, int32).reshape((-1, self.num_true))
        if self.sampled_values is None:
            drawn = ops.randperm(self.num_classes)[: self.num_sampled].astype(int32)
            likely = self.num_sampled / self.num_classes
            of_right, of_drawn = ops.full(labels.shape, likely, dtype=logits.dtype), likely * ops.ones(drawn.shape)
        else:
            drawn, of_right, of_drawn = self.sampled_values
            drawn = cast(drawn, int32)
        right = ops.sum(logits[:, None] * ops.gather(weights, labels, 0), 2) + ops.gather(biases, labels, 0)
        others = logits @ ops.gather(weights, drawn, 0).T + ops.gather(biases, drawn, 0)
        others = others - ops.log(of_drawn)
        if self.remove_accidental_hits and self.sampled_values is None:
            hit = ops.any(labels[:, :, None] == drawn, axis=1)
            others = ops.where(hit, -1e30, others)
        scores = ops.cat((right - ops.log(of_right), others), 1)
        return -ops.mean(ops.log_softmax(scores, 1)[:, : self.num_true], 1)  # type: ignore[no-any-return]
