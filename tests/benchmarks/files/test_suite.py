"""The public suite is fixed for ever; fresh tasks come from any seed."""

from collections import Counter
from hashlib import sha256

import msgspec

from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.suite import fresh_tasks, public_tasks
from misstep.benchmarks.files.vocabulary import load_domains, load_types
from misstep.benchmarks.files.worlds import world_of

# Of tasks with their trees and answers. Rates of different versions can only be compared while this stays.
DIGEST = "61924a2a9b83880c"
FRESH = "e786b6f50919f8b2"


def _digest(tasks: object) -> str:
    whole = [[task, (world := world_of(task)).initial, world.expected, world.answer] for task in tasks]
    return sha256(msgspec.json.encode(whole)).hexdigest()[:16]


def test_the_public_suite_never_changes() -> None:
    assert _digest(public_tasks()) == DIGEST


def test_it_is_large_enough_and_says_nothing_twice() -> None:
    tasks = public_tasks()
    assert len(tasks) == 294
    assert len({task.id for task in tasks}) == len({task.request for task in tasks}) == 294
    assert all(task.request in world_of(task).requests for task in tasks)


def test_a_fifth_is_for_validation_in_every_domain_and_kind() -> None:
    tasks = public_tasks()
    splits = Counter(task.split for task in tasks)
    assert splits == {"validation": 60, "test": 234}
    for part in (load_domains(), KINDS):
        for name in part:
            own = [task.split for task in tasks if name in (task.kind, task.domain)]
            assert len(own) >= 7
            assert 0.1 < own.count("validation") / len(own) < 0.4, name


def test_there_are_42_domains_with_words_for_every_type() -> None:
    domains = load_domains()
    assert len(domains) == 42
    assert len({folder for domain in domains.values() for folder in domain.folders}) > 150
    for domain in domains.values():
        assert set(domain.types) <= load_types().keys()
        words = (*domain.folders, *domain.subjects, *domain.holders)
        assert len(set(words)) == len(words), domain.name
        assert not any(set(word) & set("'/\\\"") for word in words), domain.name


def test_every_phrasing_is_used() -> None:
    assert {task.phrasing for task in public_tasks()} == {0, 1, 2, 3}


def test_fresh_tasks_follow_from_their_seed_alone() -> None:
    tasks = fresh_tasks(3, 30)
    assert fresh_tasks(3, 12) == tasks[:12]
    assert {task.kind for task in tasks} == set(KINDS)
    assert {task.split for task in tasks} == {"fresh"}
    assert not {task.id for task in tasks} & {task.id for task in (*public_tasks(), *fresh_tasks(4, 30))}
    assert _digest(tasks) == FRESH
