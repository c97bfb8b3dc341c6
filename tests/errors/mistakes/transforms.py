"""grad, value_and_grad, vmap and jit, used wrongly."""

import numpy as np

import mycelia as ms
from mycelia import Parameter, Tensor, nn, ops
from tests.errors.collect import mistake

X = Tensor(np.ones((2, 3), np.float32))
NET = nn.Dense(3, 4)


def square(x):
    return (x * x).sum()


@mistake(X)
def grad_of_a_result(x):
    return ms.grad(square(x))(x)


@mistake(Tensor([1, 2]))
def forward_mode_of_whole_numbers(x):
    return ms.jvp(square, (x,), (x,))


@mistake(Tensor([1, 2]))
def grad_of_whole_numbers_through_python(x):
    return ms.grad(lambda x: ops.pyfunc(np.square, x, x))(x)


@mistake(X)
def grad_of_an_argument_that_is_not_there(x):
    return ms.grad(square, grad_position=1)(x)


@mistake(X)
def grad_of_a_function_without_results(x):
    return ms.grad(lambda x: None)(x)


@mistake(X)
def grad_of_a_function_that_returns_text(x):
    return ms.grad(lambda x: "loss")(x)


@mistake(X)
def grad_with_respect_to_tensors(x):
    return ms.grad(square, None, x)(x)


@mistake(X)
def grad_with_respect_to_nothing(x):
    return ms.grad(square, None, None)(x)


@mistake(X)
def grad_without_its_argument(x):
    return ms.grad(square)()


@mistake(X)
def has_aux_without_anything_beside(x):
    return ms.value_and_grad(square, has_aux=True)(x)


@mistake(X)
def argnums_as_in_jax(x):
    return ms.grad(square, argnums=0)(x)


@mistake(X)
def a_gradient_position_of_text(x):
    return ms.grad(square, grad_position="x")(x)


@mistake(X)
def vmap_over_axes_of_other_lengths(x):
    return ms.vmap(lambda a, b: a + b)(x, Tensor([1.0, 2.0, 3.0]))


@mistake(X)
def vmap_over_an_axis_that_is_not_there(x):
    return ms.vmap(square, in_axes=3)(x)


@mistake(X)
def vmap_with_axes_for_other_arguments(x):
    return ms.vmap(square, in_axes=(0, 0))(x)


@mistake(X)
def vmap_over_nothing(x):
    return ms.vmap(square, in_axes=None)(x)


@mistake(Tensor(1.0))
def vmap_of_a_number(x):
    return ms.vmap(square)(x)


@mistake(X)
def vmap_with_a_wrong_shape_inside(x):
    return ms.vmap(lambda row: row @ NET.weight)(x)


@mistake(X)
def vmap_with_the_words_of_pytorch(x):
    return ms.vmap(square, in_dims=0)(x)


@mistake(jit=False)
def jit_of_a_number():
    return ms.jit(3)


@mistake(jit=False)
def jit_with_an_unknown_setting():
    return ms.jit(square, full_graph=True)


@mistake(X, jit=False)
def jit_without_fallback_of_what_python_must_do(x):
    @ms.jit(fallback=False)
    def f(x):
        with open("/dev/null") as file:
            file.read()
        return x

    return f(x)


@mistake(X)
def jvp_with_tangents_of_other_shapes(x):
    return ms.jvp(square, x, Tensor([1.0]))


@mistake(X)
def vjp_with_cotangents_of_other_shapes(x):
    _, back = ms.vjp(square, x)
    return back(x)


@mistake(X)
def assign_of_another_shape(x):
    p = Parameter([1.0, 2.0], name="p")
    return ops.assign(p, x)


@mistake(X)
def assign_to_a_tensor(x):
    return ops.assign(x, 3)


@mistake(jit=False)
def an_unknown_setting_of_the_context():
    ms.set_context(mod=ms.GRAPH_MODE)


@mistake(jit=False)
def a_mode_that_does_not_exist():
    ms.set_context(mode="graph")


@mistake(jit=False)
def a_seed_that_is_no_number():
    ms.set_seed("abc")


@mistake(X)
def a_variable_that_only_one_branch_sets(x):
    if x.sum() < 0:
        y = x
    return y


@mistake(X)
def an_error_in_a_function_that_is_called(x):
    def helper(y):
        return y.reshape(7)

    return helper(x * 2)


@mistake(X)
def vmap_of_a_result(x):
    return ms.vmap(square(x))(x)


@mistake(X)
def vmap_with_arguments_by_name(x):
    return ms.vmap(square)(x=x)


@mistake(jit=False)
def a_setting_without_its_name():
    ms.set_context(ms.GRAPH_MODE)


@mistake(jit=False)
def parameters_that_are_no_list():
    return ms.ParameterTuple(3)
