"""Inquiries ask, are told, and go on where they were stopped."""

import random

import pytest

from misstep.core.case import CASE_VERSION, Case
from misstep.core.outcome import Outcome, Transcript, Verdict
from misstep.core.run import Inquiries, Inquiry


def case(name: str) -> Case:
    return Case(CASE_VERSION, name, 0, "", "", (), ())


def outcome(asked: Case) -> Outcome:
    passed = sum(map(ord, asked.id)) % 2 == 0
    verdict = Verdict(asked.id, "passed" if passed else "failed")
    return Outcome(asked, Transcript(asked.id, ()), verdict)


def walk(name: str, steps: int, wide: int = 1) -> Inquiry[list[str]]:
    """Goes where the outcomes lead: what it asks next spells out what it has heard so far."""
    heard = list[str]()
    place = name
    for _ in range(steps):
        outcomes = yield [case(f"{place}{number}") for number in range(wide)]
        place += "".join(each.verdict.verdict[0] for each in outcomes)
        heard += [each.case.id for each in outcomes]
    return heard


def carry_out(inquiries: Inquiries[list[str]], jobs: int, seed: int, most: int = 10**9) -> list[Outcome]:
    """All outcomes, in an order left to chance, up to `most` of them."""
    dice, flying, done = random.Random(seed), list[Case](), list[Outcome]()
    while len(done) < most:
        while len(flying) < jobs and (asked := inquiries.ask(1)):
            flying += asked
        if not flying:
            break
        done.append(outcome(flying.pop(dice.randrange(len(flying)))))
        inquiries.tell(done[-1])
    return done


def alone(name: str, steps: int, wide: int) -> list[str]:
    """The same walk with nobody beside it, spelt out."""
    heard, place = list[str](), name
    for _ in range(steps):
        ids = [f"{place}{number}" for number in range(wide)]
        place += "".join(outcome(case(each)).verdict.verdict[0] for each in ids)
        heard += ids
    return heard


@pytest.mark.parametrize("jobs", [1, 3, 50])
def test_each_inquiry_finds_what_it_would_find_alone(jobs: int) -> None:
    walks = [(f"w{number}-", number % 5, 1 + number % 3) for number in range(12)]
    for seed in range(5):
        inquiries = Inquiries([walk(*each) for each in walks])
        done = carry_out(inquiries, jobs, seed)
        assert inquiries.found == [alone(*each) for each in walks]
        ids = [each.case.id for each in done]
        assert len(ids) == len({*ids}) == sum(len(found) for found in inquiries.found)


def test_a_stopped_campaign_goes_on_like_one_that_was_not() -> None:
    walks = [(f"w{number}-", 4, 2) for number in range(6)]
    whole = Inquiries([walk(*each) for each in walks])
    everything = {each.case.id for each in carry_out(whole, 4, 0)}
    for stop in range(0, len(everything), 7):
        kept = {
            each.case.id: each
            for each in carry_out(Inquiries([walk(*each) for each in walks]), 4, stop, most=stop)
        }
        resumed = Inquiries([walk(*each) for each in walks], lambda asked: kept.get(asked.id))  # noqa: B023
        rest = {each.case.id for each in carry_out(resumed, 4, 99)}
        assert resumed.found == whole.found
        assert rest == everything - kept.keys()


def test_two_that_ask_for_the_same_share_its_outcome() -> None:
    inquiries = Inquiries([walk("same", 3), walk("same", 3), walk("same", 1)])
    done = carry_out(inquiries, 5, 1)
    assert len(done) == 3
    assert inquiries.found[0] == inquiries.found[1] == [each.case.id for each in done]
    assert len(inquiries.found[2]) == 1


def test_what_is_asked_twice_at_once_is_run_once() -> None:
    def twice() -> Inquiry[int]:
        outcomes = yield [case("x"), case("x"), case("y")]
        return len(outcomes)

    inquiries = Inquiries([twice()])
    asked = inquiries.ask(10)
    assert [each.id for each in asked] == ["x", "y"]
    for each in asked:
        inquiries.tell(outcome(each))
    assert inquiries.found == [3]


def test_an_inquiry_that_asks_for_nothing_is_sent_nothing() -> None:
    def modest() -> Inquiry[int]:
        nothing = yield []
        some = yield [case("x")]
        return len(nothing) + len(some)

    inquiries = Inquiries([modest()])
    for each in inquiries.ask(5):
        inquiries.tell(outcome(each))
    assert (inquiries.found, inquiries.ask(5)) == ([1], [])


def test_most_is_kept_to_and_later_inquiries_wait() -> None:
    begun = list[int]()

    def note(number: int) -> Inquiry[int]:
        begun.append(number)
        yield [case(f"{number}")]
        return number

    inquiries = Inquiries(note(number) for number in range(100))
    assert len(inquiries.ask(3)) == 3
    assert begun == [0, 1, 2]
