"""How the window of a convolution or a pooling moves over the spatial axes."""

from __future__ import annotations

from typing import Any

from mycelia.frozen import frozen
from mycelia.onednn.library import dims


@frozen
class Window:
    """Per spatial axis: the step, the spacing of the window's own elements (1 is dense), padding before and after.

    >>> Window.moving((2, 2), padding=(1, 1)).extent((5, 6), (3, 3))
    (3, 3)
    """

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]

    @staticmethod
    def moving(
        strides: tuple[int, ...], *, dilations: tuple[int, ...] | None = None, padding: tuple[int, ...] | None = None
    ) -> Window:
        """A window with the same padding on both sides of an axis.

        >>> Window.moving((1,), padding=(2,))
        Window(strides=(1,), dilations=(1,), before=(2,), after=(2,))
        """
        ones, zeros = (1,) * len(strides), (0,) * len(strides)
        padding = padding or zeros
        return Window(strides, dilations or ones, padding, padding)

    def extent(self, source: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[int, ...]:
        """How many places the window has on each axis; the last partial step is left out.

        >>> Window.moving((1, 1)).extent((28, 28), (5, 5))
        (24, 24)
        """
        return tuple(
            (size + before + after - (dilation * (k - 1) + 1)) // stride + 1
            for size, k, stride, dilation, before, after in zip(
                source, kernel, self.strides, self.dilations, self.before, self.after, strict=True
            )
        )

    @property
    def steps(self) -> tuple[Any, Any]:
        """Strides and dilations as oneDNN takes them: a dense window has dilation 0."""
        return dims(self.strides), dims(tuple(d - 1 for d in self.dilations))

    @property
    def padding(self) -> tuple[Any, Any]:
        """Padding before and after, as oneDNN takes it."""
        return dims(self.before), dims(self.after)
