"""Random numbers: eager, compiled and resumed are the same; under vmap every example has its own."""

import pickle
from copy import deepcopy

import numpy as np
import pytest

import mycelia as ms
from mycelia import Generator, Tensor, nn, ops

X = Tensor(np.zeros((5, 4), "f"))


def in_a_loop(x):
    i = Tensor(0)
    while i < 3:
        x = x + ops.rand(4)
        i = i + 1
    return x


def in_another_function(x):
    return x + ms.vmap(lambda y: y + ops.rand())(x)


def on_one_way(x):
    if ops.rand() > 0.5:
        x = x + ops.rand(4)
    return x + ops.rand(4)


def until_enough(x):
    while x.sum() < 3.0:
        x = x + ops.rand(4)
    return x


DRAWS = {
    "rand": lambda x: x + ops.rand(4),
    "randn": lambda x: x + ops.randn(4),
    "rand_like": lambda x: ops.rand_like(x),
    "randn_like": lambda x: ops.randn_like(x),
    "randint": lambda x: x + ops.randint(0, 1000, (4,)),
    "normal": lambda x: ops.normal((4,), x, 1.0),
    "standard_normal": lambda x: x + ops.standard_normal((4,)),
    "uniform": lambda x: x + ops.uniform((4,), 0.0, 2.0),
    "laplace": lambda x: x + ops.laplace((4,), 0.0, 1.0),
    "truncated_normal": lambda x: x + ops.truncated_normal((4,)),
    "randperm": lambda x: x + ops.randperm(4),
    "shuffle": lambda x: ops.shuffle(x + ops.arange(4)),
    "twice": lambda x: (x + ops.rand(4)) * ops.rand(4),
    "bernoulli": lambda x: ops.bernoulli(ops.tile(x, (16,)), 0.5),
    "dropout": lambda x: ops.dropout(ops.tile(x, (16,)) + 1.0, 0.5),
    "in a loop": in_a_loop,
    "on one way": on_one_way,
    "until enough": until_enough,
    "multinomial": lambda x: x + ops.multinomial(ops.arange(1, 51).astype("float32"), 4),
    "multinomial without replacement": lambda x: x + ops.multinomial(ops.arange(1, 51).astype("float32"), 4, False),
    "in another vmap": in_another_function,
}
WAYS = {
    "eager": lambda f, **more: ms.vmap(f, **more),
    "jit(vmap)": lambda f, **more: ms.jit(ms.vmap(f, **more)),
    "jit, vmap inside": lambda f, **more: ms.jit(lambda x: ms.vmap(f, **more)(x)),
    "vmap(jit)": lambda f, **more: ms.vmap(ms.jit(f), **more),
}


def drawn(way, draw, seed=7, **more):
    ms.set_seed(seed)
    return WAYS[way](DRAWS[draw], **more)(X).asnumpy(), ms.get_rng_state().tolist()


@pytest.mark.parametrize("draw", DRAWS)
def test_every_example_has_its_own_numbers(draw):
    rows, _ = drawn("eager", draw)
    assert len({row.tobytes() for row in rows}) == len(rows)


@pytest.mark.parametrize("draw", [d for d in DRAWS if d != "in another vmap"])
def test_examples_have_the_same_numbers_where_that_is_asked_for(draw):
    rows, _ = drawn("eager", draw, randomness="same")
    assert len({row.tobytes() for row in rows}) == 1


@pytest.mark.parametrize("randomness", ["different", "same"])
@pytest.mark.parametrize("draw", DRAWS)
def test_compiled_examples_draw_what_eager_ones_do(draw, randomness):
    numbers, state = drawn("eager", draw, randomness=randomness)
    for way in WAYS:
        again, left = drawn(way, draw, randomness=randomness)
        assert np.allclose(numbers, again, rtol=1e-6), way
        assert state == left, way


@pytest.mark.parametrize("way", WAYS)
def test_a_call_draws_other_numbers_than_the_call_before(way):
    run = WAYS[way](DRAWS["rand"])
    first, second = run(X).asnumpy(), run(X).asnumpy()
    assert not np.intersect1d(first, second).size
    assert not np.intersect1d(first, ops.rand(1000).asnumpy()).size


@pytest.mark.parametrize("way", WAYS)
def test_nothing_random_may_happen_where_that_is_an_error(way):
    with pytest.raises(ms.errors.MyceliaError, match="randomness='error'"):
        WAYS[way](DRAWS["rand"], randomness="error")(X)
    assert WAYS[way](lambda x: x + 1, randomness="error")(X).shape == X.shape


def test_a_randomness_that_nobody_knows_is_an_error():
    with pytest.raises(ms.errors.ArgumentError, match="randomness cannot be 'equal'"):
        ms.vmap(DRAWS["rand"], randomness="equal")


def test_a_seed_is_the_same_for_all_examples():
    rows = ms.vmap(lambda x: x + ops.rand(4, seed=3))(X).asnumpy()
    assert (rows == ops.rand(4, seed=3).asnumpy()).all()


def test_examples_of_examples_have_their_own_numbers():
    out = ms.vmap(ms.vmap(lambda x: x + ops.rand()))(Tensor(np.zeros((30, 40), "f"))).asnumpy()
    assert len(np.unique(out)) > 1190  # of 1200 numbers of 24 bits
    rows = ms.vmap(ms.vmap(lambda x: x + ops.rand(), randomness="same"))(Tensor(np.zeros((30, 40), "f"))).asnumpy()
    assert (rows == rows[:, :1]).all()
    assert len(np.unique(rows)) == 30


def test_numbers_of_examples_are_as_random_as_others():
    """Of 200 examples with 500 numbers each: moments of each and between neighbours, against their own deviations."""
    u = ms.vmap(lambda x: x + ops.rand(500))(Tensor(np.zeros((200, 1), "f"))).asnumpy().reshape(200, 500) - 0.5
    assert abs(u.mean()) < 5 * (1 / 12 / u.size) ** 0.5
    assert abs((u * u).mean() - 1 / 12) < 5 * (1 / 180 / u.size) ** 0.5
    for left, right in ((u[1:], u[:-1]), (u[:, 1:], u[:, :-1])):
        assert abs((left * right).mean()) < 5 / 12 / left.size**0.5


def test_a_dropped_out_layer_drops_other_units_for_each_example():
    layer = nn.Dropout(p=0.5)
    layer.set_train()
    rows = ms.vmap(layer)(Tensor(np.ones((8, 64), "f"))).asnumpy()
    assert len({row.tobytes() for row in rows}) == 8


# ---------------------------------------------------------------------------------------------------------- generators


def draws(generator):
    return [ops.rand(3, generator=generator).tolist(), ops.randn(2, generator=generator).tolist()]


def test_a_state_that_is_set_again_gives_the_same_numbers():
    g = Generator().manual_seed(11)
    draws(g)
    state = g.get_state()
    rest = [draws(g) for _ in range(3)]
    g.seed()
    g.set_state(state)
    assert g.initial_seed() == 11
    assert [draws(g) for _ in range(3)] == rest


@pytest.mark.parametrize("copied", [deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_copy_goes_on_by_itself(copied):
    g = Generator().manual_seed(11)
    draws(g)
    other = copied(g)
    assert draws(other) == draws(g)
    draws(other)
    assert other.get_state().tolist() != g.get_state().tolist()


def test_a_state_survives_a_checkpoint(tmp_path):
    ms.set_seed(5)
    ops.rand(3)
    ms.save_checkpoint([{"name": "rng", "data": ms.get_rng_state()}], str(tmp_path / "state.ckpt"))
    after = ops.rand(3).tolist()
    ms.set_seed(6)
    ms.set_rng_state(ms.load_checkpoint(str(tmp_path / "state.ckpt"))["rng"])
    assert ops.rand(3).tolist() == after


def test_a_training_that_is_resumed_goes_on_with_the_same_numbers():
    @ms.jit
    def step(x):
        return ops.dropout(x, 0.5) + ops.randn(x.shape)

    x = Tensor(np.ones((4, 4), "f"))
    ms.set_seed(1)
    through = [step(x).tolist() for _ in range(6)]
    ms.set_seed(1)
    begun = [step(x).tolist() for _ in range(3)]
    state = ms.get_rng_state().asnumpy()
    ms.seed()
    step(x)
    ms.set_rng_state(Tensor(state))
    assert begun + [step(x).tolist() for _ in range(3)] == through


def test_streams_of_a_split_have_nothing_in_common():
    g = Generator().manual_seed(3)
    streams = [*g.split(3), *g.split(2), g]
    numbers = [ops.rand(1000, generator=s).asnumpy() for s in streams]
    together = np.concatenate(numbers)
    assert len(np.unique(together)) >= len(together) - 3
    again = [*Generator().manual_seed(3).split(3)]
    assert [s.initial_seed() for s in again] == [s.initial_seed() for s in streams[:3]]
    assert g.split(0) == ()
    with pytest.raises(ms.errors.ArgumentError, match="not -1"):
        g.split(-1)


def test_a_generator_in_a_compiled_function_moves_on_as_it_does_eagerly():
    def f(x, g):
        return x + ops.rand(2, generator=g)

    x = Tensor([0.0, 0.0])
    one, two, other = (Generator().manual_seed(s) for s in (3, 3, 4))
    compiled = ms.jit(f)
    for _ in range(4):
        assert compiled(x, one).tolist() == f(x, two).tolist()
    assert one.get_state().tolist() == two.get_state().tolist()
    assert compiled(x, other).tolist() == f(x, Generator().manual_seed(4)).tolist()


def test_seeds_by_their_names():
    generator = ms.manual_seed(9)
    assert generator is ms.default_generator
    assert ms.initial_seed() == ms.get_seed() == 9
    chosen = ms.seed()
    assert ms.initial_seed() == chosen
    with pytest.raises(ms.errors.ArgumentError, match="a seed or from a generator"):
        ops.rand(2, seed=1, generator=generator)
