"""Ask torchvision how many weights its networks have: `python record_counts.py` in its environment."""

import json
from pathlib import Path

HERE = Path(__file__).parent
NAMES = {  # ours, and theirs
    "AlexNet": "alexnet", "vgg11": "vgg11", "vgg13": "vgg13", "vgg16": "vgg16", "vgg19": "vgg19",
    "vgg16 with norms": "vgg16_bn", "resnet18": "resnet18", "resnet34": "resnet34", "resnet50": "resnet50",
    "resnet101": "resnet101", "resnet152": "resnet152", "MobileNetV2": "mobilenet_v2",
    "mobilenet_v3_large": "mobilenet_v3_large", "mobilenet_v3_small": "mobilenet_v3_small",
    "EfficientNetB0": "efficientnet_b0", "densenet121": "densenet121", "ViT": "vit_b_16",
}  # fmt: skip


def main() -> None:
    """Write counts.json."""
    import torch  # of another environment

    torch.library.register_fake = lambda *names, **options: lambda f: f  # its own kernels are not needed
    import torchvision

    counts = {}
    for ours, theirs in NAMES.items():
        with torch.device("meta"):
            net = getattr(torchvision.models, theirs)()
        counts[ours] = sum(p.numel() for p in net.parameters())
    (HERE / "counts.json").write_text(json.dumps(counts, indent=0) + "\n")
    print(torchvision.__version__, counts)


if __name__ == "__main__":
    main()
