"""Bitset orders against Z3 and against brute force, which define what they must answer."""

from collections.abc import Iterator
from itertools import combinations, permutations
from random import Random

import pytest

from misstep.core.case import CASE_VERSION, Action, Case
from misstep.core.constraint import Before
from misstep.planning.judging import solver
from misstep.planning.plans.order import Order, bits, count_orders, find_cycle, first_available, nearest_order


def random_order(random: Random, size: int) -> Order:
    order = Order(size)
    for _ in range(random.randint(0, 2 * size) if size > 1 else 0):
        order.add(*random.sample(range(size), 2))
    return order


def all_correct(order: Order) -> Iterator[tuple[int, ...]]:
    needed = [(i, j) for i in range(order.size) for j in range(order.size) if order.implies(i, j)]
    for plan in permutations(range(order.size)):
        if all(plan.index(i) < plan.index(j) for i, j in needed):
            yield plan


def a_case(size: int, relations: list[tuple[int, int]]) -> Case:
    actions = tuple(Action(f"a{i}", f"task {i}", f"task_{i}") for i in range(size))
    constraints = tuple(Before(f"a{i}", f"a{j}") for i, j in relations)
    return Case(CASE_VERSION, "x", 0, "none", "…", actions, constraints)


@pytest.mark.parametrize("mask", [0, 1, 5, 1023, 1024, 2**20 - 1, 2**63 | 5])
def test_bits(mask: int) -> None:
    assert sum(1 << i for i in bits(mask)) == mask
    assert list(bits(mask)) == sorted(set(bits(mask)))


@pytest.mark.full
@pytest.mark.usefixtures("hurried_z3")
def test_adding_relations_agrees_with_z3_on_satisfiability() -> None:
    random = Random(1)
    verdicts = set()
    for _ in range(1500):
        size = random.randint(2, 7)
        relations = [tuple(random.sample(range(size), 2)) for _ in range(random.randint(1, 10))]
        order = Order(size)
        possible = all([order.add(*relation) for relation in relations])
        assert solver.satisfiable(a_case(size, relations)) == ("yes" if possible else "no")
        verdicts.add(possible)
    assert verdicts == {True, False}


def test_a_refused_relation_changes_nothing() -> None:
    order = Order(4, [(0, 1), (1, 2)])
    before = (list(order.after), list(order.before))
    assert not order.add(2, 0)
    assert not order.add(3, 3)
    assert (order.after, order.before) == before


def test_the_order_is_closed() -> None:
    random = Random(2)
    for _ in range(500):
        order = random_order(random, random.randint(2, 8))
        for i, j, k in permutations(range(order.size), 3) if order.size > 2 else ():
            assert not (order.implies(i, j) and order.implies(j, k)) or order.implies(i, k)
        for i, j in permutations(range(order.size), 2):
            assert order.implies(i, j) == bool(order.before[j] >> i & 1)


def test_counting_agrees_with_trying_every_order() -> None:
    random = Random(3)
    for _ in range(600):
        order = random_order(random, random.randint(1, 6) if random.random() < 0.9 else 7)
        assert count_orders(tuple(order.before)) == sum(1 for _ in all_correct(order))


@pytest.mark.parametrize(
    ("size", "relations", "count"),
    [
        (20, [], 2432902008176640000),  # 20!
        (20, [(i, i + 1) for i in range(19)], 1),
        (20, [(0, i) for i in range(1, 20)], 121645100408832000),  # 19!
        (20, [(i, 19) for i in range(19)], 121645100408832000),
        (20, [(2 * i, 2 * i + 1) for i in range(10)], 2375880867360000),  # 20! / 2^10
        # a 2 × 10 grid: the tenth Catalan number
        (20, [*((i, i + 2) for i in range(18)), *((2 * i, 2 * i + 1) for i in range(10))], 16796),
    ],
)
def test_counting_twenty_actions(size: int, relations: list[tuple[int, int]], count: int) -> None:
    assert count_orders(tuple(Order(size, relations).before)) == count


def test_the_first_available_order_is_correct() -> None:
    random = Random(4)
    for _ in range(300):
        order = random_order(random, random.randint(1, 6))
        assert tuple(first_available(order.before)) == min(all_correct(order))


def swapped(plan: list[int] | tuple[int, ...], wished: list[int]) -> int:
    return sum(plan.index(i) > plan.index(j) for i, j in combinations(wished, 2))


def test_no_correct_order_is_nearer_than_the_nearest() -> None:
    random = Random(5)
    for _ in range(1500):
        order = random_order(random, random.randint(1, 6))
        wished = random.sample(range(order.size), random.randint(0, order.size))
        correct = list(all_correct(order))
        nearest = nearest_order(order, wished)
        assert tuple(nearest) in correct
        assert swapped(nearest, wished) == min(swapped(plan, wished) for plan in correct)


def test_a_correct_order_is_its_own_nearest() -> None:
    random = Random(6)
    for _ in range(200):
        order = random_order(random, 6)
        plan = list(random.choice(list(all_correct(order))))
        assert nearest_order(order, plan) == plan


def test_the_nearest_order_of_twenty_actions_keeps_to_the_order() -> None:
    random = Random(7)
    for _ in range(20):
        order = random_order(random, 20)
        plan = nearest_order(order, random.sample(range(20), 20))
        assert all(
            plan.index(i) < plan.index(j) for i, j in permutations(range(20), 2) if order.implies(i, j)
        )


@pytest.mark.usefixtures("hurried_z3")
def test_a_contradiction_is_found_and_smallest() -> None:
    random = Random(8)
    found = 0
    for _ in range(400):
        size = random.randint(2, 6)
        relations = [tuple(random.sample(range(size), 2)) for _ in range(random.randint(1, 8))]
        cycle = find_cycle(relations)
        core = solver.conflict(a_case(size, relations))
        assert bool(cycle) == bool(core)
        if cycle:
            found += 1
            assert len(cycle) <= len(core)
            assert solver.satisfiable(a_case(size, [relations[i] for i in cycle])) == "no"
            for left_out in cycle:  # minimal: any part of it can be satisfied
                rest = [relations[i] for i in cycle if i != left_out]
                assert solver.satisfiable(a_case(size, rest)) == "yes"
    assert found > 50
