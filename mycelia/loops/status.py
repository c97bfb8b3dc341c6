"""What a native program answers beside its results: bits that say what went wrong; the lower ones are the library's."""

from mycelia.errors import MyceliaError

TOO_DEEP, NO_MEMORY = 1 << 16, 1 << 17
RAISED, INTERRUPTED = 1 << 18, 1 << 19  # by Python, which the program called; by the handler of a signal
STOPPED = 1 << 20  # by itself, before it did anything


class Stopped(MyceliaError):
    """A program was asked whether it can go on, and cannot; nothing was changed. Whoever asked knows what to say."""
