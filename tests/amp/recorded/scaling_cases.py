"""Loss scales and levels: each takes the framework and gives plain data."""

import numpy as np

CASES = {}
OVERFLOWS = (False, False, False, True, False, True, True, False, False, False, False, True, True, True, True, True)


def case(fn):
    """Note a program under its name."""
    CASES[fn.__name__] = fn
    return fn


@case
def dynamic_scaler(ms):
    got = []
    for scale, factor, window in ((1024, 2, 2), (2, 2, 3), (8, 4, 1)):
        scaler = ms.amp.DynamicLossScaler(scale, factor, window)
        for overflow in OVERFLOWS:
            scaler.adjust(ms.Tensor(not overflow))
            got.append([float(scaler.scale_value.asnumpy()), int(scaler.counter.asnumpy())])
    scaled = scaler.scale((ms.Tensor([1.5], ms.float16), ms.Tensor([3.0], ms.float32)))
    back = scaler.unscale(scaled)
    return [*got, [float(x.asnumpy()[0]) for x in (*scaled, *back)], [str(x.dtype) for x in (*scaled, *back)]]


@case
def static_scaler(ms):
    scaler = ms.amp.StaticLossScaler(1024)
    scaled = scaler.scale((ms.Tensor([1.5], ms.float16), ms.Tensor([3.0], ms.float32)))
    back = scaler.unscale(scaled)
    kept = [float(x.asnumpy()[0]) for x in (*scaled, *back)], [str(x.dtype) for x in (*scaled, *back)]
    return [*kept, bool(scaler.adjust(ms.Tensor(False)))]


@case
def managers(ms):
    got = []
    for scale, factor, window in ((16, 2, 3), (2**24, 2, 2000), (64, 4, 1)):
        manager = ms.amp.DynamicLossScaleManager(scale, factor, window)
        for overflow in OVERFLOWS:
            manager.update_loss_scale(overflow)
            got.append(float(manager.get_loss_scale()))
        got.append(manager.get_drop_overflow_update())
    fixed = ms.amp.FixedLossScaleManager()
    got += [fixed.get_loss_scale(), fixed.get_drop_overflow_update(), type(fixed.get_update_cell()).__name__]
    return [*got, ms.amp.FixedLossScaleManager(8.0, False).get_update_cell() is None]


@case
def update_cells(ms):
    got = []
    for scale, factor, window in ((16.0, 2, 3), (64.0, 4, 1)):
        cell = ms.nn.DynamicLossScaleUpdateCell(scale, factor, window)
        held = ms.Parameter(ms.Tensor(scale, ms.float32), name="s")
        for overflow in OVERFLOWS:
            told = cell(held, ms.Tensor(overflow))
            got.append([float(held.asnumpy()), bool(told)])
        got.append([cell.get_loss_scale(), sorted(p.name for p in cell.get_parameters())])
    return got


@case
def finite(ms):
    good, bad = ms.Tensor([1.0, 2.0]), [ms.Tensor([1.0, x]) for x in (np.inf, -np.inf, np.nan)]
    return [bool(ms.amp.all_finite(x)) for x in ((good,), [good, good], *[(good, b) for b in bad])]


@case
def levels(ms):
    """What each cell computes in, what the network gives, and what its weights and gradients are."""
    nn, ops, seen = ms.nn, ms.ops, []

    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor(np.ones((4, 4), np.float32)))

        def construct(self, x):
            y = ops.matmul(x, self.w)
            seen.append(["inside", str(x.dtype), str(y.dtype)])
            return y

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 2, pad_mode="valid")
            self.bn, self.relu, self.flatten = nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten()
            self.fc, self.ln, self.inner = nn.Dense(8, 4), nn.LayerNorm((4,)), Inner()

        def construct(self, x):
            for name in ("conv", "bn", "relu", "flatten", "fc", "ln", "inner"):
                x = getattr(self, name)(x)
                seen.append([name, str(x.dtype)])
            return x

    got = {}
    x = ms.Tensor(np.ones((2, 1, 3, 3), np.float32))
    for title, change in {
        "O0": lambda net: ms.amp.auto_mixed_precision(net, "O0"),
        "O2": lambda net: ms.amp.auto_mixed_precision(net, "O2"),
        "O3": lambda net: ms.amp.auto_mixed_precision(net, "O3"),
        "black": lambda net: ms.amp.custom_mixed_precision(net, black_list=[nn.Dense]),
    }.items():
        seen.clear()
        net = change(Net())
        out = net(x)
        told = [*seen, str(out.dtype), sorted({str(p.dtype) for p in net.get_parameters()})]
        names = sorted(p.name for p in net.get_parameters())
        loss = lambda x, net=net: ops.cast(net(x), ms.float32).sum()  # noqa: E731
        gradients = ms.grad(loss, None, net.trainable_params())(x)
        got[title] = [told, names, sorted({str(g.dtype) for g in gradients})]
    return got
