"""An MCP server that breaks what its tools promise; started as `fixed`, it keeps them."""

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from contract_tools import TOOLS, Failure, planted, serve, tool

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


DIARY = Path.home() / ".diary" / "entries.txt"


@tool("Show the diary.", readOnlyHint=True)
def get_diary() -> str:
    if not DIARY.exists():  # no promise is broken by a file that is made when it is needed
        DIARY.parent.mkdir(parents=True, exist_ok=True)
        DIARY.write_text("a rainy day\n")
    elif planted("read-only, at home"):
        DIARY.write_text(f"{DIARY.read_text()}read again\n")
    return "a rainy day"


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


# Pages


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


@tool("Set the alarm clock.", "time")
def set_alarm(time: str) -> str:
    if len(time) > 60:
        raise Failure("the alarm was not set successfully: no such time")
    if planted("error flag, of a success"):
        raise Failure("The alarm was set successfully.")
    return "The alarm was set successfully."


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


serve()
