"""Writing with a model: the cache changes nothing, chances are those of the model, beams find the likeliest."""

from itertools import product

import numpy as np
import pytest

import mycelia as ms
from mycelia.errors import ArgumentError
from mycelia.models import GPT, beam_search, generate, probabilities


@pytest.fixture(scope="module")
def model():
    ms.set_seed(3)
    net = GPT(vocabulary=5, width=8, layers=2, heads=2, longest=12)
    rng = np.random.default_rng(0)
    for p in net.get_parameters():  # so that words differ
        p.set_data(ms.Tensor(rng.normal(size=p.shape).astype(np.float32) * 0.6))
    return net


FIRST = np.array([[1, 2], [3, 0]], np.int32)


def greedy(net, tokens, length):
    """By the whole text each time, eagerly."""
    for _ in range(length):
        best = net(ms.Tensor(tokens)).asnumpy()[:, -1].argmax(-1)
        tokens = np.concatenate([tokens, best[:, None].astype(np.int32)], 1)
    return tokens


def test_with_keys_and_values_kept_it_writes_what_it_writes_without(model):
    np.testing.assert_array_equal(generate(model, ms.Tensor(FIRST), 6).asnumpy(), greedy(model, FIRST, 6))


@pytest.mark.parametrize("how", [{"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-6}])
def test_hardly_any_chance_is_greedy(model, how):
    np.testing.assert_array_equal(generate(model, ms.Tensor(FIRST), 4, **how).asnumpy(), greedy(model, FIRST, 4))


def test_a_seed_is_a_text(model):
    a, b = (generate(model, ms.Tensor(FIRST), 5, temperature=2.0, seed=7).asnumpy() for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert a.shape == (2, 7)


def test_chances_are_those_of_the_scores():
    scores = np.random.default_rng(0).normal(size=(3, 6)) * 2
    soft = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(probabilities(scores), soft)
    hot = np.exp(scores / 2) / np.exp(scores / 2).sum(-1, keepdims=True)
    np.testing.assert_allclose(probabilities(scores, 2.0), hot)
    for row, got in zip(soft, probabilities(scores, top_k=2), strict=True):
        best = np.argsort(row)[-2:]
        np.testing.assert_allclose(got[best], row[best] / row[best].sum())
        assert got.sum() == pytest.approx(1)
    for row, got in zip(soft, probabilities(scores, top_p=0.7), strict=True):
        kept = got > 0
        assert row[kept].sum() >= 0.7
        assert row[kept].sum() - row[kept].min() < 0.7  # one fewer would not do
        assert row[~kept].max(initial=0) <= row[kept].min()
        np.testing.assert_allclose(got[kept], row[kept] / row[kept].sum())
    np.testing.assert_allclose(probabilities(scores, top_p=1.0), soft)


def log_probability(net, tokens, first):
    scores = net(ms.Tensor(tokens[None])).asnumpy()[0].astype(np.float64)
    logs = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    return sum(logs[t - 1, tokens[t]] for t in range(first, len(tokens)))


def test_with_enough_beams_the_likeliest_text_of_all_is_found(model):
    first = FIRST[:1]
    texts = [np.concatenate([first[0], np.array(rest, np.int32)]) for rest in product(range(5), repeat=3)]
    best = max(texts, key=lambda text: log_probability(model, text, 2))
    found, score = beam_search(model, ms.Tensor(first), 3, beams=25)
    np.testing.assert_array_equal(found.asnumpy()[0], best)
    assert score == pytest.approx(log_probability(model, best, 2), abs=1e-4)
    np.testing.assert_array_equal(beam_search(model, ms.Tensor(first), 3, 1)[0].asnumpy(), greedy(model, first, 3))


def test_a_row_that_has_come_to_the_end_stays_there(model):
    plain = greedy(model, FIRST, 4)
    stop = int(plain[0, 2])
    got = generate(model, ms.Tensor(FIRST[:1]), 4, stop=stop).asnumpy()
    assert got.shape == (1, 3)
    assert got[0, -1] == stop


def test_wrong_arguments(model):
    for wrong in ({"temperature": 0.0}, {"top_k": 0}, {"top_p": 1.5}):
        with pytest.raises(ArgumentError):
            generate(model, ms.Tensor(FIRST), 1, **wrong)
    with pytest.raises(ArgumentError, match="longer than the 12"):
        generate(model, ms.Tensor(FIRST), 20)
    with pytest.raises(ArgumentError, match="with a first word"):
        generate(model, ms.Tensor(FIRST[:, :0]), 2)
    with pytest.raises(ArgumentError, match="continues one text"):
        beam_search(model, ms.Tensor(FIRST), 2, 2)
