"""Plain Python over whole numbers and arrays, written once, read as Python and run as machine code."""
