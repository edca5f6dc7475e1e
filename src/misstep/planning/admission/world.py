"""Whether the world of a case makes sense by itself."""

from collections.abc import Iterable

from misstep.core.case import Case, World
from misstep.errors import UsageError

DAY = 24 * 60
MOST = 99  # attempts, retries
HIGHEST_COST = 999_999_999  # what fits into a sentence


def check_world(case: Case) -> None:
    """Raise a `UsageError` for the first thing that makes no sense."""
    world, ids = case.world, [action.id for action in case.actions]
    for what, named in (
        ("durations", world.durations),
        ("values", world.values),
        ("findings", world.findings),
        ("failures", world.failures),
        ("broken", world.broken),
        ("announcements", world.announcements),
    ):
        _check_known(f"world.{what}", named, ids)
    _check_known("world.costs", world.costs, [*ids, *(action.id for action in case.distractors)])
    _check_day(world, ids)
    _check_number("world.attempts", world.attempts, 1)
    _check_number("world.retries", world.retries, 0)
    for action, times in world.failures.items():
        _check_number(f"world.failures.{action}", times, 0, world.retries, "world.retries")
    _check_costs(world, ids)
    for action, values in world.values.items():
        for parameter, series in values.items():
            _check_series(f"world.values.{action}.{parameter}", series)
    for action, sentence in world.announcements.items():
        if not sentence.strip():
            raise UsageError(f"world.announcements.{action} is empty", "expected a sentence")


def _check_known(what: str, named: Iterable[str], ids: list[str]) -> None:
    for action in named:
        if action not in ids:
            raise UsageError(f"{what} speaks of an unknown action {action!r}", f"known: {', '.join(ids)}")


def _check_number(what: str, number: int, least: int, most: int = MOST, limit: str = "") -> None:
    if not least <= number <= most:
        raise UsageError(
            f"{what} is {number}", f"expected {least} to {most}" + (f", {limit}" if limit else "")
        )


def _check_day(world: World, ids: list[str]) -> None:
    if world.day is None:
        if world.durations:
            raise UsageError("world.durations without world.day", "give the day, or leave the durations out")
        return
    begin, end = world.day
    if not 0 <= begin < end <= DAY:
        raise UsageError(
            f"world.day is {begin} to {end}", f"expected minutes since midnight, the end at most {DAY}"
        )
    for action in ids:
        if action not in world.durations:
            raise UsageError(f"world.durations lacks {action!r}", "in a timed case every action has one")
        _check_number(f"world.durations.{action}", world.durations[action], 1, DAY)


def _check_costs(world: World, ids: list[str]) -> None:
    for action in ids if world.costs else ():
        if action not in world.costs:
            raise UsageError(f"world.costs lacks {action!r}", "where anything costs, every action has a cost")
    for action, cost in world.costs.items():
        _check_number(f"world.costs.{action}", cost, 0, HIGHEST_COST)


def _check_series(what: str, series: tuple[str | int, ...]) -> None:
    if not series or len({type(value) for value in series}) > 1:
        raise UsageError(f"{what} is {list(series)}", "expected one value or more, all texts or all integers")
