"""Capture: an interpreter of Python's syntax turns a call into a program, behind guards.

To read it in an afternoon: what is seen of the outside (`slots`, `world`, `guards`, `sizing`), what is computed with
(`values`, `texts`, `store`, `regions`), the interpreter from below (`machine`, `joining`, `positions`, `tensors`,
`attributes`, `setting`, `numbers`, `items`, `operators`, `builtins`, `methods`, `iteration`, `models`, `effects`,
`calls`, `making`, `expressions`, `comprehensions`, `statements`, `matching`, `carrying`, `rolling`, `loops`,
`generators`, `recursion`), and what comes out (`program`, `capturing`, `pieces`).
"""
