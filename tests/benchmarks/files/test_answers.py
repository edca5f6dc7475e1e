"""Replies are read tolerantly as to words, and exactly as to values."""

import random

import pytest

from misstep.benchmarks.files.answers import Number, Paths, objections
from misstep.benchmarks.tree import File, Tree, complete

TREE: Tree = complete(
    {
        path: File(b"x")
        for path in (
            "reports/2023/a.pdf",
            "reports/2024/a.pdf",
            "reports/Tax form 2.pdf",
            "New Tax form 2.pdf",
            "notes.txt",
            "old notes.txt",
            "v1.2 (copy) [old].txt",
        )
    }
)
COUNT = "Count the files in 'reports/2023' that are larger than 150 bytes."


@pytest.mark.parametrize(
    "said",
    [
        "12",
        "12.",
        "**12**",
        "There are 12 files.",
        "There are 12 files larger than 150 bytes in reports/2023.",
        "Folder 2023 has 12 of them, 'Tax form 2.pdf' among them.",
        "I looked at 40 files and kept some.\nAnswer: 12",
        "**Final answer:** 12 files",
        "twelve",
        "There are twelve of them.",
    ],
)
def test_the_right_number_passes(said: str) -> None:
    assert objections(Number(12), said, COUNT, TREE) == ()


@pytest.mark.parametrize(
    "said",
    [
        "",
        "none",
        "13",
        "112",
        "12 or 13",
        "12, no, 11",
        "1.2",
        "12.5",
        "-12",
        "−12",
        "x12",
        "12th",
        "Answer: 12\nAnswer: 13",
        "150",
        "9" * 5000,
    ],
)
def test_a_wrong_number_or_two_of_them_fail(said: str) -> None:
    assert objections(Number(12), said, COUNT, TREE)


def test_thousands_may_have_commas() -> None:
    for said in ("1234", "1,234", "1,234 bytes", "In all: 1,234."):
        assert objections(Number(1234), said, "", TREE) == ()
    for said in ("1,23,4", "12,34", "1,234,5", "234", "1 and 234"):
        assert objections(Number(1234), said, "", TREE)


@pytest.mark.parametrize(
    "said",
    [
        "3-4",
        "3–4",
        "3-to-4",
        "3 or x-4, or 4ish",
        "3, or maybe four or five",
        "three or four",
        "3 or 3.5",
        "3,4",
        "3.4.5",
        "3..5",
        "3 or thirteen",
        "thirty-three",
        "3, or 3\n1. a\n3. b",
        "3 KB",
        "3 or " + "9" * 5000,
        "three or one",
        "three in one hundred",
        "one or three",
        "3, or maybe one",
        "between one and three, or 3 to 1",
    ],
)
def test_a_range_or_numbers_beside_are_no_answer(said: str) -> None:
    assert objections(Number(3), said, "", TREE)


@pytest.mark.parametrize(
    "said",
    [
        "3.0",
        "_3_",
        "3files",
        "For one thing, there are three",
        "three folders, one of which is empty",
        "No one else counted; three.",
        "The answer is: 3\n\nAnswer: see above",
        "There are 3 folders:\n1. a\n2. b\n3. c",
        "There are 3 folders:\n1. a\n2. b",
        "3 lines say 2024-05-17, the 2nd too (UTF-8)",
    ],
)
def test_what_is_no_other_number_does_not_matter(said: str) -> None:
    assert objections(Number(3), said, "", TREE) == ()


@pytest.mark.parametrize(
    "said",
    [
        "277bytes",
        "277B",
        "277 B",
        "277.0",
        "277 bytes (0.27 KB)",
        "277 bytes, that is 0.3 kB",
        "a.pdf has 120 bytes, b.pdf 157 bytes: 277 bytes in total",
        "277 (100 + 100 + 77)",
        "two hundred seventy-seven",
        "Two hundred and seventy-seven bytes",
    ],
)
def test_bytes_are_said_in_many_ways(said: str) -> None:
    assert objections(Number(277), said, "", TREE) == ()


@pytest.mark.parametrize(
    "said",
    [
        "There are 12 files, 5 of them hidden.",
        "There are 12 files: 5 in 'a' and 7 in 'b'.",
        "4 here, 4 there and 4 elsewhere make 12.",
        "Of those larger than 150 bytes, there are 12.",
        "12 (in 2023)",
        "In the folders from 2022 to 2023 there are 12.",
    ],
)
def test_shares_and_parts_are_no_other_answer(said: str) -> None:
    tree = complete({"2022/x": File(b""), "2023/x": File(b"")})
    assert objections(Number(12), said, COUNT, tree) == ()


@pytest.mark.parametrize(
    "said",
    [
        "12 or 150",
        "150 files or maybe 12",
        "12-150",
        "12 to 150",
        "12 files or 2023",
        "12, 5 in a and 8 in b",
        "12, or 12 KB",
        "12 files of 5 KB",
        "12, or 5 of them",
        "5 of them",
        "12 in 2 folders",
    ],
)
def test_what_may_stand_beside_an_answer_may_not_compete_with_it(said: str) -> None:
    assert objections(Number(12), said, COUNT, TREE)


def test_a_size_in_larger_units_is_the_answer_rounded_or_another_one() -> None:
    for said in ("277, or 5 KB", "277 bytes (5 KB)", "277 (1.27 KB)", "277 bytes (0.27 MB)"):
        assert objections(Number(277), said, "", TREE)
    for said in ("2,048 bytes (2 KiB)", "2048 B = 2.0 KB", "2048 bytes (2.05 kB)"):
        assert objections(Number(2048), said, "", TREE) == ()


RIGHT = (
    "{n}",
    "There are {n} of them.",
    "I found {n} files.",
    "{n} in total: {a} in one folder and {b} in another.",
    "{a} + {b} = {n}",
    "The total is **{n}**, {a} of which are recent.",
    "I looked at {m} files.\n\nAnswer: {n}",
    "The 3rd of 2024-05-17 counts as well: {n}.",
)
HEDGED = (
    "{n} or {m}",
    "{m} or {n}",
    "{n}, or perhaps {m}",
    "{n} files or even {m} files",
    "{n}-{m}",
    "from {n} to {m}",
    "Answer: {n} or {m}",
    "Answer: {n}\nAnswer: {m}",
    "{n}, or {m} KB",
)
TWO = ("{n}, no, {m}", "{n}\n{m}", "There are {n} here and {m} there.", "{n} (or so): {m}")


def test_right_replies_pass_and_hedges_fail_whatever_the_numbers_are() -> None:
    chance = random.Random(1)
    for _ in range(300):
        a, b, more = chance.randrange(2, 400), chance.randrange(2, 400), chance.randrange(2, 400)
        numbers = {"a": a, "b": b, "n": a + b, "m": a + b + more}
        for template in RIGHT:
            said = template.format(**numbers)
            assert objections(Number(a + b), said, "", TREE) == (), said
        for template in HEDGED:  # even with a number that one may repeat
            said = template.format(**numbers)
            assert objections(Number(a + b), said, f"Count those of {numbers['m']} bytes.", TREE), said
        for template in TWO:
            said = template.format(**numbers)
            assert objections(Number(a + b), said, "", TREE), said


def test_long_ranges_and_words() -> None:
    for said in (
        "277-300-400",
        "277..300",
        "two hundred or seventy-seven",
        "277 hundred",
        "two, seven, seven",
    ):
        assert objections(Number(277), said, "", TREE)
    assert objections(Number(12_040), "twelve thousand and forty", "", TREE) == ()
    assert objections(Number(1), "one", "", TREE) == ()


def test_what_was_said_and_what_is_right_are_told() -> None:
    assert objections(Number(3), "4 or 5", "", TREE) == ("the reply says 4, 5, should say 3 alone",)
    assert objections(Number(3), "no idea", "", TREE) == ("the reply names no number, should be 3",)


@pytest.mark.parametrize(
    "said",
    [
        "reports/2023/a.pdf\nnotes.txt",
        "- `notes.txt`\n- `./reports/2023/a.pdf`",
        "They are notes.txt, and reports/2023/a.pdf.",
        "1. reports/2023/a.pdf (12 bytes)\n2. **notes.txt**",
    ],
)
def test_the_right_files_pass_in_any_order(said: str) -> None:
    assert objections(Paths(("reports/2023/a.pdf", "notes.txt")), said, "", TREE) == ()


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("notes.txt", "the reply does not name reports/2023/a.pdf"),
        ("notes.txt a.pdf", "the reply does not name reports/2023/a.pdf"),
        ("reports/2023/a.pdf old notes.txt", "the reply does not name notes.txt"),
        (
            "reports/2023/a.pdf notes.txt reports/2024/a.pdf",
            "the reply names reports/2024/a.pdf, which is not one of them",
        ),
        ("reports/2023/a.pdf other/notes.txt", "the reply does not name notes.txt"),
        ("reports/2023/a.pdf notes.txt.bak", "the reply does not name notes.txt"),
        ("reports/2023/a.pdfs notes.txt", "the reply does not name reports/2023/a.pdf"),
        ("/etc/reports/2023/a.pdf notes.txt", "the reply does not name reports/2023/a.pdf"),
    ],
)
def test_missing_and_wrong_files_are_told(said: str, line: str) -> None:
    assert line in objections(Paths(("reports/2023/a.pdf", "notes.txt")), said, "", TREE)


def test_a_name_that_is_part_of_another_is_no_mention() -> None:
    assert objections(Paths(("New Tax form 2.pdf",)), "It is 'New Tax form 2.pdf'.", "", TREE) == ()
    assert objections(Paths(("reports/Tax form 2.pdf",)), "Tax form 2.pdf", "", TREE) == ()
    assert objections(Paths(("v1.2 (copy) [old].txt",)), "v1.2 (copy) [old].txt", "", TREE) == ()


@pytest.mark.parametrize(
    "said",
    ["demos/Tool\\ schema\\_1.yaml", "_demos/Tool schema_1.yaml_", "-demos/Tool schema_1.yaml", "x:\n  -./Q"],
)
def test_names_are_read_as_markdown_and_shells_write_them(said: str) -> None:
    tree = complete({path: File(b"x") for path in ("demos/Tool schema_1.yaml", "schema_1.yaml")})
    said = said.replace("Q", "demos/Tool schema_1.yaml")
    assert objections(Paths(("demos/Tool schema_1.yaml",)), said, "", tree) == ()


def test_an_absolute_path_is_told_to_be_one() -> None:
    reason = "notes.txt is named by an absolute path, should be relative to the current folder"
    for said in ("/tmp/my room/notes.txt", "It is `/tmp/notes.txt`.", "~/notes.txt"):
        assert reason in objections(Paths(("notes.txt",)), said, "", TREE)
    assert reason not in objections(Paths(("notes.txt",)), "other/notes.txt", "", TREE)


def test_a_marked_answer_decides_about_a_single_file() -> None:
    said = "I compared notes.txt with old notes.txt.\n\nAnswer: notes.txt"
    assert objections(Paths(("notes.txt",)), said, "", TREE) == ()
    assert objections(Paths(("old notes.txt",)), said, "", TREE)


def test_hostile_replies_are_read_in_no_time() -> None:
    for said in (
        "notes.txt" * 100_000,
        "\0\udcff" * 1000,
        "9," * 100_000,
        "Answer:" * 50_000,
        "\n" * 100_000,
        "two hundred " * 9000,
        "one " * 25_000 + "2",
        "1 or " * 20_000,
    ):
        assert objections(Paths(("reports/2023/a.pdf",)), said, "", TREE)
        assert objections(Number(5), said, "", TREE)
