"""Every shape of a partial order, once."""

from itertools import permutations

import pytest

from misstep.core.case import Case
from misstep.planning.language.reader import read
from misstep.planning.plans.order import Order, bits
from misstep.planning.synthesis.paragraphs import relabelled, unlabelled_orders
from misstep.planning.synthesis.suite import Suite, make_case


@pytest.mark.parametrize(
    ("size", "count"), [(0, 1), (1, 1), (2, 2), (3, 5), (4, 16), (5, 63), (6, 318), (7, 2045)]
)
def test_as_many_as_there_are(size: int, count: int) -> None:
    """The numbers of OEIS A000112."""
    assert len(unlabelled_orders(size)) == count


@pytest.mark.parametrize("size", [3, 4, 5])
def test_each_is_an_order_and_no_two_have_the_same_shape(size: int) -> None:
    """Every relabelling of every order is written down: none may turn up under two of them."""
    seen: dict[frozenset[tuple[int, int]], int] = {}
    for number, closure in enumerate(unlabelled_orders(size)):
        pairs = {(i, j) for i in range(size) for j in bits(closure[i])}
        assert all((j, i) not in pairs for i, j in pairs)
        assert all((i, k) in pairs for i, j in pairs for j2, k in pairs if j == j2)
        for labels in permutations(range(size)):
            named = frozenset((labels[i], labels[j]) for i, j in pairs)
            assert seen.setdefault(named, number) == number
    # Together they are all labelled orders (OEIS A001035).
    assert len(seen) == {3: 19, 4: 219, 5: 4231}[size]


def test_relabelling_keeps_the_shape() -> None:
    order = relabelled((0b110, 0b100, 0), [2, 0, 1])
    assert [(i, j) for i in range(3) for j in range(3) if order.implies(i, j)] == [(0, 1), (2, 0), (2, 1)]


def shape(case: Case) -> frozenset[tuple[int, int]]:
    """The order of a case under the least of all its relabellings, found by trying them all."""
    size = len(case.actions)
    numbers = {action.id: i for i, action in enumerate(case.actions)}
    order = Order(size, [(numbers[c.first], numbers[c.then]) for c in case.constraints])
    pairs = [(i, j) for i in range(size) for j in range(size) if order.implies(i, j)]
    names = (sorted((labels[i], labels[j]) for i, j in pairs) for labels in permutations(range(size)))
    return frozenset(min(names))


@pytest.mark.parametrize(("size", "count"), [(2, 2), (3, 5), (4, 16), (5, 63)])
def test_an_exhaustive_suite_covers_every_shape(size: int, count: int) -> None:
    suite = Suite(3, size, size, exhaustive=True)
    assert suite.orders() == count
    assert len({shape(make_case(suite, index)) for index in range(count)}) == count


def test_exhaustive_cases_keep_the_contract() -> None:
    suite = Suite(3, 2, 6, exhaustive=True)
    free = 0
    for index in range(suite.orders()):
        case = make_case(suite, index)
        ids = {action.name: action.id for action in case.actions}
        readings = [read(sentence, ids) for sentence in case.sentences]
        assert all(len(reading) == 1 for reading in readings)
        said = {
            (ids[relation.first], ids[relation.then], number)
            for number, reading in enumerate(readings)
            for relation in reading[0].relations
        }
        assert said == {(c.first, c.then, c.sentence) for c in case.constraints}
        assert {name for reading in readings for name in reading[0].mentioned} == set(ids)
        free += "free" in case.skeleton
    assert 0 < free < suite.orders()


def test_the_labels_don_t_give_the_order_away() -> None:
    suite = Suite(0, 4, 4, exhaustive=True)
    in_listing_order = [
        all(int(c.first[1:]) < int(c.then[1:]) for c in make_case(suite, index).constraints)
        for index in range(160)
    ]
    assert sum(in_listing_order) < 120
