"""What members of Cell do, as programs that any MindSpore can run; each gives plain data."""

import numpy as np


def plain(x):
    """Tensors as lists, in whatever holds them."""
    if isinstance(x, (tuple, list)):
        return [plain(y) for y in x]
    return x.asnumpy().tolist() if hasattr(x, "asnumpy") else x


def backward_hooks(ms):
    seen = []
    net = ms.nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    net.register_backward_hook(lambda cell, leave, come: seen.append(["hook", plain(leave), plain(come)]))
    net.register_backward_pre_hook(lambda cell, come: seen.append(["pre", plain(come)]))
    x = ms.Tensor(np.array([[1.0, 2.0]], np.float32))
    found = [plain(ms.grad(net)(x)), plain(ms.grad(net, None, net.trainable_params())(x))]
    return [found, seen]


class Two:
    """A cell of two arguments and two results."""

    @staticmethod
    def made(ms):
        class Net(ms.nn.Cell):
            def construct(self, a, b, k=3):
                return a * b, a + b * k

        return Net()


def several_results(ms):
    seen, net = [], Two.made(ms)
    net.register_backward_hook(lambda cell, leave, come: seen.append(["hook", plain(leave), plain(come)]))
    net.register_backward_pre_hook(lambda cell, come: (come[0] * 10, come[1]))
    a, b = (ms.Tensor(np.array([v], np.float32)) for v in (2.0, 5.0))
    return [plain(ms.grad(lambda a, b: sum(net(a, b)), (0, 1))(a, b)), seen]


def replaced_gradients(ms):
    net = Two.made(ms)
    net.register_backward_hook(lambda cell, leave, come: (leave[0] * 0 + 7, leave[1]))
    a, b = (ms.Tensor(np.array([v], np.float32)) for v in (2.0, 5.0))
    return plain(ms.grad(lambda a, b: sum(net(a, b)), (0, 1))(a, b))


def removed_hooks(ms):
    seen, net = [], ms.nn.ReLU()
    handle = net.register_backward_pre_hook(lambda cell, come: seen.append(1))
    x = ms.Tensor(np.array([1.0], np.float32))
    ms.grad(net)(x)
    handle.remove()
    ms.grad(net)(x)
    return seen


def names_and_scopes(ms):
    net = ms.nn.SequentialCell(ms.nn.Dense(2, 2), ms.nn.SequentialCell(ms.nn.ReLU()))
    net.update_cell_prefix()
    net.generate_scope()
    cells = [cell for _, cell in net.cells_and_names()]
    fresh = ms.nn.Cell()
    first = [fresh.phase, fresh.get_scope(), fresh.param_prefix, fresh.bprop_debug, fresh.jit_config_dict]
    return [[[c.param_prefix, c.get_scope()] for c in cells], first]


def buffered(ms):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", ms.Tensor(np.array([1.0, 2.0], np.float32)))
            self.register_buffer("count", ms.Tensor(np.array([1], np.int32)), persistent=False)
            self.weight = ms.Parameter(ms.Tensor(np.array([3.0], np.float32)))

        def construct(self, x):
            return x * self.scale * self.weight

    net = ms.nn.SequentialCell(Net())
    keys = [list(net.state_dict()), [name for name, _ in net.named_buffers("a")], len(list(net.buffers(False)))]
    found = plain(net(ms.Tensor(2.0, ms.float32)))
    state = {"0.scale": ms.Tensor(np.zeros(2, np.float32)), "other": ms.Tensor(1.0, ms.float32)}
    told = net.load_state_dict(state, strict=False)
    try:
        net.load_state_dict(state)
        raised = False
    except RuntimeError:
        raised = True
    return [keys, found, told.missing_keys, told.unexpected_keys, plain(net.get_buffer("0.scale")), raised]


def state_hooks(ms):
    net, seen = ms.nn.SequentialCell(ms.nn.Dense(2, 1)), []
    net.register_state_dict_pre_hook(lambda cell, prefix, keep: seen.append(["before", prefix, keep]))
    net.register_state_dict_post_hook(lambda cell, state, prefix, noted: seen.append(["after", len(state)]))
    inner = net[0]
    inner.register_load_state_dict_pre_hook(lambda cell, state, prefix, *rest: seen.append(["load", prefix, len(rest)]))
    net.register_load_state_dict_post_hook(lambda cell, keys: keys.missing_keys.clear())
    state = dict(net.state_dict(prefix="x."))
    told = net.load_state_dict({key[2:]: value for key, value in state.items() if "bias" not in key})
    return [list(state), seen, list(told)]


def parameter_hooks(ms):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = ms.Parameter(ms.Tensor(2.0, ms.float32))

        def construct(self, x):
            return x * self.weight

    def tenfold(param):
        return param * 10

    net = Net()
    net.register_parameter_forward_hook([{"params": [net.weight], "hook": tenfold}])
    x = ms.Tensor(3.0, ms.float32)
    out, grad = ms.jit(ms.value_and_grad(net))(x)
    return [plain(out), plain(grad), plain(net.weight)]


def after_failure(ms):
    class Fails(ms.nn.Cell):
        def construct(self, x):
            raise ValueError("no")

    seen, net = [], Fails()
    net.register_forward_hook(lambda cell, args, out: seen.append("never"))
    net.register_forward_hook(lambda cell, args, out: seen.append(["always", out]), always_call=True)
    try:
        net(ms.Tensor([1.0]))
    except ValueError as error:
        seen.append(str(error))
    return seen


def broadcast(ms):
    net = ms.nn.Dense(2, 1)
    net.bias.layerwise_parallel = True
    held = list(net.parameters_broadcast_dict())
    net.set_comm_fusion(3).set_broadcast_flag()
    return [held, net.weight.comm_fusion, net.get_flags()["broadcast_flag"], ms.nn.ReLU().parameters_broadcast_dict()]


CASES = {
    f.__name__: f
    for f in (
        backward_hooks, several_results, replaced_gradients, removed_hooks, names_and_scopes, buffered, state_hooks,
        parameter_hooks, after_failure, broadcast,
    )
}  # fmt: skip
