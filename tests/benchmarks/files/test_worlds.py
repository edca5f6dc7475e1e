"""Every task has one right end: the reference, a slow twin on a real folder and our own tools agree on it."""

import os
import random
import re
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from misstep.benchmarks.files import operations as ops
from misstep.benchmarks.files import tools
from misstep.benchmarks.files.answers import Number, Paths
from misstep.benchmarks.files.kinds import KINDS
from misstep.benchmarks.files.operations import Selection, chosen, files_of, name_of
from misstep.benchmarks.files.scene import load_phrasings
from misstep.benchmarks.files.suite import FreshTasks, TaskWorld, judge_files, public_tasks, world_of
from misstep.benchmarks.tree import Content, File, Folder, Tree, complete, differences, lay, survey
from misstep.core.results.benchmark import Task
from misstep.errors import UsageError
from tests.benchmarks.files.reader import read_selection
from tests.benchmarks.files.twin import carry_out, select

CALLS = {tool.__name__: tool for tool in tools.TOOLS}


@cache
def _tasks() -> list[Task]:
    return [*public_tasks(), *FreshTasks(7, 500)]


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in memory if there is one, which is a good deal faster."""
    above = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
    place = Path(tempfile.mkdtemp(dir=above))
    monkeypatch.chdir(place)
    yield place
    shutil.rmtree(place)


def _fresh(root: Path, tree: Tree) -> Path:
    place = root / "task"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    lay(tree, place)
    return place


def _asked(tasks: list[Task]) -> Iterator[tuple[Task, TaskWorld]]:
    for task in tasks:
        world = world_of(task)
        if world.answer is None:
            yield task, world


@pytest.mark.full
def test_a_slow_twin_on_a_real_folder_comes_to_the_same_end(root: Path) -> None:
    for task, world in _asked(_tasks()):
        place = _fresh(root, world.initial)
        carry_out(world.operations, place)
        assert differences(world.expected, survey(place), world.initial) == (), task.request


@pytest.mark.full
def test_the_solution_leads_there_through_our_own_tools(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for task in public_tasks():
        world = world_of(task)
        place = _fresh(root, world.initial)
        monkeypatch.chdir(place)
        for step in world.solution:
            CALLS[step.tool](**step.arguments)
        said = world.answer.text if world.answer else "Done."
        assert judge_files(task, survey(place), said) == ("passed", ()), task.request


def test_nobody_passes_who_does_nothing() -> None:
    for task in _tasks():
        verdict, why = judge_files(task, world_of(task).initial, "Done.")
        assert verdict == "failed", task.request
        assert why


def test_questions_leave_everything_as_it_was() -> None:
    questions = [task for task in public_tasks() if world_of(task).answer]
    assert {task.kind for task in questions} == {"find", "count", "size"}
    for task in questions:
        world = world_of(task)
        assert world.expected == world.initial
        found = {**world.initial, "scratch.txt": File(b"")}
        assert judge_files(task, found, world.answer.text) == ("failed", ("unexpected: scratch.txt",))


def _damaged(tree: Tree, chance: random.Random) -> Iterator[tuple[str, dict[str, Content]]]:
    """One tree for each sort of damage, with the word that tells of it."""
    whole = complete(tree)
    path = chance.choice(sorted(files_of(whole)))
    rest = {name: content for name, content in whole.items() if name != path}
    yield "missing: ", rest
    yield "unexpected: ", {**whole, f"{path}.copy": File(b"something new")}
    yield "unexpected: ", {**whole, "new and empty": Folder()}
    yield "changed: ", {**whole, path: File(files_of(whole)[path] + b"\n")}
    yield "wrong kind: ", {**whole, path: Folder()}
    yield "misplaced: ", {**rest, f"{path} (1)": whole[path]}


def test_damage_of_each_sort_is_told() -> None:
    chance = random.Random(1)
    tasks = public_tasks()[::5]
    assert {task.kind for task in tasks} == set(KINDS)
    for task in tasks:
        world = world_of(task)
        said = world.answer.text if world.answer else ""
        for word, found in _damaged(world.expected, chance):
            verdict, why = judge_files(task, found, said)
            assert verdict == "failed"
            told = [line for line in why if line.startswith(word)]
            # Where two files have the same content nobody can tell which of them was renamed.
            assert told or (word == "misplaced: " and len(why) == 2), (task.request, word, why)


def test_trees_are_of_the_size_that_people_have() -> None:
    for task in _tasks():
        initial = world_of(task).initial
        assert 10 <= len(files_of(initial)) <= 60
        assert 2 <= max(path.count("/") + 1 for path in initial) <= 4
        assert all(content.data.decode() for content in initial.values() if isinstance(content, File))


def test_names_with_spaces_and_accents_and_capitals_and_dots_occur_everywhere() -> None:
    names = {
        kind: "\n".join(
            name_of(path) for task in public_tasks() if task.kind == kind for path in world_of(task).initial
        )
        for kind in KINDS
    }
    for kind, text in names.items():
        assert re.search(r"\w \w", text), kind
        assert not text.isascii(), kind
        assert re.search(r"[A-Z]{3}", text), kind
        assert re.search(r"\.v\d\.", text), kind


def test_requests_name_nothing_that_is_not_there() -> None:
    """What is quoted is a path, part of a name, or a text in a file, before or after."""
    for task in _tasks():
        world = world_of(task)
        trees = (world.initial, world.expected)
        known = "\n".join(path for tree in trees for path in tree)
        texts = "\n".join(data.decode() for tree in trees for data in files_of(tree).values())
        quoted = re.findall(r"(?<!\w)'([^']+)'(?!\w)", task.request)
        for text in quoted:
            assert text in known or text in texts or text == "COUNT files, SUM bytes", (text, task.request)


def test_every_form_of_every_kind_has_phrasings_and_is_asked_for() -> None:
    asked = {
        kind: {text for task in _tasks() if task.kind == kind for text in world_of(task).requests}
        for kind in KINDS
    }
    assert load_phrasings().keys() == KINDS.keys()
    for kind, forms in load_phrasings().items():
        for form, phrasings in forms.items():
            assert len(phrasings) >= 4
            for phrasing in phrasings:
                pattern = re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(phrasing)))
                assert any(map(pattern.match, asked[kind])), (kind, form, phrasing)


def test_requests_are_clean_english() -> None:
    for text in {text for task in _tasks() for text in world_of(task).requests}:
        plain = re.sub(r"'[^']*'", "X", text)
        assert text[0].isupper(), text
        assert text.endswith((".", "?")), text
        assert not re.search(r"  |\.\.| [,;:?]| \.(?!\w)|[,;]\.|[{}]|\(\(|\ball all\b", plain), text
        assert not re.search(r"\ba (?!one-)[aeiou]|\ban [^aeiou]", plain), text
        assert not re.search(r"\b(\w+) \1\b", plain), text


def test_an_unknown_kind_or_domain_is_named() -> None:
    with pytest.raises(UsageError, match="unknown kind of task 'moove'"):
        world_of(Task("x", "files", "moove", "", "test", "Art"))
    with pytest.raises(UsageError, match="unknown domain 'Arts'\n  Did you mean 'Art'"):
        world_of(Task("x", "files", "move", "", "test", "Arts"))
    with pytest.raises(UsageError, match="not of files"):
        world_of(Task("x", "forge", "move", "", "test", "Art"))


def test_answers_are_what_a_look_at_the_folder_gives(root: Path) -> None:
    """Found out again on the disk, from the words of the request alone."""
    for task in _tasks():
        world = world_of(task)
        if world.answer is not None:
            place = _fresh(root, world.initial)
            for request in world.requests:
                assert _answer(request, place) == world.answer, request


def _answer(request: str, place: Path) -> Number | Paths:
    if reference := re.search(r"'(Reference: .+?)'", request):
        found = [
            path
            for path in place.rglob("*")
            if path.is_file() and reference[1] in path.read_text().splitlines()
        ]
    elif lines := re.search(r"(?:lines (?:does|in)(?: the file)?|open) '(.+?)'", request):
        return Number(len((place / lines[1]).read_bytes().splitlines()))
    elif folder := re.search(r"(?:does|inside|into) '(.+?)'", request):
        return Number(len([path for path in (place / folder[1]).iterdir() if path.is_dir()]))
    elif re.search(r"largest|biggest|most bytes", request):
        files = select(read_selection(request.replace("file ", "files ").replace("filess", "files")), place)
        found = [max(files, key=lambda path: path.stat().st_size)]
    else:
        found = select(read_selection(request), place)
    if re.search("path", request):
        return Paths(tuple(sorted(path.relative_to(place).as_posix() for path in found)))
    return Number(
        sum(path.stat().st_size for path in found)
        if "bytes" in re.sub(r"\d+ bytes", "", request)
        else len(found)
    )


def test_requests_are_about_the_files_that_are_meant() -> None:
    """A reader that knows nothing of the writer finds the same ones, in each phrasing."""
    read = set[str]()
    for task in _tasks():
        world = world_of(task)
        what = (
            _meant(world.operations[0]) if world.operations and task.kind not in ("names", "steps") else None
        )
        for request in world.requests if what else ():
            read.add(task.kind)
            assert chosen(read_selection(request), world.initial) == chosen(what, world.initial), request
    assert read == {"rename", "move", "copy", "dates", "delete", "summary"}


def _meant(operation: ops.Operation) -> Selection | None:
    """The files of an operation that are spoken of as files, rather than as a folder or as names."""
    match operation:
        case ops.Write(text=ops.Listing() | ops.Totals() | ops.Types() as text):
            return text.what
        case ops.Move(what, ops.Into() | ops.ByType() | ops.ByDate() | ops.Prefixed()):
            return what
        case ops.Copy(what, ops.Into()) | ops.Delete(what):
            return what
    return None
