"""Losses, as PyTorch has them, and those that only MindSpore has."""

import numpy as np
from cells import case, integers, numbers, positive

X, Y = numbers(4, 5), numbers(4, 5, seed=1)
SIGNS = np.array([1, -1, 1, -1], np.float32)
SIGN_GRID = np.where(numbers(4, 5, seed=7) > 0, 1, -1).astype(np.float32)
CLASSES = integers(4, count=5, dtype=np.int64)
LISTED = np.array([[0, 3, -1, 2, 1], [4, -1, 0, 0, 0], [1, 2, 3, 0, -1], [-1, 0, 1, 2, 3]])
COUNTS = integers(4, 5, count=6).astype(np.float32) + 1
REDUCTIONS = ("mean", "sum", "none")


def loss(kind, theirs, *inputs, name="", fixed=(), **options):
    """A loss that PyTorch calls `theirs`."""
    for reduction in REDUCTIONS:
        case(
            f"{kind}{name}_{reduction}",
            lambda nn, r=reduction: getattr(nn, kind)(reduction=r, **options),
            *inputs,
            torch=lambda torch, r=reduction: getattr(torch.nn, theirs)(reduction=r, **options),
            fixed=fixed,
        )


loss("MarginRankingLoss", "MarginRankingLoss", X[:, 0], Y[:, 0], SIGNS, margin=0.3)
loss("SoftMarginLoss", "SoftMarginLoss", X, SIGN_GRID, fixed=(1,))
loss("CosineEmbeddingLoss", "CosineEmbeddingLoss", X, Y, SIGNS.astype(np.int64), margin=0.1)
loss("HingeEmbeddingLoss", "HingeEmbeddingLoss", X, SIGN_GRID, margin=0.7)
loss("TripletMarginLoss", "TripletMarginLoss", X, Y, numbers(4, 5, seed=2), margin=1.5)
loss("TripletMarginLoss", "TripletMarginLoss", X, Y, numbers(4, 5, seed=2), name="_swap", p=3, swap=True, margin=1.5)
loss("MultiMarginLoss", "MultiMarginLoss", X, CLASSES, margin=0.8)
loss("MultiMarginLoss", "MultiMarginLoss", X, CLASSES, name="_square", p=2)
loss("MultilabelMarginLoss", "MultiLabelMarginLoss", X, LISTED)
loss("MultiLabelSoftMarginLoss", "MultiLabelSoftMarginLoss", X, (SIGN_GRID > 0).astype(np.float32))
loss("GaussianNLLLoss", "GaussianNLLLoss", X, Y, positive(4, 5), full=True)
loss("GaussianNLLLoss", "GaussianNLLLoss", X, Y, positive(4, 1), name="_rows")
loss("PoissonNLLLoss", "PoissonNLLLoss", X, COUNTS, full=True)
loss("PoissonNLLLoss", "PoissonNLLLoss", positive(4, 5), COUNTS, name="_rate", log_input=False)  # fmt: skip
for reduction in REDUCTIONS:
    case(
        f"TripletMarginWithDistanceLoss_{reduction}",
        lambda nn, r=reduction: nn.TripletMarginWithDistanceLoss(swap=True, reduction=r, margin=0.9),
        X, Y, numbers(4, 5, seed=2),
        torch=lambda torch, r=reduction: torch.nn.TripletMarginWithDistanceLoss(
            distance_function=lambda a, b: (a - b).square().sum(1).sqrt(), swap=True, reduction=r, margin=0.9
        ),
    )  # fmt: skip


def aligned(nn, **options):
    """CTC behind a log-softmax: what PyTorch calls its gradient is only right there."""

    class Aligned(nn.Cell):
        def __init__(self):
            super().__init__()
            self.scores, self.loss = nn.LogSoftmax(-1), nn.CTCLoss(**options)

        def construct(self, x, *rest):
            return self.loss(self.scores(x), *rest)

    return Aligned()


def aligned_torch(torch, **options):
    return lambda x, *rest: torch.nn.CTCLoss(**options)(x.log_softmax(-1), *rest)


TARGETS = np.array([[1, 2, 2, 0], [3, 1, 0, 0], [2, 2, 2, 2], [1, 0, 0, 0]], np.int64)
LENGTHS = np.array([8, 5, 8, 3], np.int64), np.array([3, 2, 4, 0], np.int64)
for reduction in REDUCTIONS:
    case(
        f"CTCLoss_{reduction}",
        lambda nn, r=reduction: aligned(nn, reduction=r),
        numbers(8, 4, 5), np.where(TARGETS == 0, 1, TARGETS), *LENGTHS,
        torch=lambda torch, r=reduction: aligned_torch(torch, reduction=r),
    )  # fmt: skip
case(
    "CTCLoss_blank_last_too_short",
    lambda nn: aligned(nn, blank=4, reduction="sum", zero_infinity=True),
    numbers(6, 4, 5), TARGETS, np.array([6, 2, 6, 6]), LENGTHS[1],
    torch=lambda torch: aligned_torch(torch, blank=4, reduction="sum", zero_infinity=True),
)  # fmt: skip
case(
    "CTCLoss_one_example",
    lambda nn: aligned(nn),
    numbers(6, 5), np.array([1, 2, 2]), np.array(6), np.array(3),
    torch=lambda torch: aligned_torch(torch),
)  # fmt: skip
case(
    "CTCLoss_targets_in_a_row",
    lambda nn: aligned(nn),
    numbers(8, 2, 5), np.array([1, 2, 2, 3, 1]), np.array([8, 7]), np.array([3, 2]),
    torch=lambda torch: aligned_torch(torch),
)  # fmt: skip

case("FocalLoss_classes", lambda nn: nn.FocalLoss(), X, integers(4, 1, count=5))
case("FocalLoss_probabilities", lambda nn: nn.FocalLoss(gamma=1.5), numbers(2, 3, 4), positive(2, 3, 4))
case("DiceLoss", lambda nn: nn.DiceLoss(), positive(4, 5), positive(4, 5, seed=1))
case("MultiClassDiceLoss", lambda nn: nn.MultiClassDiceLoss(ignore_indiex=1), numbers(2, 3, 4), positive(2, 3, 4))
