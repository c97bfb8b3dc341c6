"""Activations: PyTorch's under MindSpore's names."""

import numpy as np
from cells import case, numbers

X = numbers(3, 4, scale=2.0)
NAMES = {
    "CELU": ("CELU", {"alpha": 0.7}, {"alpha": 0.7}),
    "SeLU": ("SELU", {}, {}),
    "HSwish": ("Hardswish", {}, {}),
    "HSigmoid": ("Hardsigmoid", {}, {}),
    "Hardtanh": ("Hardtanh", {"min_val": -0.4}, {"min_val": -0.4}),
    "HShrink": ("Hardshrink", {"lambd": 0.7}, {"lambd": 0.7}),
    "SoftShrink": ("Softshrink", {"lambd": 0.7}, {"lambd": 0.7}),
    "Tanhshrink": ("Tanhshrink", {}, {}),
    "Softsign": ("Softsign", {}, {}),
    "Threshold": ("Threshold", {"threshold": 0.3, "value": 2.0}, {"threshold": 0.3, "value": 2.0}),
    "GLU": ("GLU", {"axis": 1}, {"dim": 1}),
    "Softmin": ("Softmin", {"axis": 0}, {"dim": 0}),
}
for ours, (theirs, options, words) in NAMES.items():
    case(
        ours,
        lambda nn, n=ours, o=options: getattr(nn, n)(**o),
        X,
        torch=lambda torch, n=theirs, o=words: getattr(torch.nn, n)(**o),
    )
case("Softmax2d", lambda nn: nn.Softmax2d(), numbers(2, 3, 2, 2), torch=lambda torch: torch.nn.Softmax2d())
case(
    "PReLU_of_channels",
    lambda nn: nn.PReLU(4),
    numbers(2, 4, 3),
    torch=lambda torch: torch.nn.PReLU(4),
    names={"weight": "a"},
)
case("FastGelu", lambda nn: nn.FastGelu(), X, torch=lambda torch: lambda x: x * torch.sigmoid(1.702 * x))
case("HSwish_half", lambda nn: nn.HSwish(), X.astype(np.float16), torch=lambda torch: torch.nn.Hardswish())
