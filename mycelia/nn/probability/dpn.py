"""Networks that describe distributions: auto-encoders whose codes are normal."""

# a primitive returns what it is given, tensors for tensors:
# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Any

from mycelia import checks, ops
from mycelia.eager import Tensor
from mycelia.errors import ShapeError
from mycelia.names import boundary as _boundary
from mycelia.nn.basic import Dense
from mycelia.nn.cell import Cell

__all__ = ["VAE", "ConditionalVAE"]


class VAE(Cell):
    """A variational auto-encoder: `encoder` makes `hidden_size` numbers of an example, of which mean and deviation of
    `latent_size` normal numbers come; `decoder` rebuilds the example from `hidden_size` numbers made of these. It gives
    what `infer.ELBO` takes: what was rebuilt, the example, means and deviations.

    >>> from mycelia import nn
    >>> vae = VAE(nn.Dense(6, 4), nn.Dense(4, 6), 4, 2)
    >>> [t.shape for t in vae(ops.ones((3, 6)))]
    [(3, 6), (3, 6), (3, 2), (3, 2)]
    """

    def __init__(self, encoder: Cell, decoder: Cell, hidden_size: int, latent_size: int) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.hidden_size = checks.whole(self.cls_name, "hidden_size", hidden_size, least=1)
        self.latent_size = checks.whole(self.cls_name, "latent_size", latent_size, least=1)
        self._make(hidden_size, latent_size)

    def _make(self, coded: int, latent: int) -> None:
        self.dense1, self.dense2 = Dense(coded, self.latent_size), Dense(coded, self.latent_size)
        self.dense3 = Dense(latent, self.hidden_size)

    def _coded(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Means, deviations, and numbers drawn."""
        mean, deviation = self.dense1(hidden), ops.exp(0.5 * self.dense2(hidden))
        return mean, deviation, mean + deviation * ops.randn_like(mean)

    def _decoded(self, latent: Tensor) -> Tensor:
        return self.decoder(self.dense3(latent))

    def construct(self, x: Tensor) -> tuple[Tensor, ...]:
        mean, deviation, drawn = self._coded(self.encoder(x))
        return ops.reshape(self._decoded(drawn), x.shape), x, mean, deviation

    def generate_sample(self, generate_nums: int, shape: Any) -> Tensor:
        """Examples made of codes that are drawn, in a shape, whose first axis may be -1.

        >>> from mycelia import nn
        >>> VAE(nn.Dense(6, 4), nn.Dense(4, 6), 4, 2).generate_sample(3, (-1, 6)).shape
        (3, 6)
        """
        count = checks.whole("generate_sample", "generate_nums", generate_nums, least=1)
        return ops.reshape(self._decoded(ops.randn(count, self.latent_size)), tuple(shape))

    def reconstruct_sample(self, x: Tensor) -> Tensor:
        """Examples rebuilt from their codes.

        >>> from mycelia import nn
        >>> VAE(nn.Dense(6, 4), nn.Dense(4, 6), 4, 2).reconstruct_sample(ops.ones((3, 6))).shape
        (3, 6)
        """
        return self(x)[0]


class ConditionalVAE(VAE):
    """A variational auto-encoder that is told the class of each example, when it encodes and when it decodes.

    >>> from mycelia import nn
    >>> vae = ConditionalVAE(nn.Dense(6, 4), nn.Dense(4, 6), 4, 2, 10)
    >>> [t.shape for t in vae(ops.ones((3, 6)), Tensor([1, 0, 7]))]
    [(3, 6), (3, 6), (3, 2), (3, 2)]
    """

    def __init__(self, encoder: Cell, decoder: Cell, hidden_size: int, latent_size: int, num_classes: int) -> None:
        super().__init__(encoder, decoder, hidden_size, latent_size)
        self.num_classes = checks.whole(self.cls_name, "num_classes", num_classes, least=1)
        self._make(hidden_size + num_classes, latent_size + num_classes)

    def _told(self, x: Tensor, y: Tensor) -> Tensor:
        """Numbers, and the class of each row."""
        if y.ndim != 1 or y.shape[0] != x.shape[0]:
            raise ShapeError("there is one class for each example", given={"classes": y.shape, "examples": x.shape[0]})
        return ops.cat([x, ops.one_hot(y, self.num_classes, Tensor(1.0), Tensor(0.0))], 1)

    def construct(self, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]  # and the classes
        mean, deviation, drawn = self._coded(self._told(self.encoder(x), y))
        return ops.reshape(self._decoded(self._told(drawn, y)), x.shape), x, mean, deviation

    def generate_sample(self, sample_y: Tensor, generate_nums: int, shape: Any) -> Tensor:  # type: ignore[override]  # of classes
        """Examples of classes, made of codes that are drawn.

        >>> from mycelia import nn
        >>> vae = ConditionalVAE(nn.Dense(6, 4), nn.Dense(4, 6), 4, 2, 10)
        >>> vae.generate_sample(Tensor([1, 1, 2]), 3, (-1, 6)).shape
        (3, 6)
        """
        count = checks.whole("generate_sample", "generate_nums", generate_nums, least=1)
        drawn = self._told(ops.randn(count, self.latent_size), sample_y)
        return ops.reshape(self._decoded(drawn), tuple(shape))

    def reconstruct_sample(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]  # of classes
        """Examples rebuilt from their codes and classes.

        >>> from mycelia import nn
        >>> vae = ConditionalVAE(nn.Dense(6, 4), nn.Dense(4, 6), 4, 2, 10)
        >>> vae.reconstruct_sample(ops.ones((2, 6)), Tensor([1, 2])).shape
        (2, 6)
        """
        return self(x, y)[0]


_boundary(globals())
