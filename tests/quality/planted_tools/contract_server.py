"""An MCP server without an SDK that breaks what its tools promise; as `mended`, it keeps all of it.

Every fault is planted by one call of `planted`, with its name.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

MENDED = sys.argv[1:] == ["mended"]
TOOLS = dict[str, tuple[dict[str, Any], Callable[..., Any]]]()


def planted(fault: str) -> bool:
    return not MENDED


class Failure(Exception):
    """What a tool refuses."""


def tool(description: str, *names: str, **hints: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a tool whose parameters are texts; `number:` names one that is an integer."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        properties = {
            name.removeprefix("number:"): {"type": "integer", "minimum": 0}
            if name.startswith("number:")
            else {"type": "string", "minLength": 1}
            for name in names
        }
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        told = {"name": function.__name__, "description": description, "inputSchema": schema}
        TOOLS[function.__name__] = told | ({"annotations": hints} if hints else {}), function
        return function

    return register


def keep(kind: str) -> dict[str, str]:
    """What is kept of a kind, by name."""
    return SHELVES.setdefault(kind, {})


SHELVES = dict[str, dict[str, str]]()


SPOILT = set[str]()


def find(kind: str, name: str) -> str:
    if kind == "album" and name in SPOILT:
        raise Failure("the album can't be read")
    if name not in keep(kind):
        raise Failure(f"there is no {kind} {name}")
    return keep(kind)[name]


# Effects: files, and what other tools read


@tool("Show the settings.", readOnlyHint=True)
def get_settings() -> str:
    if planted("read-only, by annotation"):
        Path("settings.bak").write_text("colour = blue\n")
    return "colour = blue"


@tool("Show how often a page was visited. Does not modify anything.", "page")
def show_visits(page: str) -> str:
    if planted("read-only, by words"):
        with open("visits.txt", "a") as file:
            file.write(f"{len(page)}\n")
    return "3 visits"


VIEWS = [0]


@tool("The number of views.", readOnlyHint=True)
def get_views() -> str:
    return f"{VIEWS[0]} views"


@tool("Look at the banner.", readOnlyHint=True)
def get_banner() -> str:
    if planted("read-only, in memory"):
        VIEWS[0] += 1
    return "Welcome"


@tool("Add a line to the journal.", "line", destructiveHint=False)
def add_entry(line: str) -> str:
    journal = Path("journal.txt")
    before = journal.read_text() if journal.exists() else "the first entry\n"
    journal.write_text(
        line if planted("destructive, by annotation") else f"{before}{line}\n", errors="replace"
    )
    return "added"


Path("report.txt").write_text("the yearly report of the garden club\n")
Path("draft.tmp").write_text("an unfinished letter\n")


@tool("Store a report. Never overwrites an existing one.", "text")
def archive_report(text: str) -> str:
    number = sum(each.startswith("report") for each in os.listdir())
    path = "report.txt" if planted("destructive, by words") else f"report{number}.txt"
    Path(path).write_text(text, errors="replace")
    return "archived"


@tool("Sort the folder.", destructiveHint=False)
def sort_folder() -> str:
    if planted("destructive, a file removed"):
        Path("draft.tmp").unlink(missing_ok=True)
    return "sorted"


@tool("Switch a flag on.", "flag", idempotentHint=True)
def enable_flag(flag: str) -> str:
    path = Path("flags.txt")
    flags = path.read_text().split("\n") if path.exists() else []
    name = json.dumps(flag)
    if planted("idempotent, by annotation") or name not in flags:
        path.write_text("\n".join([*flags, name]))
    return "on"


@tool("Register a user by name. It is safe to call again.", "user")
def register_user(user: str) -> str:
    path = Path("users.txt")
    users = path.read_text().split("\n") if path.exists() else []
    name = json.dumps(user)
    if planted("idempotent, by words") or name not in users:
        path.write_text("\n".join([*users, name]))
    return "registered"


FOLLOWERS = list[str]()


@tool("All followers.", readOnlyHint=True)
def get_followers() -> str:
    return json.dumps(FOLLOWERS)


@tool("Follow somebody.", "person", idempotentHint=True)
def follow(person: str) -> str:
    if planted("idempotent, in memory") or person not in FOLLOWERS:
        FOLLOWERS.append(person)
    return "followed"


@tool("Import numbers that are separated by commas. Atomic: if one is wrong, nothing is changed.", "numbers")
def import_numbers(numbers: str) -> str:
    read = list[str]()
    path = Path("numbers.txt")
    before = path.read_text() if path.exists() else ""
    for each in numbers.split(","):
        if planted("all or nothing"):
            path.write_text(before + "\n".join(read) + "\n")
        if not (each.strip().isascii() and each.strip().isdecimal()):
            raise Failure(f"not a number: {each!r}")
        read.append(each.strip())
    path.write_text(before + "\n".join(read) + "\n")
    return f"imported {len(read)}"


# What is written is read back

WAYS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "note": ("write", "read", lambda text: text.replace("\r\n", "\n")),
    "memo": ("save", "get", str.rstrip),
    "letter": ("store", "load", lambda text: text.encode("ascii", "replace").decode()),
    "poster": ("set", "get", escape),
    "label": ("put", "get", lambda text: f"{float(text)}" if text.replace(".", "").isdecimal() else text),
    "template": ("write", "read", os.path.expandvars),
}


def plant_way(kind: str, write: str, read: str, spoil: Callable[[str], str]) -> None:
    def written(name: str, content: str) -> str:
        keep(kind)[name] = spoil(content) if planted(f"read back, {kind}") else content
        return "written"

    def shown(name: str) -> str:
        return find(kind, name)

    written.__name__, shown.__name__ = f"{write}_{kind}", f"{read}_{kind}"
    tool(f"Keep a {kind}.", "name", "content")(written)
    tool(f"The complete text of a {kind}.", "name")(shown)


for kind, (write, read, spoil) in WAYS.items():
    plant_way(kind, write, read, spoil)


# What is deleted is gone, and nothing else


def plant_kind(kind: str) -> None:
    def create(name: str, content: str) -> str:
        keep(kind)[name] = content
        return "created"

    def get(name: str) -> str:
        return find(kind, name)

    create.__name__, get.__name__ = f"create_{kind}", f"get_{kind}"
    tool(f"Make a {kind}.", "name", "content")(create)
    tool(f"The text of a {kind}.", "name")(get)


for kind in ("card", "ticket", "price", "chapter", "tag", "album"):
    plant_kind(kind)


@tool("Delete a card.", "name")
def delete_card(name: str) -> str:
    find("card", name)
    if not planted("deleted"):
        del keep("card")[name]
    return "deleted"


@tool("Delete a ticket.", "name")
def delete_ticket(name: str) -> str:
    find("ticket", name)
    del keep("ticket")[name]
    if planted("nothing else, deleted"):
        keep("ticket").clear()
    return "deleted"


@tool("Note the cover of an album.", "name", "cover")
def edit_album(name: str, cover: str) -> str:
    find("album", name)
    if "\x0b" in cover and planted("still readable"):
        SPOILT.add(name)
    return "noted"


@tool("Change a price.", "name", "content")
def update_price(name: str, content: str) -> str:
    find("price", name)
    for each in keep("price") if planted("nothing else, updated") else [name]:
        keep("price")[each] = content
    return "changed"


# Lists and pages


@tool("List all chapters.")
def list_chapters() -> str:
    names = list(keep("chapter"))
    return json.dumps(names[:1] if planted("listed, one missing") else names)


@tool("List all tags.")
def list_tags() -> str:
    names = list(keep("tag"))
    return json.dumps(names + names[1:] if planted("listed, one twice") else names)


CITIES = ["Aachen", "Berlin", "Chemnitz", "Dresden", "Essen", "Frankfurt", "Giessen", "Hamburg"]


@tool("Cities, in pages of a certain size.", "number:offset", "number:limit")
def browse_cities(offset: int, limit: int) -> str:
    return json.dumps(CITIES[offset : offset + limit - (limit > 1 and planted("pages, one lost"))])


@tool("Rivers, in pages of a certain size.", "number:page", "number:page_size")
def browse_rivers(page: int, page_size: int) -> str:
    rivers = ["Aller", "Bode", "Chemnitz", "Donau", "Elbe", "Fulda", "Gera", "Havel"]
    begin = page * page_size - (page > 0 and planted("pages, one twice"))
    return json.dumps({"rivers": rivers[max(0, begin) : max(0, begin) + page_size]})


# Results and errors


@tool("The height of a mountain in metres.", "mountain")
def look_up_height(mountain: str) -> Any:
    if mountain != "Zugspitze":
        if planted("error flag"):
            return f"Error: there is no mountain {mountain}"
        raise Failure(f"there is no mountain {mountain}")
    return "2962"


@tool("The temperature now.")
def get_temperature() -> dict[str, Any]:
    return {"degrees": "warm" if planted("output schema") else 21.5}


TOOLS["get_temperature"][0]["outputSchema"] = {
    "type": "object",
    "properties": {"degrees": {"type": "number"}},
    "required": ["degrees"],
}


@tool("Choose a seat by its number.", "number:seat")
def choose_seat(seat: int) -> str:
    if planted("refused by type") and seat > 9:
        raise Failure(f"Input validation error: {seat} is not of type 'string'")
    return "chosen"


# Security: what only a trick gets at


def open_safely(path: str, fault: str) -> Path:
    """The path of a file in the working directory; a plain check that does not see through every way out."""
    here = Path.cwd()
    if planted(fault):
        is_inside = path.startswith(str(here)) or not path.startswith("/")
    else:
        is_inside = (here / path).resolve().is_relative_to(here) and "\0" not in path
    if not is_inside:
        raise Failure(f"access denied: {path} is outside of {here}")
    return here / path


@tool("The content of a document in the working directory.", "path")
def get_document(path: str) -> str:
    try:
        with open(open_safely(path, "path outside, read"), newline="") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise Failure(f"there is no document {path}") from error


@tool("Change a document in the working directory.", "path", "text")
def edit_document(path: str, text: str) -> str:
    try:
        with open(open_safely(path, "path outside, written"), "w", newline="") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise Failure(f"there is no document {path}") from error
    return "changed"


@tool("The size of a word when printed.", "word")
def measure_word(word: str) -> str:
    if planted("injection, shell") and "\0" not in word:
        done = subprocess.run(
            f"printf %s {word}", shell=True, capture_output=True, text=True, errors="replace"
        )
        return f"{done.stdout} is so long"
    return f"{word} is so long"


@tool("Find a fruit by its name.", "name")
def find_fruit(name: str) -> str:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE fruit (name TEXT)")
    database.execute("INSERT INTO fruit VALUES ('apple')")
    try:
        if planted("injection, SQL"):
            rows = database.execute(f"SELECT name FROM fruit WHERE name = '{name}'").fetchall()
        else:
            rows = database.execute("SELECT name FROM fruit WHERE name = ?", [name]).fetchall()
    except (sqlite3.Error, UnicodeError) as error:
        raise Failure(f"the name can't be looked up: {error}") from error
    return json.dumps([row[0] for row in rows])


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    told, function = TOOLS[name]
    for each, schema in told["inputSchema"]["properties"].items():
        kind = int if schema["type"] == "integer" else str
        value = arguments.get(each)
        if type(value) is not kind or (kind is int and value < 0) or value == "":
            return {"content": [{"type": "text", "text": f"{each} is missing or wrong"}], "isError": True}
    try:
        result = function(**{each: arguments[each] for each in told["inputSchema"]["properties"]})
    except Failure as failure:
        return {"content": [{"type": "text", "text": str(failure)}], "isError": True}
    if isinstance(result, dict):
        return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}
    return {"content": [{"type": "text", "text": result}]}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            about = {"name": "contracts", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": [told for told, _ in TOOLS.values()]}
        case "tools/call":
            return called(request["params"]["name"], request["params"].get("arguments") or {})
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}), flush=True)
