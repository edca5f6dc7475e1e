"""What a client is started with: its command line, and the `mcp.json` that leads it to our tools."""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from misstep.adapters.mcp import link
from misstep.adapters.mcp.server import SERVER_NAME
from misstep.errors import UsageError

PLACEHOLDER = re.compile(r"\{(config|request|url|tools)\}")
EXAMPLE = "for example mcp:my-client --mcp-config {config} --prompt {request}"


def split_command(command: str) -> tuple[str, ...]:
    """The words of a command as a shell would split it; no shell ever sees it."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"the client's command can't be read: {error}", f"given: {command}") from None
    if not words:
        raise UsageError("the client has no command", EXAMPLE)
    return words


def placeholders(words: Sequence[str]) -> set[str]:
    return {name for word in words for name in PLACEHOLDER.findall(word)}


def unknown_placeholders(words: Sequence[str]) -> set[str]:
    """Names in braces that nothing is known for: mistakes, most likely."""
    return {name for word in words for name in re.findall(r"\{([a-z_]+)\}", word)} - placeholders(words)


def fill(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with each placeholder replaced once; a word stays one word, whatever goes into it."""
    return [PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in words]


def check_program(program: str) -> None:
    if shutil.which(program):
        return
    if Path(program).is_file():
        raise UsageError(f"the client '{program}' can't be executed", f"chmod +x {shlex.quote(program)}")
    raise UsageError(f"the client '{program}' is not to be found", EXAMPLE)


def http_entry(url: str) -> dict[str, Any]:
    return {"type": "http", "url": url}


def link_entry(address: Path) -> dict[str, Any]:
    """Starts a link to the address in this file, so that no secret shows in a list of processes.

    The program is named as a file: clients don't pass on the environment that modules are found by.
    """
    return {"command": sys.executable, "args": ["-I", "-S", str(link.__file__), str(address)], "env": {}}


def write_private(path: Path, text: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


def write_config(folder: Path, entry: Mapping[str, Any]) -> Path:
    text = json.dumps({"mcpServers": {SERVER_NAME: entry}}, indent=2)
    return write_private(folder / "mcp.json", text)
