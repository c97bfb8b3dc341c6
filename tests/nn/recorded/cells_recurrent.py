"""Recurrent layers and cells."""

import numpy as np
from cells import case, numbers


def _theirs(options):
    return {("bias" if k == "has_bias" else k): v for k, v in options.items()}


def layer(kind, name, *sizes, inputs, torch=True, **options):
    """A layer that both have."""
    case(
        f"{kind}_{name}",
        lambda nn: getattr(nn, kind)(*sizes, **options),
        *inputs,
        torch=(lambda torch: getattr(torch.nn, kind)(*sizes, **_theirs(options))) if torch else None,
    )


def packed(torch, kind):
    """PyTorch's layer on examples of different length."""
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Packed(getattr(torch.nn, kind)):
        def forward(self, x, hx, lengths):
            both = pack_padded_sequence(x, lengths.to(torch.int64), batch_first=True, enforce_sorted=False)
            out, last = super().forward(both, hx)
            return pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])[0], last

    return Packed(3, 4, 2, bidirectional=True, batch_first=True)


def states(kind, *shape, **options):
    h, c = numbers(*shape, seed=1, **options), numbers(*shape, seed=2, **options)
    return (h, c) if kind.startswith("LSTM") else h


for kind in ("RNN", "GRU", "LSTM"):
    layer(kind, "plain", 3, 4, inputs=[numbers(5, 2, 3)])
    layer(kind, "one_step", 3, 4, inputs=[numbers(1, 2, 3), states(kind, 1, 2, 4)])
    layer(kind, "no_bias", 3, 4, has_bias=False, batch_first=True, inputs=[numbers(2, 5, 3)])
    layer(kind, "two_layers_two_ways", 3, 4, 2, bidirectional=True, inputs=[numbers(5, 2, 3), states(kind, 4, 2, 4)])
    layer(kind, "double", 3, 4, inputs=[numbers(5, 2, 3, dtype=np.float64), states(kind, 1, 2, 4, dtype=np.float64)])
    case(
        f"{kind}_lengths",
        lambda nn, kind=kind: getattr(nn, kind)(3, 4, 2, bidirectional=True, batch_first=True),
        numbers(4, 5, 3), states(kind, 4, 4, 4), np.array([5, 2, 1, 3], np.int32),
        torch=lambda torch, kind=kind: packed(torch, kind),
    )  # fmt: skip
    layer(f"{kind}Cell", "step", 3, 4, inputs=[numbers(2, 3), states(kind, 2, 4)])
    layer(f"{kind}Cell", "no_bias", 3, 4, has_bias=False, inputs=[numbers(2, 3), states(kind, 2, 4)])
layer("RNN", "relu", 3, 4, nonlinearity="relu", inputs=[numbers(5, 2, 3)])
layer("RNNCell", "relu", 3, 4, nonlinearity="relu", inputs=[numbers(2, 3), numbers(2, 4)])
