"""Curves in files: what was printed is read back, whatever else is there is refused with a reason."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misstep.errors import UsageError
from misstep.store.files import CURVE_EXPECTED, LARGEST_CURVE, is_kept, read_curve
from tests.features.capability.curves import falling

CURVE = falling("react", range(2, 9), 4.0)
FORM: dict[str, Any] = msgspec.to_builtins(CURVE)


def kept(folder: Path, content: bytes) -> str:
    path = folder / "curve.json"
    path.write_bytes(content)
    return str(path)


def complaint(path: str) -> str:
    with pytest.raises(UsageError) as caught:
        read_curve(path)
    assert caught.value.where == path
    return "\n".join([caught.value.message, *caught.value.hints])


def test_a_name_with_the_ending_of_json_is_a_file() -> None:
    assert [is_kept(name) for name in ("curve.json", "a/b.json", "last", "k3x9aa", "k3/c")] == [
        *(True, True, False, False, False)
    ]


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
def test_what_was_printed_is_read_back(tmp_path: Path, before: bytes) -> None:
    assert read_curve(kept(tmp_path, before + msgspec.json.encode(CURVE) + b"\n")) == CURVE


def test_lines_may_be_broken_and_fields_added(tmp_path: Path) -> None:
    assert read_curve(kept(tmp_path, json.dumps({**FORM, "later": 1}, indent=2).encode())) == CURVE


def test_one_that_was_printed_before_there_were_versions(tmp_path: Path) -> None:
    older = {name: value for name, value in FORM.items() if name != "version"}
    assert read_curve(kept(tmp_path, json.dumps(older).encode())) == CURVE


def test_there_is_no_such_file(tmp_path: Path) -> None:
    missing = str(tmp_path / "none.json")
    assert complaint(missing) == f"can't be read\nNo such file or directory\n{CURVE_EXPECTED}"


def test_another_version_is_named(tmp_path: Path) -> None:
    newer = kept(tmp_path, b'{"version":2,"points":{}}')
    assert complaint(newer) == "a curve of version 2\nthis misstep reads version 1"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "truncated"),
        (b"{", "truncated"),
        (b"[1]", "Expected `object`"),
        (b'{"run":"r","cases":3}', "missing required field `agent`"),
        (b'{"run":"\xff"}', "utf-8"),
        (b'{"a":' + b"[" * 100_000, "recursion"),
    ],
)
def test_what_is_no_curve(tmp_path: Path, content: bytes, why: str) -> None:
    told = complaint(kept(tmp_path, content))
    assert told.startswith("is not a capability curve: ")
    assert why in told
    assert told.endswith(CURVE_EXPECTED)


def test_a_file_that_is_too_long(tmp_path: Path) -> None:
    assert (
        complaint(kept(tmp_path, b" " * (LARGEST_CURVE + 1)))
        == f"is longer than {LARGEST_CURVE:,} bytes\n{CURVE_EXPECTED}"
    )


def changed(number: int = 0, **point: Any) -> dict[str, Any]:
    points = [dict(each) for each in FORM["curve"]]
    points[number] |= point
    return {**FORM, "curve": points}


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({**FORM, "curve": []}, "it has no points"),
        (changed(1, actions=2), "numbers of actions must increase"),
        (changed(passed=300), "350 of 200 cases were judged at 2 actions"),
        (changed(success=0.9), "the rate does not match the counts at 2 actions"),
        (changed(success=None), "the rate does not match the counts at 2 actions"),
        (changed(passed=0, failed=0), "the rate does not match the counts at 2 actions"),
        (changed(interval=[0.9, 0.1]), "the interval ends before it begins at 2 actions"),
        (changed(interval=[0.9, 1.1]), "Expected `float` <= 1.0 - at `$.curve[0].interval[1]`"),
        (changed(6, actions=1_000_000), "Expected `int` <= 20 - at `$.curve[6].actions`"),
        (changed(chance=-1), "Expected `float` >= 0.0 - at `$.curve[0].chance`"),
        ({**FORM, "half": {"at": 1e308, "interval": [None, None]}}, "its 50 % point is outside"),
        ({**FORM, "fit": {**FORM["fit"], "spread": 0.0}}, "Expected `float` > 0.0 - at `$.fit.spread`"),
        ({**FORM, "agent": 3}, "Expected `str`, got `int` - at `$.agent`"),
    ],
)
def test_what_can_t_be_so(tmp_path: Path, form: dict[str, Any], why: str) -> None:
    assert f"is not a capability curve: {why}" in complaint(kept(tmp_path, json.dumps(form).encode()))


@given(st.binary(max_size=300))
def test_any_bytes_are_a_curve_or_a_complaint(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = kept(tmp_path_factory.getbasetemp(), data)
    with pytest.raises(UsageError):
        read_curve(path)
