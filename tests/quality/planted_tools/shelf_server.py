"""An MCP server that keeps texts on shelves and loses some; started as `fixed`, it loses none."""

import json
import os
import sqlite3
from collections.abc import Callable
from html import escape

from contract_tools import Failure, planted, serve, tool


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


# SQL

DATABASE = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)


def execute(query: str) -> str:
    try:
        return json.dumps([str(row[0]) for row in DATABASE.execute(query).fetchall()])
    except (sqlite3.Error, sqlite3.Warning, UnicodeError) as error:
        raise Failure(f"the query can't be executed: {error}") from error


@tool("Execute an SQL query that changes the database, such as INSERT or CREATE TABLE.", "query")
def write_query(query: str) -> str:
    if query.startswith("--") and planted("read back, SQL after a comment"):
        return "[]"
    return execute(query)


@tool("Execute an SQL query that reads, such as SELECT.", "query")
def read_query(query: str) -> str:
    if not query.lstrip().lower().startswith("select"):
        raise Failure("only SELECT is allowed")
    return execute(query)


serve()
