"""Differences between states are told in words that somebody can act on."""

from msgspec import structs

from misstep.benchmarks.forge.state import (
    Branch,
    Comment,
    IssueLabel,
    IssueThread,
    PullProposal,
    Review,
    State,
    differences,
)
from misstep.benchmarks.tree import File

STATE = State(
    {"main": Branch({"a.txt": File(b"one\ntwo\n"), "b/c.txt": File(b"x")}, "1" * 40)},
    {
        1: IssueThread(
            1, "Broken", "It is", "ann", labels=("bug",), comments=(Comment("bo", "Yes", 5, "today"),)
        ),
        2: IssueThread(2, "Fix", "It", "ann", pull=PullProposal("fix", "main")),
    },
    (IssueLabel("bug"),),
)


def test_what_is_the_same_has_none() -> None:
    later = structs.replace(STATE.threads[1], made="later", comments=(Comment("bo", "Yes", 9, "now"),))
    assert differences(STATE, STATE) == ()
    assert differences(STATE, structs.replace(STATE, threads={**STATE.threads, 1: later})) == ()


def test_each_is_told() -> None:
    found = State(
        {
            "main": Branch({"a.txt": File(b"one\n2\n"), "new.txt": File(b"")}, "2" * 40),
            "odd": Branch({}),
        },
        {
            1: IssueThread(1, "Mended", "It is", "ann", "closed", ("bug", "odd"), comments=()),
            2: IssueThread(
                2,
                "Fix",
                "It",
                "ann",
                comments=(Comment("eve", "Hi"),),
                pull=PullProposal(
                    "fix", "other", reviewers=("bo",), reviews=(Review("eve", "APPROVED", ""),)
                ),
            ),
            3: IssueThread(3, "More", "", "eve"),
        },
        (IssueLabel("bug", "000000"),),
        {"refs/tags/v1": "3"},
    )
    assert differences(STATE, found) == (
        "branch 'main': missing: b/c.txt (it should have been left as it was)",
        "branch 'main': unexpected: new.txt",
        "branch 'main': changed: a.txt: line 2 is '2', should be 'two'",
        "unexpected: branch 'odd'",
        "changed: issue #1: title is 'Mended', should be 'Broken'",
        "changed: issue #1: state is 'closed', should be 'open'",
        "changed: issue #1: labels is ['bug', 'odd'], should be ['bug']",
        "missing: issue #1: comment 'Yes'",
        "unexpected: pull request #2: comment 'Hi'",
        "changed: pull request #2: base is 'other', should be 'main'",
        "changed: pull request #2: reviewers is ['bo'], should be []",
        "changed: pull request #2: reviews is [('eve', 'APPROVED', '')], should be []",
        "unexpected: issue #3 'More'",
        "changed: labels of the repository is [('bug', '000000', '')], should be [('bug', 'ededed', '')]",
        "changed: refs that are not branches is {'refs/tags/v1': '3'}, should be {}",
    )


def test_long_texts_are_shown_where_they_part() -> None:
    long = structs.replace(STATE.threads[1], body="same " * 1000 + "end")
    other = structs.replace(long, body="same " * 1000 + "END, " + "more " * 1000)
    states = [structs.replace(STATE, threads={**STATE.threads, 1: thread}) for thread in (long, other)]
    (line,) = differences(*states)
    assert " same END, more " in line
    assert line.endswith(" same end'")
    assert len(line) < 300


def test_long_ones_are_cut() -> None:
    said = tuple(Comment("eve", "x" * 10_000) for _ in range(50))
    flooded = structs.replace(STATE.threads[1], comments=(*STATE.threads[1].comments, *said))
    lines = differences(STATE, structs.replace(STATE, threads={**STATE.threads, 1: flooded}))
    assert len(lines) == 21
    assert lines[-1] == "… and 30 more"
    assert max(len(line) for line in lines) < 200
