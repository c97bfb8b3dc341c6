"""Syntax trees of many threads at once."""

import sys
from concurrent.futures import ThreadPoolExecutor

from mycelia.syntax import expression, parsed


def test_many_threads_make_trees_at_once():
    """Python 3.11 raises SystemError where two threads do so without taking turns."""
    text, before = "\n".join(f"x{i} = [a.b(c, *d, **e) for a in f if g]" for i in range(200)), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            trees = list(pool.map(lambda i: parsed(text) if i % 2 else expression(f"[{i}, *{'x' * 40}]"), range(64)))
    finally:
        sys.setswitchinterval(before)
    assert all(len(tree.body) == 200 for tree in trees[1::2])
    assert [tree.elts[0].value for tree in trees[::2]] == list(range(0, 64, 2))
