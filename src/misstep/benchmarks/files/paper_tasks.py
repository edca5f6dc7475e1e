"""Reads tasks in the paper's layout: prompt files, setup scripts, folders with the expected end state.

Lists of environments are a simple subset of YAML.
"""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from misstep.benchmarks.tree import Folder, Tree, complete, differences, survey
from misstep.core.outcome import Judgement
from misstep.core.results.benchmark import Split, Task, task_id
from misstep.errors import UsageError

_FIELD = re.compile(r"(?P<dash>-\s+)?(?P<key>\w+):\s+(?P<quote>['\"]?)(?P<value>.+?)(?P=quote)\s*$")
_HEAD = "environments:"
_EXPECTED_ENTRY = (
    "expected '- setup_file: …', 'prompt_file: …' or 'ground_truth_directory: …' below 'environments:'"
)
ABSENT = "put it there, or take out what names it: envs*.yml or a prompt of its field"
MOST_READ = 1 << 22  # bytes


class PaperEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task; paths are relative to the benchmark's folder."""

    setup_file: str
    prompt_file: str
    ground_truth_directory: str


def read_entries(path: Path) -> list[PaperEntry]:
    text = read_text(path)
    entries = []
    for line, fields in _mappings(text, path):
        try:
            entries.append(msgspec.convert(fields, PaperEntry))
        except msgspec.ValidationError as error:
            where = f"{path}:{line}"
            raise UsageError(f"not an environment: {error}", _EXPECTED_ENTRY, where=where) from error
    return entries


def read_text(path: Path) -> str:
    try:
        if not path.is_file():
            raise UsageError("no such file", ABSENT, where=str(path))
        if path.stat().st_size > MOST_READ:
            hint = "expected a short text: is this the right file?"
            raise UsageError(f"the file has more than {MOST_READ:,} bytes", hint, where=str(path))
        return path.read_text(encoding="utf-8")
    except OSError as error:
        hint = "check its permissions, and that it is not a loop of symbolic links"
        raise UsageError(f"can't be read: {error.strerror}", hint, where=str(path)) from error
    except UnicodeDecodeError as error:
        hint = f"save it as UTF-8, without the byte 0x{error.object[error.start]:02x} at place {error.start}"
        raise UsageError("is not UTF-8", hint, where=str(path)) from error


def _mappings(text: str, path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Each mapping with the number of its first line."""
    found: list[tuple[int, dict[str, str]]] = []
    for number, plain in _lines(text):
        field = _FIELD.match(plain)
        if field is None or not (found or field["dash"]):
            raise UsageError(f"can't read '{plain[:80]}'", _EXPECTED_ENTRY, where=f"{path}:{number}")
        if field["dash"]:
            found.append((number, {}))
        if field["key"] in found[-1][1]:
            hint = "take one of them out, or begin another environment with '- '"
            raise UsageError(f"'{field['key']}' appears twice", hint, where=f"{path}:{number}")
        found[-1][1][field["key"]] = field["value"]
    yield from found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with content, numbered; a long value may be on the line below its key."""
    key = ""
    for number, line in enumerate(text.splitlines(), 1):
        plain = f"{key} {line.strip()}".strip()
        if not plain or plain.startswith("#") or plain in (_HEAD, "---"):
            continue
        key = plain if plain.endswith(":") else ""
        if not key:
            yield number, plain
    if key:
        yield number, key


VERBS = ("move", "copy", "delete", "archive", "rename", "create")
_PROMPT = re.compile(r"prompt(\d+)\.txt")
_BRANCH = re.compile(r"^(?P<depth>(?:[│|]?[ \xa0]{3,4})*)(?:├──|└──)[ \xa0](?P<name>.+)$")
_EXPECTED_PATH = "expected a path like ./setups/setup_art.sh, relative to the folder that --data names"
_SHARE = 5  # one task in so many is for validation


class PaperTask(msgspec.Struct, frozen=True):
    task: Task
    setup: Path  # a script that takes the folder to fill; it must run in a sandbox, and is not run here
    truth: Path | None = None  # a folder with the expected end state, which the published data lack
    listing: Path | None = None  # the output of `tree` for a folder after setup


def read_paper(folder: Path) -> Sequence[PaperTask]:
    """The tasks in the lists of environments, then the prompts of fields that no list mentions."""
    try:
        os.listdir(folder)
    except OSError as error:
        raise UsageError(f"can't be read as a folder: {error.strerror}", where=str(folder)) from error
    root = folder.resolve()
    lists = sorted([*root.glob("envs*.yml"), *root.glob("envs/envs*.yml")])
    entries = {entry.prompt_file: entry for path in lists for entry in read_entries(path)}
    listed = {Path(name).parent.name for name in entries}
    entries |= {entry.prompt_file: entry for entry in _unlisted(root, listed)}
    if not entries:
        expected = "expected envs*.yml, prompts/FIELD/promptN.txt and setups/setup_FIELD.sh"
        raise UsageError("no tasks of the paper's benchmark", expected, where=str(folder))
    tasks = {each.task.id: each for each in (_paper_task(root, entry) for entry in entries.values())}
    return sorted(tasks.values(), key=lambda each: (each.task.domain, each.task.seed))


def judge_paper(each: PaperTask, found: Tree, initial: Tree) -> tuple[Judgement, tuple[str, ...]]:
    """Compare files only, as in the paper: git does not track empty folders."""
    if each.truth is None:
        return "inconclusive", ("the benchmark's folder has no ground truth for this task",)
    why = differences(_files(survey(each.truth)), _files(found), _files(initial))
    return ("failed" if why else "passed"), why


def doubts(each: PaperTask, initial: Tree) -> tuple[str, ...]:
    """How the result of a setup script differs from the listing beside it, if there is one."""
    if each.listing is None:
        return ()
    promised = printed_paths(read_text(each.listing))
    missing = [f"the set-up lacks {path}" for path in promised if path not in initial]
    more = [f"the set-up has {path}, which its listing lacks" for path in initial if path not in promised]
    return (*missing, *more)


def printed_paths(text: str) -> list[str]:
    """The paths in the output of `tree`."""
    above, found = list[str](), list[str]()
    for line in text.splitlines():
        if branch := _BRANCH.match(line):
            depth = (len(branch["depth"]) + 1) // 4  # some of the published listings lack a space
            above[depth:] = [branch["name"].strip().rstrip("/")]
            found.append("/".join(above))
    return found


def _files(tree: Tree) -> Tree:
    """The tree without git's own files and without empty folders."""
    things = {path: content for path, content in tree.items() if not isinstance(content, Folder)}
    return complete({path: content for path, content in things.items() if not f"{path}/".startswith(".git/")})


def _unlisted(root: Path, listed: set[str]) -> Iterator[PaperEntry]:
    for prompt in sorted(root.glob("prompts/*/prompt*.txt")):
        field, number = prompt.parent.name, _PROMPT.fullmatch(prompt.name)
        if number and field not in listed:
            truth = f"ground_truths/setup_{field}/{field}_{number[1]}"
            yield PaperEntry(f"setups/setup_{field}.sh", f"prompts/{field}/{prompt.name}", truth)


def _paper_task(root: Path, entry: PaperEntry) -> PaperTask:
    setup, prompt = _inside(root, entry.setup_file), _inside(root, entry.prompt_file)
    truth = _inside(root, entry.ground_truth_directory)
    request = read_text(prompt).strip()
    if not request:
        raise UsageError("the prompt is empty", "write into it what is to be done", where=str(prompt))
    if not setup.is_file():
        raise UsageError("there is no such set-up script", f"{prompt} needs it", where=str(setup))
    field = prompt.parent.name
    listing = setup.with_name(f"expected_tree_{field}.txt")
    return PaperTask(
        _task(field, prompt.name, request),
        setup,
        truth if truth.is_dir() else None,
        listing if listing.is_file() else None,
    )


def _task(field: str, prompt: str, request: str) -> Task:
    name = task_id("files", "paper", field, prompt)
    number = _PROMPT.fullmatch(prompt)
    kind = next((verb for verb in VERBS if re.search(rf"(?i)\b{verb}", request)), "other")
    split: Split = "validation" if int(name[2:], 16) % _SHARE == 0 else "test"
    return Task(name, "files", kind, request, split, field, int(number[1]) if number else 0)


def _inside(root: Path, name: str) -> Path:
    """Resolve a path from a list; it must not lead out of the benchmark's folder."""
    try:
        place = (root / name).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"'{name[:200]}' is not a path", _EXPECTED_PATH, where=str(root)) from error
    if not place.is_relative_to(root):
        message = f"'{name[:200]}' leads out of the benchmark's folder"
        raise UsageError(message, _EXPECTED_PATH, where=str(root))
    return place
