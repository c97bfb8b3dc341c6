"""`match`: patterns, and the names that they give."""

from __future__ import annotations

import ast
from typing import Any

from mycelia.capture.machine import Frame
from mycelia.capture.statements import FALLS, Outcome, Statements
from mycelia.capture.values import Either, is_plain


class Matching(Statements):
    """One method for each kind of pattern."""

    def do_Match(self, stmt: ast.Match, frame: Frame) -> Outcome:
        subject = self.settled(self.eval(stmt.subject, frame))
        if isinstance(subject, Either):
            self.refuse("a match on one of two values")
        for case in stmt.cases:
            found: dict[str, Any] = {}
            if not self.fits(case.pattern, subject, frame, found):
                continue
            for name, value in found.items():
                self.assign(ast.Name(name), value, frame)
            if case.guard is not None:
                truth = self.truth(self.eval(case.guard, frame))
                if not isinstance(truth, bool):
                    self.refuse("a case that depends on a tensor")
                if not truth:
                    continue
            return self.block(case.body, frame)
        return FALLS

    def fits(self, pattern: ast.pattern, subject: Any, frame: Frame, found: dict[str, Any]) -> bool:
        """Whether a pattern matches, and the names it gives."""
        if isinstance(pattern, ast.MatchValue):
            truth = self.truth(self.binary("eq", subject, self.eval(pattern.value, frame)))
            return truth if isinstance(truth, bool) else self.refuse("a case that depends on a tensor")
        if isinstance(pattern, ast.MatchSingleton):
            return self.identical(subject, pattern.value) is True
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None and not self.fits(pattern.pattern, subject, frame, found):
                return False
            if pattern.name is not None:
                found[pattern.name] = subject
            return True
        if isinstance(pattern, ast.MatchOr):
            return any(self.fits(q, subject, frame, found) for q in pattern.patterns)
        if isinstance(pattern, ast.MatchSequence):
            return self.fits_sequence(pattern, subject, frame, found)
        return self.refuse(f"a pattern {type(pattern).__name__}")

    def fits_sequence(self, pattern: ast.MatchSequence, subject: Any, frame: Frame, found: dict[str, Any]) -> bool:
        if type(subject) not in (tuple, list):
            if is_plain(subject):
                return False if type(subject) is not range else self.refuse("a range is matched")
            self.refuse(f"a {type(subject).__name__} is matched")
        items = subject if type(subject) is tuple else self.whole(subject)
        stars = [i for i, q in enumerate(pattern.patterns) if isinstance(q, ast.MatchStar)]
        if not stars:
            if len(items) != len(pattern.patterns):
                return False
            return all(self.fits(q, v, frame, found) for q, v in zip(pattern.patterns, items, strict=True))
        (star,) = stars
        after = len(pattern.patterns) - star - 1
        if len(items) < star + after:
            return False
        kept: Any = pattern.patterns[star]
        if kept.name is not None:
            found[kept.name] = self.store.container(list, items[star : len(items) - after])
        ends = (*zip(pattern.patterns[:star], items, strict=False),)
        ends += (*zip(pattern.patterns[star + 1 :], items[len(items) - after :], strict=True),)
        return all(self.fits(q, v, frame, found) for q, v in ends)
