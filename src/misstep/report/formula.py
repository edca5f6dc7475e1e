"""Constraints as formulas over places in a plan."""

from collections.abc import Mapping

from misstep.core.constraint import Adjacent, Before, Choice, Constraint, Limit, Place, Repeat


def formally(constraint: Constraint, ids: Mapping[str, str]) -> str:
    """A constraint as a formula over places in the plan, which are 1 to n; `ids` are those of tools."""
    match constraint:
        case Before(first, then):
            return f"{ids[first]} < {ids[then]}"
        case Adjacent(first, then):
            return f"{ids[first]} + 1 = {ids[then]}"
        case Place(tool, place):
            return f"{ids[tool]} = {1 if place == 'first' else 'n'}"
        case Choice(options):
            return f"|{{{', '.join([ids[option] for option in options])}}}| = 1"
        case Repeat(tool, times):
            return f"|{ids[tool]}| = {times}"
        case Limit(tool, most):
            return f"{ids[tool]} <= {most + 1}"
        case _:
            raise ValueError(f"no request in the wild is read for {constraint}")
