"""Networks have as many weights as their authors', compiled they give what they give eagerly, and they learn."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mycelia as ms
from mycelia import models, nn, ops
from mycelia.models import efficientnet, mobilenet_v2, mobilenet_v3
from mycelia.models.resnet import Bottleneck
from mycelia.models.vgg import STAGES

COUNTS = json.loads((Path(__file__).parent / "recorded" / "counts.json").read_text())  # torchvision's
WITH_NORMS = COUNTS.pop("vgg16 with norms")
PUBLISHED = {  # beside them those of Hugging Face's BERT (4 layers of 512; base), GPT-2, and of the UNet for 2 classes
    **COUNTS, "bert_small": 28_763_648, "bert_base": 109_482_240, "gpt2_small": 124_439_808, "UNet": 31_037_698,
}  # fmt: skip


@pytest.fixture
def _without_numbers(monkeypatch):
    """Weights whose memory is never touched."""
    monkeypatch.setattr("mycelia.common.initializer.filler", lambda init: lambda array: None)


@pytest.mark.usefixtures("_without_numbers")
@pytest.mark.parametrize("name", PUBLISHED)
def test_weights_are_as_many_as_published(name):
    net = getattr(models, name)()
    assert sum(p.size for p in net.trainable_params()) == PUBLISHED[name]


@pytest.mark.usefixtures("_without_numbers")
def test_weights_of_vgg_with_batch_norms_are_as_many_as_published():
    assert sum(p.size for p in models.vgg16(normalised=True).trainable_params()) == WITH_NORMS


def images(size, channels=3):
    return ms.Tensor(np.random.default_rng(0).normal(size=(2, channels, size, size)).astype(np.float32))


def tokens(length=6, most=9):
    return ms.Tensor(np.random.default_rng(0).integers(0, most, (2, length)).astype(np.int32))


SMALL = {
    "AlexNet": lambda: (models.AlexNet(3, width=0.02), (images(64),)),
    "VGG": lambda: (models.VGG(STAGES[11], 3, width=0.02), (images(32),)),
    "ResNet": lambda: (models.ResNet(Bottleneck, (1, 1, 0, 0), 3, small=True), (images(8),)),
    "MobileNetV2": lambda: (models.MobileNetV2(3, width=0.1), (images(16),)),
    "MobileNetV3": lambda: (models.MobileNetV3(mobilenet_v3.SMALL[:3], 8, 3, width=0.1), (images(16),)),
    "EfficientNetB0": lambda: (models.EfficientNetB0(3, width=0.1), (images(16),)),
    "DenseNet": lambda: (models.DenseNet((1, 2), 4, 3), (images(32),)),
    "UNet": lambda: (models.UNet(3, 2, width=2, depth=2), (images(8),)),
    "ViT": lambda: (models.ViT(8, 4, 8, 1, 2, 3), (images(8),)),
    "Bert": lambda: (models.BertForMaskedWords(models.Bert(9, 8, 1, 2, dropout=0.0)), (tokens(),)),
    "GPT": lambda: (models.GPT(9, 8, 2, 2, 16), (tokens(),)),
    "LSTMClassifier": lambda: (models.LSTMClassifier(9, 4, 4, 3, 1, 0.0), (tokens(), ms.Tensor([6, 3], ms.int32))),
    "TextCNN": lambda: (models.TextCNN(9, 4, 3, 2, dropout=0.0), (tokens(),)),
    "WideDeep": lambda: (models.WideDeep(9, 6, 2, (4,)), (tokens(), ops.ones((2, 6)))),
}


@pytest.mark.parametrize("name", SMALL)
def test_compiled_it_gives_what_it_gives_eagerly_and_a_step_lowers_the_loss(name, monkeypatch):
    ms.set_seed(1)
    for module in (mobilenet_v2, efficientnet):  # fewer blocks are compiled sooner
        monkeypatch.setattr(module, "STAGES", module.STAGES[:2])
    net, inputs = SMALL[name]()
    net.set_train(False)
    eager = net(*inputs)
    goal = ops.ones(eager.shape) * 0.5

    def loss(*given):
        return ops.mean(ops.square(net(*given) - goal))

    step = models.compiled_step(loss, nn.SGD(net.trainable_params(), 0.02), largest=1.0)
    before = float(np.mean((eager.asnumpy() - 0.5) ** 2))
    first = step(*inputs).item()
    assert abs(first - before) <= 1e-4 * max(before, 1e-3)
    assert step(*inputs).item() < first


def test_a_crf_is_a_distribution_over_all_tags_and_finds_the_best():
    """Against a sum over all sequences of tags."""
    rng = np.random.default_rng(0)
    crf = models.CRF(3)
    for p in crf.get_parameters():
        p.set_data(ms.Tensor(rng.normal(size=p.shape).astype(np.float32)))
    scores = rng.normal(size=(2, 4, 3)).astype(np.float32)
    mask = np.array([[True] * 4, [True, True, False, False]])
    first, last, moves = (p.asnumpy().astype(float) for p in (crf.first, crf.last, crf.transitions))
    tags = np.array([[0, 2, 1, 1], [2, 0, 0, 0]], np.int32)
    losses, best = [], []
    for row, count, own in zip(scores, mask.sum(1), tags, strict=True):
        found = {}
        for index in np.ndindex(*(3,) * int(count)):
            walked = sum(moves[a, b] for a, b in pairwise(index))
            found[index] = first[index[0]] + last[index[-1]] + walked + sum(row[t, k] for t, k in enumerate(index))
        total = np.log(sum(np.exp(v) for v in found.values()))
        losses.append(total - found[tuple(own[: int(count)])])
        best.append(list(max(found, key=found.get)))
    args = ms.Tensor(scores), ms.Tensor(tags), ms.Tensor(mask)
    assert abs(crf(*args).item() - np.mean(losses)) < 1e-5
    assert abs(ms.jit(crf)(*args).item() - np.mean(losses)) < 1e-5
    assert crf.decode(args[0], args[2]) == best


def test_a_tagger_learns():
    ms.set_seed(0)
    net = models.Tagger(9, 3, 4, 4)
    step = models.compiled_step(net, nn.Adam(net.trainable_params(), 0.05))
    tags = tokens() % 3
    first = step(tokens(), tags).item()
    for _ in range(30):
        last = step(tokens(), tags).item()
    assert last < 0.2 * first
    assert net.decode(tokens()) == tags.asnumpy().tolist()


def test_a_vae_and_a_diffusion_and_a_gan_learn():
    ms.set_seed(0)
    x = ms.Tensor(np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]] * 8, np.float32))  # one of two pictures
    vae = models.VAE(6, 16, 4)
    step = models.compiled_step(vae, nn.Adam(vae.trainable_params(), 0.02))
    losses = [step(x).item() for _ in range(80)]
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])
    model = models.Diffusion(models.Denoiser(6, 16, 1), 20)
    step = models.compiled_step(model, nn.Adam(model.trainable_params(), 0.01))
    losses = [step(x).item() for _ in range(60)]
    assert np.mean(losses[-20:]) < 0.9 * np.mean(losses[:5])
    assert np.isfinite(model.sample((2, 6), seed=1).asnumpy()).all()
    one = models.adversarial_steps(models.Generator(6, 2, 4), models.Discriminator(6, 4), 0.01)
    tells = [one(x * 2.0 - 1.0)[0].item() for _ in range(20)]
    assert tells[-1] < tells[0]


def test_a_classifier_is_trained_by_its_recipe():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 4)).astype(np.float32)
    rows = {"x": x, "y": (x[:, 0] > 0).astype(np.int32)}
    data = ms.dataset.NumpySlicesDataset(rows, shuffle=False).batch(16)
    net = nn.Dense(4, 2)
    model = models.classifier(net, data, epochs=10, rate=0.5, warmup=4)
    model.train(10, data)
    assert model.eval(data)["accuracy"] > 0.9
    models.freeze([net])
    assert net.trainable_params() == []
