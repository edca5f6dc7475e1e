"""Builds formulas as SMT-LIB text.

A solver parses text several times faster than it builds formulas through its API.
"""

from collections.abc import Sequence


class Term:
    """An SMT-LIB term, a number or a truth value; operators create new terms."""

    __slots__ = ("text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    def __lt__(self, other: "Number") -> "Term":
        return _applied("<", self, other)

    def __le__(self, other: "Number") -> "Term":
        return _applied("<=", self, other)

    def __gt__(self, other: "Number") -> "Term":
        return _applied(">", self, other)

    def __ge__(self, other: "Number") -> "Term":
        return _applied(">=", self, other)

    def __eq__(self, other: "Number") -> "Term":  # type: ignore[override]
        return _applied("=", self, other)

    def __ne__(self, other: "Number") -> "Term":  # type: ignore[override]
        return _applied("distinct", self, other)

    def __add__(self, other: "Number") -> "Term":
        return _applied("+", self, other)

    def __sub__(self, other: "Number") -> "Term":
        return _applied("-", self, other)

    def __bool__(self) -> bool:
        raise TypeError("a formula is neither true nor false before a solver has read it")


Number = Term | int

NEVER = Term("false")
ALWAYS = Term("true")


def every(*terms: Term) -> Term:
    return _joined("and", terms, ALWAYS)


def some(*terms: Term) -> Term:
    return _joined("or", terms, NEVER)


def negation(term: Term) -> Term:
    return _applied("not", term)


def implied(by: Term, term: Term) -> Term:
    return _applied("=>", by, term)


def either(condition: Term, one: Number, other: Number) -> Term:
    """`one` if the condition holds, else `other`; both are numbers, or both are truth values."""
    return _applied("ite", condition, one, other)


def total(terms: Sequence[Number]) -> Term:
    return _joined("+", terms, Term("0"))


def different(*terms: Number) -> Term:
    """All terms are different."""
    return _applied("distinct", *terms) if len(terms) > 1 else ALWAYS


def _applied(function: str, *terms: Number) -> Term:
    return Term(f"({function} {' '.join(map(_written, terms))})")


def _joined(function: str, terms: Sequence[Number], none: Term) -> Term:
    """A function of any number of terms; a single term is returned as it is."""
    if not terms:
        return none
    return _applied(function, *terms) if len(terms) > 1 else Term(_written(terms[0]))


def _written(term: Number) -> str:
    if isinstance(term, Term):
        return term.text
    return str(term) if term >= 0 else f"(- {-term})"


class Script:
    """A solver script: declarations, each name once, and assertions."""

    def __init__(self) -> None:
        self._lines = list[str]()

    def number(self, name: str) -> Term:
        return self._declare(name, "Int")

    def truth(self, name: str) -> Term:
        return self._declare(name, "Bool")

    def define(self, name: str, number: Term) -> Term:
        """A short name for a number that is used often."""
        self._lines.append(f"(define-fun {name} () Int {number.text})")
        return Term(name)

    def require(self, *terms: Term) -> None:
        self._lines += [f"(assert {term.text})" for term in terms]

    def text(self) -> str:
        return "\n".join(self._lines)

    def _declare(self, name: str, sort: str) -> Term:
        self._lines.append(f"(declare-const {name} {sort})")
        return Term(name)
