"""Requests told apart: those by which a description is chosen, and those by which it is judged in the end."""

from collections.abc import Sequence

from misstep.core.dice import Dice, derive_seed
from misstep.core.fixing import Part, Trying
from misstep.errors import UsageError
from misstep.tooling.fixing.evidence import Asked, Evidence

LEAST = 2  # groups that did not end well, or may not: one to learn from, one to be judged by


def split(evidence: Evidence, seed: int, most: int | None) -> tuple[tuple[Trying, ...], tuple[str, ...]]:
    """The requests in two parts of about the same size, and what went wrong in the first of them, in words.

    Requests that mean the same stay together, and each part has its share of those that did not end well, and
    of those that were not tried. What is held out is not told. `most` bounds each part.
    """
    groups = dict[str, list[Asked]]()
    for each in evidence.asked:
        groups.setdefault(each.group, []).append(each)
    bad = [name for name, asked in groups.items() if any(each.bad for each in asked)]
    untried = [name for name in groups if name not in bad and not all(each.tried for each in groups[name])]
    good = [name for name in groups if name not in bad and name not in untried]
    _refuse_too_few(bad, untried)
    dice = Dice(derive_seed(seed, "fix"))
    ordered = [name for names in (bad, untried, good) for name in dice.shuffled(sorted(names))]
    parts: dict[str, Part] = {
        name: "test" if place % 2 else "validation" for place, name in enumerate(ordered)
    }
    trying = list[Trying]()
    for part in ("validation", "test"):
        own = [each for name in ordered if parts[name] == part for each in groups[name]]
        trying += [_trying(each, parts[each.group]) for each in own[:most]]
    shown = {each.id for each in trying if each.part == "validation"}
    told = [each.told for each in evidence.asked if each.bad and each.id in shown]
    return tuple(trying), (*told, *evidence.defects)


def limited(trying: Sequence[Trying], seed: int, most: int | None) -> tuple[Trying, ...]:
    """Up to so many of each part."""
    parts = [[each for each in trying if each.part == part] for part in ("validation", "test")]
    dice = Dice(derive_seed(seed, "fix"))
    return tuple(each for part in parts for each in dice.sample(part, min(most or len(part), len(part))))


def _refuse_too_few(bad: Sequence[str], untried: Sequence[str]) -> None:
    if not bad:
        hint = "there is nothing to be mended, going by that run"
        raise UsageError("no request of it ended badly", hint)
    if len(bad) + len(untried) < LEAST:
        message = "only one request, or set of requests, ended badly, and all others were tried"
        hint = "one is needed to choose a description by, and one to judge it by: a longer run finds more"
        raise UsageError(message, hint, "or score on a benchmark: --bench files")


def _trying(asked: Asked, part: Part) -> Trying:
    return Trying(asked.id, asked.request, part, asked.matter, asked.tools, asked.expected)
