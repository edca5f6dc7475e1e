"""Writes the findings of a run as texts for a bug tracker, for maintainers who don't know misstep."""

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import packages_distributions, version

import msgspec

from misstep.adapters.mcp.entries import McpServer, server_of
from misstep.adapters.mcp.packages import cache_folder, read_command, version_in, versions_of
from misstep.adapters.toolset.spec import MCP, servers_meant
from misstep.core.results.finding import DIED, HIDDEN, Cause, Finding
from misstep.core.settings import StoreSettings, ToolRunSettings
from misstep.core.tool import Described, Frame
from misstep.errors import UsageError
from misstep.features.tool_fuzz.issues.files import WORK, NeededFiles, files_needed
from misstep.features.tool_fuzz.issues.messages import REVISION, messages_of, sending_in_words
from misstep.features.tool_fuzz.issues.script import (
    PLACEHOLDER,
    script_for_code,
    script_for_server,
    shown_command,
    shown_url,
)
from misstep.features.tool_fuzz.run import find_finding, view_fuzzing
from misstep.fuzzing.triage.confirmation import SEQUENTIAL
from misstep.rendering.markdown import block, code, prose
from misstep.rendering.terminal import counted
from misstep.rendering.text import plain, plain_lines
from misstep.rendering.trial import written_call
from misstep.rendering.words import listed
from misstep.runs.execution import masked
from misstep.runs.lookup import find_run
from misstep.runs.setup.workbenches import Workbenches
from misstep.runs.trust import refuse_foreign, refuse_other_spec
from misstep.store.runs import Run

LONGEST_CALL = 70  # characters of a call in a title
ACTUAL = 4_000  # characters of a message
MOST_FRAMES = 12
MOST_TOOLS = 10
SDKS = ("mcp", "fastmcp", "@modelcontextprotocol/sdk")
_INSTALLED = re.compile(r"site-packages/([^/.]+)")
INTERPRETERS = re.compile(r"(python|pypy)[0-9.]*|node|bun|deno")
PATIENCE = 10.0  # seconds for a program to tell its version

PRIVATE = (
    "> **Report this privately**, as the project's SECURITY.md says or with a private security advisory, "
    "not in a public issue."
)


class IssueText(msgspec.Struct, frozen=True):
    """What to say about a kind of finding; `{tool}` is the tool or the call of it."""

    title: str
    expected: str
    matters: str


_UNSAFE = "Text that reaches the agent, such as a web page or a document, can make it "
_LOST = "The agent goes on as if the data were safe, and nobody notices."
_TWICE = "The agent misses something, or works with it twice."
_OWN_WORDS = "A result, or an error that says in the tool's own words which argument is wrong and why."
KINDS = {
    "crash": IssueText(
        "Unhandled {error} in {tool}",
        _OWN_WORDS,
        "An agent can't tell from an internal error what to do differently. It repeats the call or gives up.",
    ),
    "hang": IssueText(
        "{tool} does not answer",
        "An answer, or an error after a time limit of the tool's own.",
        "The agent waits until its client gives up, and the server may go on working for nothing.",
    ),
    "blow-up": IssueText(
        "{tool} needs far too much time or memory for a small request",
        "Time and memory in proportion to the arguments, or an error that says what the limit is.",
        "One short request can stop the server for everybody who uses it.",
    ),
    "schema": IssueText(
        "{tool} does not do what its schema says",
        "Results fit the output schema, and arguments that fit the input schema are not refused.",
        "Clients check results and arguments against these schemas.",
    ),
    "protocol": IssueText(
        "The server breaks the protocol when {tool} is called",
        "Messages as the Model Context Protocol defines them.",
        "Strict clients end the session, others lose the answer.",
    ),
    "acceptance": IssueText(
        "{tool} accepts arguments that its schema forbids",
        "An error that says which argument is wrong, or a schema that allows it.",
        "An agent that makes a mistake gets no sign of it.",
    ),
    "suspicious-refusal": IssueText(
        "{tool} refuses valid arguments with an internal error",
        _OWN_WORDS,
        "The agent has followed the schema and can't tell what else to do.",
    ),
    "refusal": IssueText(
        "{tool} refuses what its documentation allows",
        "The call is accepted, or the documentation says that it is not.",
        "Agents follow the documentation and fail where it is wrong.",
    ),
    "contract": IssueText("{tool} breaks a promise ({error})", "The tool keeps its promise.", _LOST),
    "security": IssueText(
        "{tool} can be misused ({error})", "No access beyond what the server is for.", f"{_UNSAFE}misuse it."
    ),
}
WORDLESS = "{tool} fails without saying what is wrong"
UNNAMED = "{tool} fails with an internal error ({error})"
# The same for some of their errors.
ERRORS = {
    DIED: IssueText(
        "{tool} ends the server's process",
        "A result, or an error that says which argument is wrong. The server keeps running.",
        "All tools of the server are gone for the rest of the session, and so is what it had in memory.",
    ),
    "read-only": IssueText(
        "{tool} is declared read-only, but changes something",
        "Nothing is different after the call.",
        "Clients run such tools without asking the user.",
    ),
    "not destructive": IssueText(
        "{tool} is declared not destructive, but destroys data",
        "What was there before the call is still there.",
        "Clients don't warn the user before such a call.",
    ),
    "idempotent": IssueText(
        "{tool} is declared idempotent, but changes something when repeated",
        "The same call again has no further effect.",
        "Clients repeat such calls after a time-out.",
    ),
    "all or nothing": IssueText(
        "{tool} fails and leaves half of its work behind",
        "A call that fails changes nothing.",
        "The agent sees an error and tries again, on top of what the first call has left.",
    ),
    "still readable": IssueText(
        "{tool} succeeds, and what was there can't be read any more",
        "What could be read before can still be read.",
        _LOST,
    ),
    "read back": IssueText(
        "{tool} succeeds, but what was written is not there",
        "What was written with success is read back as it was written.",
        _LOST,
    ),
    "deleted": IssueText(
        "{tool} succeeds, but what was deleted is still there",
        "What was deleted with success is gone.",
        "The agent, and whoever asked it, rely on the data being gone.",
    ),
    "nothing else": IssueText(
        "{tool} changes something that it was not asked to change", "Only what the call names changes.", _LOST
    ),
    "listed once": IssueText("{tool} does not list everything exactly once", "It is listed once.", _TWICE),
    "pages": IssueText(
        "The pages of {tool} don't add up to the whole", "All pages together have each item once.", _TWICE
    ),
    "error flag": IssueText(
        "{tool} reports an error as success (isError is not set)",
        "A result with `isError: true`, which MCP demands for failed calls.",
        "Clients and agents take the failed call for a successful one and go on.",
    ),
    "success flagged": IssueText(
        "{tool} reports success as an error (isError is set)",
        "A result without `isError: true`, which is for failed calls.",
        "The agent tries again what has been done, or gives up.",
    ),
    "time-out": IssueText(
        "The server answers no more calls after one of {tool} that was cancelled",
        "The server goes on answering.",
        "Clients give up after a time limit. One call then makes all tools of the server useless.",
    ),
    "unlisted tool": IssueText(
        "A call of a tool that does not exist succeeds",
        "An error such as -32602, which MCP demands for unknown tools.",
        "An agent that uses a wrong name takes the result for that of another tool.",
    ),
    "path outside": IssueText(
        "{tool} reaches files outside of its folder",
        "An error: the path is outside of the folder that the server may use.",
        f"{_UNSAFE}read or change these files.",
    ),
    "injection": IssueText(
        "{tool} runs what is in its arguments",
        "The argument is used as a value and never run.",
        f"{_UNSAFE}run anything.",
    ),
    "stack trace": IssueText(
        "{tool} answers with a stack trace",
        "An error in the tool's own words, without paths and code of the server.",
        "It shows strangers how the server is installed, and tells the agent nothing.",
    ),
}
SAYS = {
    "crash": "The call fails with:",
    "hang": "There is no answer within {limit:g} s.",
    "blow-up": "The call succeeds or fails, but at this cost:",
    "acceptance": "The call succeeds. The schema says:",
    "refusal": "The call is refused:",
    "suspicious-refusal": "The call is refused:",
}
PROMISE = "it promises "


class ToolFacts(msgspec.Struct, frozen=True):
    """What is known about the tools of a spec: themselves, what servers say they are, and the only server.

    Programs are not run for a run from elsewhere.
    """

    is_server: bool
    is_trusted: bool = False
    server: McpServer | None = None
    tools: tuple[Described, ...] = ()
    about: tuple[str, ...] = ()


def issues_of(settings: StoreSettings, name: str, part: str = "") -> Iterator[tuple[Finding, str]]:
    """The text for each cause of a run, worst first, or for one finding."""
    run, report = find_run(settings, name), view_fuzzing(settings, name)
    causes = report.causes
    if part:
        _, wanted = find_finding(settings, name, part)
        others = [each for cause in causes if wanted in cause.findings for each in cause.findings]
        causes = [Cause(wanted.cause, (wanted, *(each for each in others if each != wanted)))]
    known = dict[str, ToolFacts]()
    with Workbenches(run.settings, beside=True) as benches:
        for cause in causes:
            finding = masked(cause.findings[0])
            if finding.spec not in known:
                known[finding.spec] = _look(settings, run, finding.spec, benches)
            yield finding, _issue(finding, cause.tools, known[finding.spec], run.settings)


def _look(settings: StoreSettings, run: Run, spec: str, benches: Workbenches) -> ToolFacts:
    """What the tools are now, as far as they can be loaded; those of a run from elsewhere are not."""
    servers = [server_of(spec.removeprefix(MCP))] if spec.startswith(MCP) else []
    is_trusted = False
    try:
        refuse_foreign(settings, run)
        refuse_other_spec(settings, run, spec)
        is_trusted, servers = True, servers_meant(spec) or []
        with benches.lend(spec) as bench:
            tools, about = tuple(bench.tools), bench.about
    except UsageError as error:
        print(f"versions and files are left out: {plain(error.message, 500)}", file=sys.stderr)
        tools, about = (), ()
    own = masked(servers[0]) if len(servers) == 1 else None
    is_server = bool(servers) or spec.endswith(".json")
    return ToolFacts(is_server, is_trusted, own, tools, about)


def _issue(finding: Finding, tools: Sequence[str], place: ToolFacts, settings: ToolRunSettings) -> str:
    kind, others = _kind_of(finding), [code(each) for each in tools if each != finding.tool]
    parts = [
        f"# {title_of(finding)}",
        *([PRIVATE] if finding.kind == "security" else []),
        "## Steps to reproduce",
        *_reproduction(finding, place, settings),
        f"## Expected\n\n{kind.expected}",
        *([f"{code(finding.tool)} promises {prose(_promise(finding), 500)}."] if _promise(finding) else []),
        "## Actual",
        *_actual(finding, settings),
        f"## Why it matters\n\n{kind.matters}",
        *([f"An agent made this call when asked: {code(finding.request, 500)}"] if finding.request else []),
        *([f"The same happens with {listed(others, MOST_TOOLS)}."] if others else []),
        *_place_in_code(finding),
        "## Versions",
        "\n".join(f"- {each}" for each in _versions(finding, place, settings)),
        f"Found by misstep {version('misstep')}{_replayed(finding)}.",
    ]
    return "\n\n".join(parts) + "\n"


def _kind_of(finding: Finding) -> IssueText:
    is_own = finding.kind in SEQUENTIAL or finding.error == DIED
    return ERRORS.get(finding.error, KINDS[finding.kind]) if is_own else KINDS[finding.kind]


def title_of(finding: Finding) -> str:
    """One line, in which nothing from outside is markup."""
    call, title = written_call(finding.calls[-1]), _kind_of(finding).title
    is_short = len(call) <= LONGEST_CALL and finding.calls[-1].tool == finding.tool
    is_plain = is_short and code(call).startswith("`")
    named = code(call if is_plain else finding.tool, LONGEST_CALL)
    if finding.kind == "crash" and not finding.error.isidentifier() and finding.error != DIED:
        title = WORDLESS if finding.error in (HIDDEN, "exception without words") else UNNAMED
    return title.format(tool=named, error=code(_scrubbed(finding.error), LONGEST_CALL))


def _promise(finding: Finding) -> str:
    return finding.why.removeprefix(PROMISE) if finding.why.startswith(PROMISE) else ""


def _actual(finding: Finding, settings: ToolRunSettings) -> Iterator[str]:
    """What happens, with the words of the tool quoted."""
    if finding.error != DIED and finding.kind in SAYS:
        yield SAYS[finding.kind].format(limit=settings.timeout)
    told = _scrubbed(finding.message or finding.why)
    error = f"{finding.error}: " if finding.kind == "crash" and finding.error.isidentifier() else ""
    yield block(plain_lines(f"{error}{told}", ACTUAL), "text")


def _reproduction(finding: Finding, place: ToolFacts, settings: ToolRunSettings) -> Iterator[str]:
    if not place.is_server:
        yield block(script_for_code(finding, {tool.name: tool for tool in place.tools}), "python")
        return
    server = place.server or McpServer("", ("COMMAND",))
    if place.server is None:
        yield "`COMMAND` stands for the command that starts the server."
    yield "Save this as `repro.py` and run it with `uv run repro.py`, or after `pip install 'mcp>=2'`:"
    needed = NeededFiles()
    if place.is_trusted:
        needed = files_needed(finding, server.command, place.tools, settings.workspace)
    is_old = bool(place.about) and place.about[0].rpartition("MCP ")[2] <= REVISION
    yield block(script_for_server(finding, server, needed, settings.timeout, is_old), "python")
    shown = " ".join((*shown_command(server), shown_url(server)))
    if server.environment or server.headers or PLACEHOLDER in shown:
        yield f"Replace each `{PLACEHOLDER}` with a value of your own."
    if needed.left:
        yield f"It needs these files in `{WORK}`: {listed([code(each) for each in needed.left], MOST_TOOLS)}."
    yield from _messages(finding, server, settings.timeout)


def _messages(finding: Finding, server: McpServer, limit: float) -> Iterator[str]:
    if messages := messages_of(finding.calls, not server.url):
        where = "" if server.url else ", for the server's standard input"
        summary = f"<summary>The same as JSON-RPC messages{where}</summary>"
        parts = [summary, *sending_in_words(finding.calls, limit), block(messages, "json"), "</details>"]
        yield "<details>" + "\n\n".join(parts)


def _place_in_code(finding: Finding) -> Iterator[str]:
    if not finding.where and not finding.frames:
        return
    yield f"## Where\n\n{code(_scrubbed(finding.where), 200)}"
    if finding.frames:
        frames = [_frame_in_words(each) for each in finding.frames[-MOST_FRAMES:]]
        yield block(plain_lines("\n".join(frames)), "text")


def _frame_in_words(frame: Frame) -> str:
    text = f"\n    {plain(_scrubbed(frame.text), 200)}" if frame.text else ""
    return plain(f"{_scrubbed(frame.file)}:{frame.line} in {frame.function}", 300) + text


def _scrubbed(text: str) -> str:
    """The text without the user's folders."""
    text = re.sub(r"(?<![\w/])/[^\s'\":]*/(?=(?:site-packages|node_modules)/)", "", text)
    for folder, shown in ((str(cache_folder()), "…"), (os.getcwd(), "."), (os.path.expanduser("~"), "~")):
        text = text.replace(folder, shown) if folder not in ("", "/") else text
    return text


def _replayed(finding: Finding) -> str:
    if not finding.replayed:
        return ", and not repeated from a fresh start"
    return f" and reproduced in {finding.reproduced} of {counted(finding.replayed, 'fresh start')}"


def _versions(finding: Finding, place: ToolFacts, settings: ToolRunSettings) -> Iterator[str]:
    if place.server:
        yield from lines_on_server(place.server, place.is_trusted)
    elif not place.is_server:
        yield from _of_code(finding, settings, place.is_trusted)
    yield from (f"The server says: {code(each, 200)}" for each in place.about)
    yield platform.system()


def lines_on_server(server: McpServer, is_trusted: bool) -> Iterator[str]:
    """The command, the versions that were installed, and that of the interpreter if programs may be run."""
    yield code(shlex.join(shown_command(server)) or shown_url(server), 300)
    wanted, versions = read_command(server.command), versions_of(server)
    if wanted is not None:
        names = dict.fromkeys((wanted.package, *SDKS))
        known = [f"{name} {found}" for name in names if (found := version_in(versions, name))]
        yield from ([", ".join(map(code, known))] if known else [])
    if not is_trusted:
        return
    program = server.command[0] if server.command else ""
    if wanted is not None:
        yield from _of_program("node" if wanted.manager == "npm" else sys.executable)
    elif INTERPRETERS.fullmatch(os.path.basename(program)):
        yield from _of_program(program)


def _of_program(program: str) -> Iterator[str]:
    """The version of an interpreter, as it tells it."""
    command = [program, "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError, ValueError):
        return
    name = "" if done.stdout.startswith("Python") else f"{os.path.basename(program).title()} "
    yield prose(f"{name}{done.stdout.strip()}", 60)


def _of_code(finding: Finding, settings: ToolRunSettings, is_trusted: bool) -> Iterator[str]:
    """The interpreter, and the installed packages that the failing code is in."""
    if settings.python:
        yield from _of_program(settings.python) if is_trusted else ()
        return
    known = packages_distributions()
    tops = [found[1] for frame in finding.frames if (found := _INSTALLED.search(frame.file))]
    for name in dict.fromkeys(name for top in tops for name in known.get(top, ())):
        yield code(f"{name} {version(name)}")
    yield f"Python {platform.python_version()}"
