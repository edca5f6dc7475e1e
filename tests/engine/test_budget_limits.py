"""Budgets: what may start, and when everything has to stop."""

import random
import threading

import pytest

from misstep.core.outcome import Usage
from misstep.core.spending import Budget, Cost, Spent
from misstep.engine.budget import CaseAccount, CaseBudget


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def price(role: str, usage: Usage) -> float:
    """A dollar for a token of the agent's, two for the judge's."""
    return (usage.input + usage.output) * {"agent": 1.0, "judge": 2.0}[role]


NOTHING, FREE = Spent(), Cost()


def case_budget(
    budget: Budget, before: Spent = NOTHING, guess: Cost = FREE, clock: Clock | None = None
) -> CaseBudget:
    return CaseBudget(budget, price, before, guess, clock or Clock())


def spend(account: CaseAccount, tokens: int, role: str = "agent") -> None:
    account.spend(role, Usage(tokens, 0))


def test_without_a_budget_everything_may_start() -> None:
    unlimited = case_budget(Budget())
    for _ in range(1000):
        assert unlimited.admit()
        spend(unlimited.open(), 10**9)


@pytest.mark.parametrize("kind", ["usd", "tokens", "calls"])
@pytest.mark.parametrize("seed", range(20))
def test_a_run_never_uses_more_than_its_budget_when_cases_are_alike(kind: str, seed: int) -> None:
    """Whatever the order in which cases in flight end, once the first has shown what one needs."""
    dice = random.Random(seed)
    each, limit = dice.randint(1, 20), dice.randint(20, 500)
    limited = case_budget(Budget(**{kind: limit}))
    flying, used = list[CaseAccount](), 0
    while True:
        while len(flying) < 5 and (used or not flying) and limited.admit():
            flying.append(limited.open())
        if not flying:
            break
        account = flying.pop(dice.randrange(len(flying)))
        for _ in range(each):
            if kind == "calls":
                account.call()
            else:
                spend(account, 1)
        account.close(finished=True)
        used += each
    assert limit - each < used <= limit
    assert limited.lacking == kind


def test_room_is_kept_for_the_dearest_case_so_far_and_a_margin_for_several() -> None:
    limited = case_budget(Budget(tokens=140))
    for tokens in (30, 5):
        account = limited.open()
        spend(account, tokens)
        account.close(finished=True)
    assert limited.admit()
    limited.open()
    assert limited.admit()  # 35 used; two cases of 30, and seven tenths more since only two have been seen
    limited.open()
    assert not limited.admit()
    assert limited.lacking == "tokens"


@pytest.mark.parametrize("seed", range(200))
def test_a_run_hardly_ever_uses_more_than_its_budget_when_cases_differ(seed: int) -> None:
    """Costs vary by a factor of two. The last case may be a little dearer than any before it, no more."""
    dice = random.Random(seed)
    limit = dice.randint(2_000, 20_000)
    limited = case_budget(Budget(tokens=limit), guess=Cost(tokens=dice.choice([300, 1_000])))
    flying, used = list[CaseAccount](), 0
    while True:
        while len(flying) < 8 and limited.admit():
            flying.append(limited.open())
        if not flying:
            break
        account = flying.pop(dice.randrange(len(flying)))
        cost = dice.randint(300, 600)
        spend(account, cost)
        account.close(finished=True)
        used += cost
    assert used <= limit + 600 / 20
    assert used > limit - 2 * 600


def test_a_case_in_flight_that_gets_dearer_raises_what_others_may_need() -> None:
    limited = case_budget(Budget(tokens=100), guess=Cost(tokens=10))
    running = limited.open()
    assert limited.admit()
    spend(running, 60)
    assert not limited.admit()


def test_one_case_may_find_out_what_cases_cost_where_the_guess_is_too_high() -> None:
    limited = case_budget(Budget(tokens=100), guess=Cost(tokens=10_000))
    assert limited.admit()
    probe = limited.open()
    assert not limited.admit()
    spend(probe, 20)
    probe.close(finished=True)
    assert limited.admit()


def test_what_earlier_sittings_have_used_counts() -> None:
    before = Spent({"agent": Usage(50, 0), "judge": Usage(10, 10)}, calls=3, seconds=7.0)
    assert case_budget(Budget(tokens=100), before, Cost(tokens=30)).admit()
    assert not case_budget(Budget(tokens=99), before, Cost(tokens=30)).admit()
    assert case_budget(Budget(usd=100), before, Cost(usd=10)).admit()
    assert not case_budget(Budget(usd=99), before, Cost(usd=10)).admit()
    assert not case_budget(Budget(calls=3), before, Cost(calls=1)).admit()
    assert not case_budget(Budget(seconds=7), before, Cost(seconds=1)).admit()


def test_every_role_is_paid_out_of_the_same_purse() -> None:
    limited = case_budget(Budget(usd=100))
    account = limited.open()
    spend(account, 10)
    spend(account, 20, role="judge")
    account.close(finished=True)
    assert limited.spent.usage == {"agent": Usage(10, 0), "judge": Usage(20, 0)}
    assert limited.admit()
    limited.open()
    assert not limited.admit()


def test_time_must_be_left_for_a_case_as_long_as_the_longest() -> None:
    clock = Clock()
    limited = case_budget(Budget(seconds=100), clock=clock)
    account = limited.open()
    clock.now += 30
    account.close(finished=True)
    assert limited.admit()
    clock.now += 41
    assert not limited.admit()
    assert (limited.lacking, limited.seconds_left) == ("seconds", 29)


def test_a_case_that_was_cut_short_says_nothing_about_how_long_cases_take() -> None:
    clock = Clock()
    limited = case_budget(Budget(seconds=100), clock=clock)
    account = limited.open()
    clock.now += 60
    account.close(finished=False)
    assert limited.admit()


def test_the_alarm_is_raised_once_and_only_when_more_is_used_than_allowed() -> None:
    limited = case_budget(Budget(tokens=100))
    alarms = list[str]()
    limited.overdrawn = lambda: alarms.append(limited.lacking)
    account = limited.open()
    spend(account, 100)
    assert alarms == []
    spend(account, 1)
    spend(account, 1)
    assert alarms == ["tokens"]


def test_nothing_is_lost_when_many_threads_spend_at_once() -> None:
    unlimited = case_budget(Budget(tokens=10**9))

    def work() -> None:
        for _ in range(500):
            account = unlimited.open()
            spend(account, 2)
            account.call()
            account.close(finished=True)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = unlimited.spent
    assert (spent.tokens, spent.calls) == (8000, 4000)


def test_the_first_case_to_end_does_not_make_others_look_cheaper_than_they_are() -> None:
    limited = case_budget(Budget(tokens=10_000))
    dear, cheap = limited.open(), limited.open()
    spend(dear, 4_000)
    spend(cheap, 100)
    cheap.close(finished=True)
    assert not limited.admit()  # 100 used, and twice 4,000 may be twice as much for all that is known
    dear.close(finished=True)
    assert limited.admit()


def test_a_guess_is_forgotten_once_something_has_been_seen() -> None:
    limited = case_budget(Budget(tokens=1_000), guess=Cost(tokens=400))
    account = limited.open()
    spend(account, 10)
    account.close(finished=True)
    for _ in range(20):
        assert limited.admit()
        limited.open()


def test_what_is_spent_when_a_case_is_over_counts_as_well() -> None:
    limited = case_budget(Budget(tokens=100))
    account = limited.open()
    spend(account, 10)
    account.close(finished=True)
    spend(account, 75)
    account.call()
    assert limited.spent.tokens == 85
    assert not limited.admit()


def test_time_that_is_up_is_what_is_lacking_whatever_was_lacking_before() -> None:
    limited = case_budget(Budget(tokens=100, seconds=10), guess=Cost(tokens=60))
    limited.open()
    assert not limited.admit()
    assert limited.lacking == "tokens"
    limited.run_out_of_time()
    assert limited.lacking == "seconds"
