"""An archive gives back what was put into it, as much as there is room for."""

import gzip
import json
from base64 import b64decode
from typing import Any

from misstep.report.web.archive import BLOCK, Archive


def unpacked(archive: Archive) -> list[Any]:
    return [each for line in archive.lines for each in json.loads(gzip.decompress(b64decode(line)))]


def test_everything_comes_back_in_its_order() -> None:
    archive = Archive()
    details = [{"id": f"c{number}", "text": "é</script>\u2028" * number} for number in range(3 * BLOCK + 5)]
    for detail in details:
        archive.add(detail)
    assert unpacked(archive) == details
    assert archive.kept == len(details)
    assert len(archive.lines) == 4
    assert not archive.is_full


def test_what_is_kept_are_the_first() -> None:
    archive = Archive(room=4_000)
    for number in range(100 * BLOCK):
        archive.add({"id": f"c{number}", "text": str(hash((number, "x"))) * 3})
        if archive.is_full:
            break
    kept = unpacked(archive)
    assert archive.is_full
    assert 0 < len(kept) == archive.kept < 100 * BLOCK
    assert [each["id"] for each in kept] == [f"c{number}" for number in range(len(kept))]
    assert sum(map(len, archive.lines)) <= 4_000
    archive.add({"id": "late"})
    assert unpacked(archive) == kept


def test_the_same_details_make_the_same_bytes() -> None:
    first, second = Archive(), Archive()
    for archive in (first, second):
        archive.add({"id": "c1"})
    assert first.lines == second.lines
    assert Archive().lines == []
