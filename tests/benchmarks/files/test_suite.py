"""The public suite is fixed for ever; fresh tasks come from any seed."""

from collections import Counter
from hashlib import sha256

import msgspec

from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.scene import load_domains, load_types
from misstep.benchmarks.files.suite import FreshTasks, build, public_tasks, world_of
from misstep.features.bench.suites import MOST_FRESH

# Of tasks with their trees and answers. Rates of different versions can only be compared while this stays.
DIGEST = "61924a2a9b83880c"
FRESH = "945116f5cf2f808f"

FIGURE_8 = """
Accountant
Agriculture and Precision Farming
Art
Artificial Intelligence
Astronomy and Space Exploration
Biotechnology
Computer Science
Construction and Architecture
Cybersecurity
Data Science
E-commerce and Retail
Economics and Market Research
Education and E-learning
Energy and Utilities
Entertainment and Media
Environmental Science
Finance and Banking
Forensic Science
Geology and Geophysics
Government and Public Administration
Graphic Design and Animation
Healthcare and Medicine
History and Archival Science
Hospitality and Tourism
Human Resources and Recruitment
Journalism and Digital Media
Law and Legal Analytics
Linguistics and Natural Language Processing
Logistics Tour
Logistics and Supply Chain Management
Machine Learning
Manufacturing and Automation
Meteorology and Climate Science
Music Production and Sound Engineering
Pharmaceuticals and Drug Development
Psychology and Neuroscience
Real Estate
Robotics
Social Media and Digital Marketing
Sports Science and Analytics
Telecommunications
Video Game Development
"""


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


def test_the_domains_are_those_of_the_paper() -> None:
    assert list(load_domains()) == FIGURE_8.strip().split("\n")


def test_domains_have_words_of_their_own_and_for_every_type() -> None:
    domains = load_domains()
    assert len({folder for domain in domains.values() for folder in domain.folders}) > 150
    for domain in domains.values():
        assert set(domain.types) <= load_types().keys()
        words = (*domain.folders, *domain.subjects, *domain.holders)
        assert len(set(words)) == len(words), domain.name
        assert not any(set(word) & set("'/\\\"") for word in words), domain.name


def test_every_phrasing_is_used() -> None:
    assert {task.phrasing for task in public_tasks()} == {0, 1, 2, 3}


def test_fresh_tasks_follow_from_their_seed_alone() -> None:
    tasks = list(FreshTasks(3, 30))
    assert list(FreshTasks(3, 12)) == tasks[:12] == FreshTasks(3, 30)[:12]
    assert {task.kind for task in tasks} == set(KINDS)
    assert {task.split for task in tasks} == {"fresh"}
    assert not {task.id for task in tasks} & {task.id for task in (*public_tasks(), *FreshTasks(4, 30))}
    assert _digest(tasks) == FRESH


def test_there_are_as_many_fresh_tasks_of_a_kind_and_domain_as_are_wanted() -> None:
    some = list(FreshTasks(3, 9, kinds=["find", "copy"], domains=["Art", "Robotics"]))
    assert len(some) == len({task.id for task in some}) == 9
    assert {task.kind for task in some} == {"find", "copy"}
    assert {task.domain for task in some} == {"Art", "Robotics"}
    assert list(FreshTasks(3, 4, kinds=["find"])) == [
        task for task in FreshTasks(3, 48) if task.kind == "find"
    ]


def test_a_fresh_task_is_not_made_before_it_is_looked_at() -> None:
    build.cache_clear()
    tasks = FreshTasks(11, 5000)
    assert (len(tasks), build.cache_info().misses) == (5000, 0)
    assert tasks[4321].split == "fresh"
    assert build.cache_info().misses == 1


def test_ids_are_long_enough_to_tell_all_tasks_of_a_run_apart() -> None:
    """Two of so many would be the same by chance once in a million runs at most."""
    digits = len(FreshTasks(3, 1)[0].id.removeprefix("fi"))
    assert MOST_FRESH**2 / 2 / 16**digits < 1e-6
