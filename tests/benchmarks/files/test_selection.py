"""Tasks keep clear of what people would understand in two ways."""

import pytest

from misstep.benchmarks.files.operations import (
    Clash,
    Into,
    Move,
    Operation,
    Prune,
    Replaced,
    Selection,
    Words,
    Write,
    carry_out,
    chosen,
    execute,
    is_clear,
    sorts_clearly,
)
from misstep.benchmarks.tree import File, Folder, Tree, complete
from misstep.core.results.benchmark import TaskStep

TREE: Tree = complete(
    {
        "letters/art_plan.txt": File(b"Status: draft\n"),
        "letters/party.txt": File(b"Status: drafts\n"),
        "letters/Plan B.TXT": File(b""),
        "letters/old/plan-2.txt": File(b"12345"),
        "lettersbox/x.txt": File(b""),
    }
)


@pytest.mark.parametrize(
    ("what", "paths"),
    [
        (
            Selection("letters", deep=False),
            ["letters/Plan B.TXT", "letters/art_plan.txt", "letters/party.txt"],
        ),
        (
            Selection("letters", suffix=".txt"),
            ["letters/art_plan.txt", "letters/old/plan-2.txt", "letters/party.txt"],
        ),
        (Selection("letters/old"), ["letters/old/plan-2.txt"]),
        (Selection(prefix="plan"), ["letters/old/plan-2.txt"]),
        (Selection(line="Status: draft"), ["letters/art_plan.txt"]),
        (Selection(larger=5), ["letters/art_plan.txt", "letters/party.txt"]),
        (Selection(deep=False), []),
    ],
)
def test_a_selection_means_what_it_says(what: Selection, paths: list[str]) -> None:
    assert chosen(what, TREE) == paths


@pytest.mark.parametrize(
    ("what", "clear"),
    [
        (Selection("letters/old", word="plan"), True),
        (Selection("letters", word="plan"), False),  # there is a Plan as well
        (Selection("letters", word="art"), False),  # which is part of party
        (Selection("letters", suffix=".txt"), False),  # there is a .TXT as well
        (Selection("letters", prefix="party"), True),
        (Selection("letters", prefix="plan", deep=False), False),
    ],
)
def test_case_and_parts_of_words_make_it_unclear(what: Selection, clear: bool) -> None:
    assert is_clear(what, TREE) is clear


@pytest.mark.parametrize(
    ("texts", "clear"),
    [
        (["apple.txt", "pear.txt"], True),
        (["Pear.txt", "apple.txt"], False),
        (["a b.txt", "a-a.txt"], False),
        (["übung.txt", "zoo.txt"], False),
        (["a_b.txt", "ab.txt"], False),
    ],
)
def test_lists_are_asked_for_only_if_all_ways_to_sort_agree(texts: list[str], clear: bool) -> None:
    assert sorts_clearly(texts) is clear


@pytest.mark.parametrize(
    "operation",
    [
        Move(Selection("letters", prefix="p"), Into("lettersbox/x.txt")),
        Write("letters", Words("")),
        Move(Selection("letters", deep=False, suffix=".txt"), Replaced("art_plan", "party")),
    ],
)
def test_two_things_for_one_place_clash(operation: Operation) -> None:
    with pytest.raises(Clash):
        execute([operation], TREE)


def test_deleting_a_folder_leaves_its_namesakes_alone() -> None:
    left = carry_out(TaskStep("delete", {"path": "letters"}), TREE)
    assert left == {"lettersbox": Folder(), "lettersbox/x.txt": File(b"")}


def test_empty_folders_go_together_with_those_in_them() -> None:
    empty = complete({"top/a/b": Folder(), "top/c": Folder(), "top/d/x.txt": File(b""), "other": Folder()})
    left, steps = execute([Prune("top")], empty)
    assert list(left) == ["other", "top", "top/d", "top/d/x.txt"]
    assert [step.arguments["path"] for step in steps] == ["top/a", "top/c"]
