"""What a native program answers beside its results: bits that say what went wrong; the lower ones are the library's."""

TOO_DEEP, NO_MEMORY = 1 << 16, 1 << 17
RAISED, INTERRUPTED = 1 << 18, 1 << 19  # by Python, which the program called; by the handler of a signal
