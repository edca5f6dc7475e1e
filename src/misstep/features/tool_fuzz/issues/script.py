"""Writes the calls of a finding as a script that needs no misstep."""

import keyword
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, assert_never

from misstep.adapters.mcp.entries import McpServer
from misstep.adapters.mcp.offers import offer_named
from misstep.adapters.mcp.packages import read_command, version_in, versions_of
from misstep.adapters.toolset.spec import CALLED
from misstep.core.results.finding import ENDLESS, Finding
from misstep.core.secrets import without_credentials, without_values
from misstep.core.tool import Described, Invocation, arguments_of
from misstep.features.tool_fuzz.issues.files import WORK, NeededFiles, code_for
from misstep.features.tool_fuzz.issues.messages import (
    CANCELLED,
    asks_for_progress,
    meant,
    starts_of,
    typed_in,
)
from misstep.fuzzing.returned import MARKER, may_have_markers
from misstep.tool_host.sandbox.places import CODE

PLACEHOLDER = "..."  # for values that others have to fill in
PERIOD = 8  # characters that are repeated
REPEATED = 100  # characters that are written down as a product
# Contracts that are broken by what happens to files.
ON_FILES = ("read-only", "not destructive", "idempotent", "all or nothing")
SHOW_FILES = (
    '    for path in sorted(WORK.rglob("*")):',
    '        if path.is_file() and ".git" not in path.parts:',
    "            print(path, path.read_bytes()[:200])",
)
# Finds what a reply says under a name, in JSON or in words: the latest one, or one of a tool so many back.
FIND_RETURNED = (
    "",
    "",
    "replies = []",
    "",
    "",
    "def returned(name, tool=None, back=1):",
    "    for called, reply in reversed(replies):",
    '        for part in getattr(reply, "content", []):',
    '            text = getattr(part, "text", "")',
    """            said = re.search(rf'{name}"?\\s*[:=#]\\s*"?([^\\s",;{{}}\\[\\]]+)', text)""",
    "            if said and tool in (None, called):",
    "                back -= 1",
    "                if not back:",
    "                    return said[1]",
    "                break",
)
# Prints the result of a call, which is cancelled if there is none in time.
SHOW = (
    "    try:",
    "        reply = await asyncio.wait_for(call, seconds)",
    "    except Exception as error:",
    "        reply = repr(error)",
    "    print(name, reply)",
)
CANCEL = (
    "",
    "",
    "async def cancel(name, call):",
    "    for turns in range(20, 4, -2):  # the reply may come first",
    "        task = asyncio.create_task(call())",
    "        for _ in range(turns):  # until the request is sent",
    "            await asyncio.sleep(0)",
    "        task.cancel()",
    "        await asyncio.wait([task])",
    "        if task.cancelled():",
    "            break",
    '    print(name, "was cancelled" if task.cancelled() else "has answered first")',
)
# Where the names are from that the calls of a server use.
SDK_NAMES = {
    "httpx2.": "import httpx2",
    "UriTemplate.": "from mcp.shared.uri_template import UriTemplate",
    "PromptReference(": "from mcp.types import PromptReference",
    "ResourceTemplateReference(": "from mcp.types import ResourceTemplateReference",
    "sse_client(": "from mcp.client.sse import sse_client",
    "streamable_http_client(": "from mcp.client.streamable_http import streamable_http_client",
}
IGNORE_PROGRESS = ("", "", "async def ignored(progress, total, message):", "    pass")
# How an agent's framework calls its tools, by kind.
CALLS = {
    "function": "{tool}({named})",
    "langchain": "{tool}.invoke({arguments})",
    "crewai": "{tool}.run({named})",
    "llama-index": "{tool}.call({named})",
    "smolagents": "{tool}({named})",
    "pydantic-ai": "{tool}.function({named})",
}
# A file or module and a name in it; what a store from elsewhere holds could be anything.
_NAME = r"[^\W\d]\w*"
_NAMES = rf"{_NAME}(?:\.{_NAME})*"
_PLACE = re.compile(rf"(?:(?:.*/)?{_NAME}\.py|{_NAMES}(?<!\.py)):{_NAMES}(?:\(\))?")


def script_for_server(
    finding: Finding, server: McpServer, needed: NeededFiles, limit: float, is_old: bool
) -> str:
    """The calls with the official SDK, which need not try newer revisions of the protocol if it `is_old`."""
    has_folder = _needs_folder(finding, server, needed)
    starts = starts_of(finding.calls)
    made = _folder_code(needed, len(starts) > 1) if has_folder else []
    body = [
        *made,
        *_server_code(server, has_folder),
        *(FIND_RETURNED if _uses_results(finding) else ()),
        *_helpers(finding, limit),
        "",
        "",
        "async def main():",
    ]
    for calls in starts:
        body += ["    make_files()"] if has_folder and len(starts) > 1 else []
        body.append(f"    async with {_client_code(server, is_old)} as client:")
        body += [f"        {line}" for line in _awaited(finding, calls, limit)]
    body += SHOW_FILES if has_folder and finding.error in ON_FILES else ()
    body += ["", "", "asyncio.run(main())"]
    names = ["Client", *([] if server.url else ["StdioServerParameters"])]
    sdk = [f"from mcp import {', '.join(names)}"]
    sdk += [line for name, line in SDK_NAMES.items() if _uses(body, name)]
    start = ["# /// script", '# dependencies = ["mcp>=2"]', "# ///", *_imports(body), ""]
    return "\n".join([*start, *sorted(sdk), "", *body])


def _folder_code(needed: NeededFiles, is_repeated: bool) -> list[str]:
    """Statements that make the working directory; a function if that `is_repeated`."""
    work = f"WORK = Path({code_of(WORK)})"
    made = ["shutil.rmtree(WORK, ignore_errors=True)", "WORK.mkdir(parents=True)", *code_for(needed)]
    if not is_repeated:
        return [work, *made]
    return [work, "", "", "def make_files():", *(f"    {line}" for line in made), "", ""]


def _helpers(finding: Finding, limit: float) -> Iterator[str]:
    """The functions that the calls need."""
    if any(map(asks_for_progress, finding.calls)):
        yield from IGNORE_PROGRESS
    if _is_plain(finding):
        return
    yield from ("", "", f"async def show(name, call, seconds={limit:g}):", *SHOW)
    if _uses_results(finding):
        yield from ('    if not getattr(reply, "is_error", False):', "        replies.append((name, reply))")
    if any(call.sent == "cancelled" for call in finding.calls):
        yield from CANCEL


def _is_plain(finding: Finding) -> bool:
    """Whether it is one call that is made as usual and answered."""
    is_one = len(finding.calls) == 1 and finding.calls[0].sent not in CANCELLED
    return is_one and finding.kind not in ENDLESS and not _uses_results(finding)


def _awaited(finding: Finding, calls: Sequence[Invocation], limit: float) -> Iterator[str]:
    """The calls of one start of the server as statements in `main`."""
    if _is_plain(finding):
        yield f"print(await {_code_on_server(calls[0])})"
        return
    together = list[str]()
    for call in calls:
        together.append(_shown(call, limit))
        if call.sent == "together" and call is not calls[-1]:
            continue
        if len(together) == 1:
            yield f"await {together[0]}"
        else:
            yield from ("await asyncio.gather(", *(f"    {each}," for each in together), ")")
        together.clear()


def _shown(call: Invocation, limit: float) -> str:
    """Code that makes a call and prints the result."""
    name, code = code_of(meant(call)[1] or call.tool), _with_returned(_code_on_server(call))
    if call.sent == "cancelled":
        return f"cancel({name}, lambda: {code})"
    return f"show({name}, {code}{f', {limit / 2:g}' if call.sent == 'timed out' else ''})"


def _code_on_server(call: Invocation) -> str:
    (kind, about), given = meant(call), arguments_of(call)
    name, arguments = code_of(about), code_of(given)
    match kind:
        case "tool":
            progress = ", progress_callback=ignored" if asks_for_progress(call) else ""
            return f"client.call_tool({name}, {arguments}{progress})"
        case "prompt":
            return f"client.get_prompt({name}, {arguments})"
        case "resources/read":
            return f"client.read_resource({code_of(given.get('uri', ''))})"
        case "resource":
            return f"client.read_resource(UriTemplate.parse({name}).expand({arguments}))"
        case "completion":
            of, whose = offer_named(about)
            made = "PromptReference(name=" if of == "prompt" else "ResourceTemplateReference(uri="
            return f"client.complete({made}{code_of(whose)}), {code_of(typed_in(given))})"
    assert_never(kind)


def _uses_results(finding: Finding) -> bool:
    return any(may_have_markers(call.arguments) for call in finding.calls)


def _with_returned(code: str) -> str:
    """The code with calls of `returned` instead of markers."""

    def call(found: re.Match[str]) -> str:
        of_tool = f", {code_of(found['tool'])}, {found['back']}" if found["tool"] else ""
        value = f"returned({code_of(found['name'])}{of_tool})"
        return f"int({value})" if found["number"] else value

    return re.sub(f"[\"']{MARKER.pattern}[\"']", call, code)


def _imports(body: Sequence[str]) -> list[str]:
    modules = ("asyncio", "base64", "re", "shutil", "sqlite3", "subprocess")
    plain = [f"import {name}" for name in modules if _uses(body, f"{name}.")]
    origins = {"suppress": "contextlib", "Path": "pathlib"}
    return plain + [f"from {home} import {name}" for name, home in origins.items() if _uses(body, f"{name}(")]


def _uses(body: Sequence[str], text: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(text)}", line) for line in body)


def _needs_folder(finding: Finding, server: McpServer, needed: NeededFiles) -> bool:
    texts = [*server.command, *(call.arguments for call in finding.calls)]
    return not needed.is_empty or bool(needed.left) or any(WORK in text for text in texts)


def _server_code(server: McpServer, has_folder: bool) -> list[str]:
    """Statements that say how the server is reached, with placeholders for what may be secret."""
    if server.url:
        plain = [f"SERVER = {code_of(shown_url(server))}"]
        return _address_code(server) if _needs_transport(server) else plain
    in_work = has_folder and not server.folder
    program, *arguments = [
        f"str(Path({code_of(word)}).resolve())" if in_work and word.endswith(CODE) else code_of(word)
        for word in shown_command(server)
    ]
    code = [f"command={program}"]
    code += [f"args=[{', '.join(arguments)}]"] if arguments else []
    code += [f"env={_unfilled(server.environment)}"] if server.environment else []
    code += ["cwd=WORK"] if in_work else []
    code += [f"cwd={code_of(shown_path(server.folder))}"] if server.folder else []
    return [f"SERVER = StdioServerParameters({', '.join(code)})"]


def _address_code(server: McpServer) -> list[str]:
    """A function that makes a transport, which serves only one client."""
    url, headers = code_of(shown_url(server)), _unfilled(server.headers)
    if server.kind == "sse":
        return ["", "def server():", f"    return sse_client({url}, headers={headers})"]
    return [
        "",
        "def server():",
        f"    http = httpx2.AsyncClient(headers={headers}, timeout=60)",
        f"    return streamable_http_client({url}, http_client=http)",
    ]


def _unfilled(values: Mapping[str, str]) -> str:
    return code_of(dict.fromkeys(values, PLACEHOLDER))


def _needs_transport(server: McpServer) -> bool:
    return bool(server.headers) or server.kind == "sse"


def _client_code(server: McpServer, is_old: bool) -> str:
    place = "server()" if server.url and _needs_transport(server) else "SERVER"
    mode = ', mode="legacy"' if is_old else ""
    return f"Client({place}{mode})"


def shown_command(server: McpServer) -> tuple[str, ...]:
    """The command with the version that was tried, without the user's folders and what may be secret."""
    wanted, words = read_command(server.command), server.command
    if wanted and wanted.package:
        version = version_in(versions_of(server), wanted.package)
        words = wanted.at(version).words if version else words
    else:
        words = tuple([shown_path(word) for word in words])
    return without_values(words, PLACEHOLDER)


def shown_url(server: McpServer) -> str:
    return without_credentials(server.url, PLACEHOLDER)


def shown_path(word: str) -> str:
    """A path as others can use it: below the current folder, else without folders."""
    if not os.path.isabs(word) or word.startswith(WORK) or not os.path.exists(word):
        return word
    relative = os.path.relpath(word)
    return relative if not relative.startswith("..") else os.path.basename(word)


def script_for_code(finding: Finding, tools: Mapping[str, Described]) -> str:
    """The calls of Python functions or tools of a framework, if it is known how these are called."""
    place, _, name = finding.spec.rpartition(":")
    kinds = {tools[call.tool].kind if call.tool in tools else "" for call in finding.calls}
    if not kinds <= CALLS.keys() or not _PLACE.fullmatch(finding.spec):
        return _script_with_misstep(finding)
    module = os.path.splitext(os.path.basename(place))[0] if place.endswith(".py") else place
    is_itself = name.rpartition(".")[2] in {call.tool for call in finding.calls}
    code = [_call_code(call, tools[call.tool], name if is_itself else "") for call in finding.calls]
    listed = f'tools = {{getattr(each, "name", None) or each.__name__: each for each in {name}}}'
    body = [*([] if is_itself else [listed]), *_in_turn(code)]
    own = f"from {module} import {name.removesuffix(CALLED).partition('.')[0]}"
    return "\n".join([*_imports(body), own, "", *body])


def _in_turn(calls: Sequence[str]) -> Iterator[str]:
    """The calls as statements; all but the last one may fail."""
    for call in calls[:-1]:
        yield from ("with suppress(Exception):", f"    {call}")
    yield calls[-1]


def _call_code(call: Invocation, tool: Described, name: str) -> str:
    given = arguments_of(call)
    place = name or f"tools[{code_of(call.tool)}]"
    code = CALLS[tool.kind].format(tool=place, named=_named(given), arguments=code_of(given))
    return f"print({f'asyncio.run({code})' if tool.is_async else code})"


def _script_with_misstep(finding: Finding) -> str:
    calls = ", ".join(f"({code_of(call.tool)}, {code_of(arguments_of(call))})" for call in finding.calls)
    place, _, name = finding.spec.rpartition(":")
    spec = code_of(f"{shown_path(place)}:{name}")
    return (
        f"# pip install misstep\nfrom misstep import replay_calls\n\nprint(replay_calls({spec}, [{calls}]))"
    )


def _named(given: Mapping[str, Any]) -> str:
    if all(name.isidentifier() and not keyword.iskeyword(name) for name in given):
        return ", ".join(f"{name}={code_of(value)}" for name, value in given.items())
    return f"**{code_of(given)}"


def code_of(value: Any) -> str:
    """A JSON value as Python code in ASCII; a text that repeats itself is written as a product."""
    match value:
        case str():
            return _text_code(value)
        case float() if value != value or value in (float("inf"), float("-inf")):
            return f'float("{value}")'
        case dict():
            return f"{{{', '.join(f'{code_of(name)}: {code_of(each)}' for name, each in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(code_of, value))}]"
        case _:
            return repr(value)


def _text_code(text: str) -> str:
    if len(text) > REPEATED:
        for unit in (text[:size] for size in range(1, PERIOD + 1)):
            times, rest = divmod(len(text), len(unit))
            if unit * times + unit[:rest] == text:
                tail = f" + {_text_code(unit[:rest])}" if rest else ""
                return f"{_text_code(unit)} * {times}{tail}"
    code = ascii(text)
    return f'"{code[1:-1]}"' if code[0] == "'" and '"' not in code else code
