"""Networks that others have published, ready to train, and recipes to train them by."""

from importlib import import_module as _import_module
from typing import Any as _Any

from mycelia.names import missing_in as _missing_in

_LATER = {
    "alexnet": ("AlexNet",),
    "attention": ("Block", "SelfAttention"),
    "bert": ("Bert", "BertForMaskedWords", "bert_base", "bert_small"),
    "crf": ("CRF", "Tagger"),
    "densenet": ("DenseNet", "densenet121"),
    "diffusion": ("Denoiser", "Diffusion"),
    "efficientnet": ("EfficientNetB0",),
    "gan": ("Discriminator", "Generator", "is_real"),
    "gpt": ("GPT", "gpt2_small"),
    "lenet": ("LeNet",),
    "lstm": ("LSTMClassifier",),
    "mobilenet_v2": ("MobileNetV2",),
    "mobilenet_v3": ("MobileNetV3", "mobilenet_v3_large", "mobilenet_v3_small"),
    "recipes": ("adversarial_steps", "classifier", "compiled_step", "freeze", "warm_cosine"),
    "resnet": ("ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"),
    "sampling": ("beam_search", "generate", "probabilities"),
    "textcnn": ("TextCNN",),
    "unet": ("UNet",),
    "vae": ("VAE",),
    "vgg": ("VGG", "vgg11", "vgg13", "vgg16", "vgg19"),
    "vit": ("ViT",),
    "wide_deep": ("WideDeep",),
}
_MODULE = {name: module for module, names in _LATER.items() for name in names}
_missing = _missing_in("mycelia.models")

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> _Any:
    """A network's module is loaded when the network is first asked for."""
    if name not in _MODULE:
        return _missing(name)
    found = globals()[name] = getattr(_import_module(f"mycelia.models.{_MODULE[name]}"), name)
    return found
