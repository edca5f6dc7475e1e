"""Very many cases in one file."""

import msgspec
import pytest

from misstep.core.constraint import FAMILIES
from misstep.core.results.summary import Tally
from misstep.rendering.html.assets import BLOCK, Archive
from misstep.rendering.html.cases import CaseBundle, CaseOrigin, bind, detail_of, digest_of
from misstep.rendering.html.page import RunPage, planning_parts, run_page
from misstep.runs.reporting.case_bundles import moves_of
from tests.rendering.html.outcomes import played
from tests.rendering.html.test_page import held

MANY = 20_000


def large_book() -> CaseBundle:
    """So many cases of all families, which are a few of them under other names."""
    few = played("sim:greedy", 25, FAMILIES, 8)
    made = [
        (digest_of(one), detail_of(one, moves_of(one.case, one.transcript.calls), CaseOrigin("run1")))
        for one in few
    ]
    archive, digests = Archive(), []
    for number in range(MANY):
        digest, detail = made[number % len(made)]
        name = f"{number * 0x9E3779B97F4A7C15 % 2**48:012x}"
        digests.append(msgspec.structs.replace(digest, id=name))
        if not archive.is_full:
            archive.add(detail | {"id": name, "seed": number * 0x9E3779B97F4A7C15 % 2**60})
    return bind(digests, archive, "misstep show run1")


@pytest.mark.full
def test_twenty_thousand_large_cases_stay_under_twenty_megabytes() -> None:
    book = large_book()
    source = run_page(
        RunPage(
            Tally().summary("run1", "me"),
            tuple(planning_parts(Tally().summary("run1", "me"), cases=book)),
            book,
        )
    )
    assert len(source.encode()) < 20_000_000
    kept = book.index["kept"]
    assert len(book.index["id"]) == MANY
    assert (len(book.lines) - 1) * BLOCK < kept <= len(book.lines) * BLOCK
    assert 5_000 < kept < MANY
    assert f"Details of {kept:,} of 20,000 cases are in this file" in source


def test_what_is_not_in_the_file_is_told() -> None:
    few = played("sim:greedy", 3)
    archive = Archive(room=0)
    archive.add({"id": "x"})
    book = bind([*map(digest_of, few)], archive, "misstep show run1")
    source = run_page(
        RunPage(
            Tally().summary("run1", "me"),
            tuple(planning_parts(Tally().summary("run1", "me"), cases=book)),
            book,
        )
    )
    assert (
        "Details of 0 of 3 cases are in this file, failures first; misstep serve shows all of them." in source
    )
    assert held(source)[1] == []
