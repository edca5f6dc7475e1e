"""A run ends in time, however many targets there are and however long their findings take to confirm."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from misstep.core.settings import Settings
from misstep.features.tool_fuzz.time_shares import (
    ALL_TOOLS,
    LEAST_TRIAGE,
    OF_BUDGET,
    WITH_CONTRACTS,
    TimeShare,
    TimeShares,
    shared_time,
)

MOST = 300.0


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [
        ({}, ALL_TOOLS),
        ({"budget_time": 60.0}, OF_BUDGET * 50.0),
        ({"budget_time": 3600.0}, ALL_TOOLS),
        ({"budget_time": 60.0, "calls_per_tool": 9}, None),
        ({"budget_time": 5.0}, 0.0),  # all was used before
        ({"calls_per_tool": 9}, None),
        ({"time_per_tool": 9.0, "budget_time": 60.0}, None),
        ({"agent": "sim:perfect", "budget_time": 60.0}, None),
    ],
)
def test_targets_share_the_budget_unless_each_has_a_limit(
    limits: dict[str, Any], seconds: float | None
) -> None:
    assert shared_time(Settings(**limits), spent=10.0) == seconds


class Taken(NamedTuple):
    began: float
    share: TimeShare


def run(weights: list[float], jobs: int, needed: Callable[[int, Taken], float]) -> tuple[list[Taken], float]:
    """The shares of targets that end when `needed` says, at the latest at the end of their shares; and the end."""
    now = 0.0
    shares = TimeShares(ALL_TOOLS, jobs, weights, clock=lambda: now)
    taken, free = list[Taken](), [0.0] * jobs
    busy: list[TimeShare | None] = [None] * jobs
    for number, weight in enumerate(weights):
        job = free.index(min(free))
        now = free[job]
        if (before := busy[job]) is not None:
            shares.give_back(before)
        share = shares.take(weight, MOST)
        taken.append(Taken(now, share))
        assert share.last is not None
        free[job] = min(share.last, needed(number, taken[-1]))
        busy[job] = share
    return taken, max(free)


def last(_: int, taken: Taken) -> float:
    assert taken.share.last is not None
    return taken.share.last


@pytest.mark.parametrize("jobs", [1, 2, 8])
@pytest.mark.parametrize("count", [1, 2, 12, 120, 300, 1000])
def test_all_targets_end_in_time_even_if_each_takes_all_it_may(count: int, jobs: int) -> None:
    weights = [1.0] * count + [WITH_CONTRACTS] * (count // 12)
    taken, end = run(weights, jobs, last)
    assert end <= ALL_TOOLS
    usual = ALL_TOOLS * min(jobs, count) / sum(weights)
    for began, share in taken:
        assert share.end is not None
        assert share.end - began >= min(0.5 * usual, 0.5 * ALL_TOOLS)
        assert 0.0 < share.fuzzing < share.end - began


def test_what_targets_do_not_need_is_left_for_others() -> None:
    taken, _ = run([1.0] * 100, 2, lambda number, taken: taken.began + 1.0 if number < 90 else last(0, taken))
    assert taken[-5].share.fuzzing > 5 * taken[0].share.fuzzing


def test_a_target_with_contracts_gets_more_time_for_them_and_none_for_more_calls() -> None:
    shares = TimeShares(ALL_TOOLS, 1, [1.0, WITH_CONTRACTS], clock=lambda: 0.0)
    one, all_tools = shares.take(1.0, 20.0), shares.take(WITH_CONTRACTS, 20.0)
    assert one.fuzzing == all_tools.fuzzing == 20.0
    assert one.end is not None
    assert all_tools.end is not None
    assert all_tools.end > one.end


def test_a_target_alone_fuzzes_as_long_as_it_may() -> None:
    share = TimeShares(ALL_TOOLS, 2, [WITH_CONTRACTS], clock=lambda: 0.0).take(WITH_CONTRACTS, MOST)
    assert share.fuzzing == MOST
    assert share.last is not None
    assert share.last <= ALL_TOOLS


def test_a_limit_of_the_user_leaves_time_to_confirm_after_it() -> None:
    share = TimeShare(10.0)
    assert not share.is_over()
    contracts, until = share.after_fuzzing(with_contracts=True)
    assert until.confirmed - contracts == pytest.approx(LEAST_TRIAGE)
    assert until.minimised == until.confirmed
