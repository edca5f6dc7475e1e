"""Why no plan meets all that was read: a few rules that contradict each other."""

from collections.abc import Sequence

from misstep.core.constraint import Choice
from misstep.errors import InternalError, MissingExtra
from misstep.planning.admission.constraints import actions_of
from misstep.planning.judging import solver
from misstep.planning.repair.arrangement import find_order
from misstep.planning.repair.reading import Rule, problem


def find_conflict(tools: Sequence[str], rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Rules that can't be met together, of which none can be left out; empty where all of them can.

    What gives a choice only ever makes room, and so is never what stands in the way; it is among them where
    they speak of its options.
    """
    choices = [rule for rule in rules if isinstance(rule.constraint, Choice)]
    needed = [rule for rule in rules if rule not in choices]
    if _fit(tools, [*choices, *needed]):
        return ()
    for rule in tuple(needed):
        others = [each for each in needed if each is not rule]
        if not _fit(tools, [*choices, *others]):
            needed = others
    spoken_of = {tool for rule in needed for tool in actions_of(rule.constraint)}
    return (*needed, *[rule for rule in choices if spoken_of & {*actions_of(rule.constraint)}])


def confirm(tools: Sequence[str], conflict: Sequence[Rule]) -> bool:
    """Whether Z3 finds no plan either; False where it is not installed or gives up.

    A plan would be an `InternalError`.
    """
    try:
        answer = solver.satisfiable(problem(tools, [rule.constraint for rule in conflict]))
    except MissingExtra:
        return False
    if answer == "yes":
        raise InternalError(
            "Z3 finds a plan where there is to be none",
            "this is a bug in misstep: please report it with the request and what was read out of it",
        )
    return answer == "no"


def _fit(tools: Sequence[str], rules: Sequence[Rule]) -> bool:
    return find_order(tools, [rule.constraint for rule in rules]) is not None
