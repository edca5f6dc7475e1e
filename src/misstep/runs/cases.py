"""The cases of a run, synthesised from settings or read from a file, and absolute paths in settings."""

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TypeVar

from misstep.core.agent import Tool
from misstep.core.case import CASE_VERSION, Case
from misstep.core.constraint import FAMILIES
from misstep.core.rng import Hashes
from misstep.core.secrets import Redactor, secrets_in
from misstep.core.settings import ProblemSettings, ToolSettings
from misstep.core.settings.reading import check_settings
from misstep.errors import UsageError
from misstep.planning.admission.validation import validate_case
from misstep.planning.difficulty import parse_bounds
from misstep.planning.language.parts import part_of
from misstep.planning.synthesis.paragraphs import Recipe
from misstep.planning.synthesis.suite import Suite, make_case
from misstep.store.files import read_lines
from misstep.store.runs import Digest

FILES = ("context", "descriptions", "groups", "prices", "prompt")  # settings for tests of tools
FOLDERS = ("data", "prompts", "workspace")


def absolute_path(path: str) -> str:
    """The absolute path of a readable file; empty if none is given."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(
            "is not a regular file", "it is read more than once: save it to a file first", where=path
        )
    return os.path.abspath(path) if path else ""


def absolute_tools(spec: str) -> str:
    """The same spec, with an absolute path if it names a file."""
    if not spec:
        return ""
    from misstep.adapters.toolset.spec import file_of

    path = file_of(spec)
    return os.path.abspath(path) + spec.removeprefix(path) if path else spec


def absolute_specs(specs: Iterable[str]) -> tuple[str, ...]:
    """Absolute specs of tools to call, each once."""
    from misstep.adapters.toolset.spec import refuse_nameless
    from misstep.tool_host.sandbox.places import anchored

    own = list(specs)
    for spec in own:
        refuse_nameless(spec)
    return tuple(dict.fromkeys(map(anchored, own)))


def stored_specs(specs: Iterable[str]) -> tuple[str, ...]:
    """The same for specs that are stored with a run, which must not contain secrets."""
    redact = Redactor(secrets_in(os.environ))
    own = absolute_specs(specs)
    for spec in own:
        if (shown := redact(spec)) != spec:
            raise UsageError(
                "a tool SPEC contains the value of a secret environment variable, and SPECs are stored",
                "let the server read it from its environment: mcp.json can name variables (env)",
                where=shown,
            )
    return own


ToolGroup = TypeVar("ToolGroup", bound=ToolSettings)


def absolute_places(settings: ToolGroup) -> ToolGroup:
    workspace = settings.workspace
    if workspace and not os.path.isdir(workspace):
        hint = "name a folder to copy for the tools"
        raise UsageError("is not a folder", hint, where=f"--workspace {workspace}")
    known = settings.fields()
    files = {name: absolute_path(getattr(settings, name)) for name in FILES if name in known}
    folders = {
        name: os.path.abspath(path) for name in FOLDERS if name in known and (path := getattr(settings, name))
    }
    allowed = [os.path.abspath(os.path.expanduser(path)) for path in settings.allow_read]
    return settings.overlay({**files, **folders, "allow_read": tuple(allowed)})


DEFAULT_COUNT = 100


def suite_of(settings: ProblemSettings) -> Suite:
    """The suite that the settings describe; a `UsageError` if it can't be synthesised."""
    recipe = Recipe(
        sentences=settings.sentences,
        iterations=settings.iterations,
        redundancy=settings.redundancy,
        group=settings.group,
        relative=settings.relative,
        attempts=settings.attempts,
    )
    # In a fixed order, so that the order in which they are given does not matter.
    chosen = {*settings.family, "order", "time"} if settings.timed else {*settings.family}
    suite = Suite(
        seed=settings.seed,
        low=settings.actions.low,
        high=settings.actions.high,
        topics=settings.topics,
        request=settings.request,
        exhaustive=settings.exhaustive,
        recipe=recipe,
        families=tuple(family for family in FAMILIES if family in chosen),
        distractors=settings.distractors,
        tools=_load_tools(settings.tools, absolute_tools(settings.tools)),
        difficulty=parse_bounds(settings.difficulty),
        part=part_of(settings.part),
    )
    suite.validate()
    return suite


@cache  # loading them runs the user's code: once per location is enough
def _load_tools(spec: str, _: str) -> tuple[Tool, ...]:
    if not spec:
        return ()
    from misstep.adapters.toolset.spec import tools_from

    return tuple(tools_from(spec))


def count_cases(settings: ProblemSettings) -> tuple[int, bytes]:
    """The number of cases of a run. A file of cases is read completely, so that errors are found at once.

    The digest detects changes of the file; synthesised cases need none.
    """
    if not settings.cases:
        return count_suite(settings), b""
    digest = Digest()
    for case in load_cases(settings.cases):
        digest.add(case)
    return digest.count, bytes(digest)


def count_suite(settings: ProblemSettings) -> int:
    suite = suite_of(settings)
    if not suite.exhaustive:
        return settings.count or DEFAULT_COUNT
    orders = suite.orders()
    if settings.count and settings.count % orders:
        hint = f"omit it, or use a multiple of {orders}"
        raise UsageError(f"count {settings.count} does not cover the {orders} orders evenly", hint)
    return settings.count or orders


def load_cases(path: str) -> Iterator[Case]:
    """The cases of a file, each checked to be judgeable, with distinct ids."""
    seen = Hashes()
    for where, case in read_lines(path, Case, "case", version=CASE_VERSION):
        if not seen.add(case.id):
            first = next(where for where, other in read_lines(path, Case, "case") if other.id == case.id)
            if first != where:
                raise UsageError(f"case {case.id} appears twice", f"first at {first}", where=where)
        yield _admit(case, where)


def _admit(case: Case, where: str) -> Case:
    try:
        return validate_case(case)
    except UsageError as error:
        raise UsageError(error.message, *error.hints, where=where) from error


def cases_of(settings: ProblemSettings, done: Sequence[int] = ()) -> Iterator[Case]:
    if settings.cases:
        lines = enumerate(read_lines(settings.cases, Case, "case", version=CASE_VERSION))
        return (
            _admit(case, where) for index, (where, case) in lines if not (index < len(done) and done[index])
        )
    suite, count = suite_of(settings), count_suite(settings)
    return (make_case(suite, index) for index in range(count) if not (index < len(done) and done[index]))


def synthesise(settings: ProblemSettings) -> Iterator[Case]:
    """Generate the cases that the settings describe, one by one."""
    return cases_of(check_settings(settings).overlay({"cases": ""}))
