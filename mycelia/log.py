"""Messages of programs: on standard error, in one line each, from a level on that GLOG_v names.

0 shows everything, 1 what is of interest, 2 warnings (as it is without GLOG_v), 3 errors, 4 only what ends a program.
"""

from __future__ import annotations

import logging
import os
from typing import Any

__all__ = ["critical", "debug", "error", "get_level", "get_log_config", "info", "warning"]

LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
_logger = logging.getLogger("mycelia.log")


def _ready() -> logging.Logger:
    """The logger, which writes to standard error if the program has not said where."""
    if not _logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("[%(levelname)s] %(asctime)s [%(filename)s:%(lineno)d] %(message)s"))
        _logger.addHandler(handler)
    _logger.setLevel(LEVELS[int(get_level())])
    return _logger


def get_level() -> str:
    """From which level on messages are shown.

    >>> get_level() in "01234"
    True
    """
    asked = os.environ.get("GLOG_v", "2")  # noqa: SIM112  # as MindSpore writes it
    return asked if asked in ("0", "1", "2", "3", "4") else "2"


def get_log_config() -> dict[str, str]:
    """What was said about messages.

    >>> "GLOG_v" in get_log_config()
    True
    """
    return {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}


def debug(msg: object, *args: Any, **kwargs: Any) -> None:
    """A message for who looks for a fault.

    >>> debug("x is %s", 1)
    """
    _ready().debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: object, *args: Any, **kwargs: Any) -> None:
    """A message of interest.

    >>> info("epoch %d", 1)
    """
    _ready().info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: object, *args: Any, **kwargs: Any) -> None:
    """A warning: `warning("the loss is %s", loss)`.

    >>> callable(warning)
    True
    """
    _ready().warning(msg, *args, stacklevel=2, **kwargs)


def error(msg: object, *args: Any, **kwargs: Any) -> None:
    """An error, after which the program goes on.

    >>> callable(error)
    True
    """
    _ready().error(msg, *args, stacklevel=2, **kwargs)


def critical(msg: object, *args: Any, **kwargs: Any) -> None:
    """What ends a program.

    >>> callable(critical)
    True
    """
    _ready().critical(msg, *args, stacklevel=2, **kwargs)
