"""Writing with a model that names the next word: greedily, by chance (temperature, top-k, top-p), or with beams.

A model is anything with `after(tokens, cache)`, such as `GPT`: it gives scores of the next word and a cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mycelia import checks
from mycelia.api.jit import jit
from mycelia.eager import Tensor
from mycelia.errors import ArgumentError
from mycelia.types import Array

Step = Callable[..., tuple[Tensor, Any]]


def probabilities(
    scores: Array, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Array:
    """How likely each next word is: with a low temperature the best ones more so; of the `top_k` best only, and of the
    fewest best ones that together have the probability `top_p`.

    >>> probabilities(np.array([0.0, np.log(3.0)])).round(2).tolist()
    [0.25, 0.75]
    >>> probabilities(np.array([0.0, 1.0, 2.0]), top_k=1).tolist()
    [0.0, 0.0, 1.0]
    """
    checks.number("probabilities", "temperature", temperature, above=0)
    scaled = np.asarray(scores, np.float64) / temperature
    order = np.argsort(-scaled, axis=-1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(scaled.shape[-1]), order.shape), -1)
    if top_k is not None:
        scaled = np.where(rank < checks.whole("probabilities", "top_k", top_k, least=1), scaled, -np.inf)
    chances = _softmax(scaled)
    if top_p is not None:
        most = checks.number("probabilities", "top_p", top_p, above=0, most=1)
        sorted_chances = np.take_along_axis(chances, order, -1)
        before = np.cumsum(sorted_chances, -1) - sorted_chances  # of those that are better
        kept = np.take_along_axis(before, rank, -1) < most
        chances = np.where(kept, chances, 0.0)
        chances /= chances.sum(-1, keepdims=True)
    return chances


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def generate(
    model: Any,
    tokens: Tensor,
    length: int,
    *,
    temperature: float | None = None,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
    stop: int | None = None,
) -> Tensor:
    """`tokens`, (batch, time), with `length` words more. Without a temperature, `top_k` and `top_p` the best word comes
    next each time (greedily), else one by chance. After the word `stop` a row goes on with `stop`; when all have come
    to it, it ends.

    >>> from mycelia.models import GPT
    >>> from mycelia.types import int32
    >>> generate(GPT(vocabulary=7, width=8, layers=1, heads=2, longest=8), Tensor([[1, 2]], int32), 3).shape
    (1, 5)
    """
    checks.whole("generate", "length", length, least=0)
    greedy = temperature is None and top_k is None and top_p is None
    rng = np.random.default_rng(seed)
    written = _checked(model, tokens, length)
    step = _step_of(model)
    ended = np.zeros(len(written), bool)
    new, cache = tokens, None
    for _ in range(length):
        scores, cache = step(new) if cache is None else step(new, cache)
        numbers = scores.asnumpy()
        if greedy:
            chosen = numbers.argmax(-1)
        else:
            chances = probabilities(numbers, 1.0 if temperature is None else temperature, top_k, top_p)
            chosen = (chances.cumsum(-1) > rng.random((len(written), 1))).argmax(-1)
        if stop is not None:
            chosen = np.where(ended, stop, chosen)
            ended |= chosen == stop
        written = np.concatenate([written, chosen[:, None].astype(written.dtype)], 1)
        if stop is not None and ended.all():
            break
        new = Tensor(written[:, -1:])
    return Tensor(written)


def beam_search(model: Any, tokens: Tensor, length: int, beams: int) -> tuple[Tensor, float]:
    """The likeliest of the continuations of `tokens`, (1, time), by `length` words that are found when the `beams` best
    beginnings are followed at each word; and the logarithm of its probability.

    >>> from mycelia.models import GPT
    >>> from mycelia.types import int32
    >>> net = GPT(vocabulary=7, width=8, layers=1, heads=2, longest=8)
    >>> beam_search(net, Tensor([[1, 2]], int32), 3, beams=2)[0].shape
    (1, 5)
    """
    checks.whole("beam_search", "length", length, least=0)
    checks.whole("beam_search", "beams", beams, least=1)
    written = _checked(model, tokens, length)
    if len(written) != 1:
        raise ArgumentError(f"beam_search continues one text, not {len(written)}", hint="call it for each of them")
    step = _step_of(model)
    totals, cache = np.zeros(1), None
    for _ in range(length):
        scores, cache = step(tokens) if cache is None else step(Tensor(written[:, -1:]), cache)
        numbers = scores.asnumpy().astype(np.float64)
        logs = numbers - numbers.max(-1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(-1, keepdims=True))
        together = (totals[:, None] + logs).reshape(-1)
        best = np.argsort(-together, kind="stable")[:beams]
        parents, words = np.divmod(best, logs.shape[-1])
        totals = together[best]
        written = np.concatenate([written[parents], words[:, None].astype(written.dtype)], 1)
        cache = tuple((Tensor(k.asnumpy()[parents]), Tensor(v.asnumpy()[parents])) for k, v in cache)
    best_of_all = int(totals.argmax())
    return Tensor(written[best_of_all : best_of_all + 1]), float(totals[best_of_all])


def _checked(model: Any, tokens: Tensor, length: int) -> Array:
    """The words so far, if there are some, and room for those that are to come."""
    if len(tokens.shape) != 2 or not tokens.shape[1]:
        raise ArgumentError(f"tokens are (batch, time), with a first word, not of shape {tuple(tokens.shape)}")
    longest = getattr(model, "longest", None)
    if longest is not None and tokens.shape[1] + length > longest + 1:
        raise ArgumentError(f"{tokens.shape[1]} words and {length} more are longer than the {longest} of the model")
    return np.asarray(tokens.asnumpy())


def _step_of(model: Any) -> Step:
    """The step of a model, compiled; kept with the model, so that the next text finds it."""
    found = model.__dict__.get("_sampling_step")
    if found is None:
        found = model.__dict__["_sampling_step"] = jit(model.after)
    return found  # type: ignore[no-any-return]  # what was kept there
