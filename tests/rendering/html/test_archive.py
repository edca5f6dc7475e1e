"""An archive gives back what was put into it, as much as there is room for."""

import gzip
import json
from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import pytest

from misstep.rendering.html.assets import BLOCK, Archive


def unpacked(lines: Sequence[str]) -> list[Any]:
    return [each for line in lines for each in json.loads(gzip.decompress(b64decode(line)))]


def test_everything_comes_back_in_its_order() -> None:
    archive = Archive()
    details = [{"id": f"c{number}", "text": "é</script>\u2028" * number} for number in range(3 * BLOCK + 5)]
    for detail in details:
        archive.add(detail)
    lines, kept = archive.close()
    assert unpacked(lines) == details
    assert (kept, len(lines)) == (len(details), 4)
    assert not archive.is_full


@pytest.mark.parametrize(("room", "taken"), [(4_000, 0), (6_000, 3_000), (4_000, 4_000), (100, 0)])
def test_what_is_kept_are_the_first_that_there_is_room_for(room: int, taken: int) -> None:
    archive, number = Archive(room), 0
    while not archive.is_full:
        number += 1
        archive.add({"id": f"c{number}", "text": f"{number * 7919 % 10007}"})
    archive.add({"id": "late"})
    lines, kept = archive.close(taken)
    assert [each["id"] for each in unpacked(lines)] == [f"c{one}" for one in range(1, kept + 1)]
    assert kept < number
    assert len("\n".join(lines)) + taken <= room
    assert (kept > 0) == (room - taken > 1_500)


def test_the_same_details_make_the_same_bytes() -> None:
    first, second = Archive(), Archive()
    for archive in (first, second):
        archive.add({"id": "c1"})
    assert first.close() == second.close()
    assert Archive().close() == ((), 0)
