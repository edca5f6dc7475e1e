"""Tools of three groups in two files, and a model that calls what it should not."""

from collections.abc import Sequence
from pathlib import Path

from misstep.fuzzing.agent_tests.prompts import Stage
from tests.fuzzing.agent_tests.scripted_roles import Answer, always, fenced_in
from tests.scripted import Call, calling

DESK = '''
def read_file(path: str) -> str:
    """Read a file."""
    return f"what is in {path}"


def tell_time(zone: str) -> str:
    """Tell the time."""
    return f"it is noon in {zone}"


tools = [read_file, tell_time]
'''

WEB = '''
asked = []


def search_web(query: str) -> str:
    """Find anything you need."""
    asked.append(query)
    return f"{len(asked)} asked: {query}"


tools = [search_web]
'''

GROUPS = {
    "groups": [
        {"name": "files", "tools": ["read_file"]},
        {"name": "clock", "tools": ["tell_time"]},
        {"name": "web", "tools": ["search_web"]},
    ]
}
REQUESTS = {
    "read_file": ["what does notes.txt say?", "show me todo.txt"],
    "tell_time": ["how late is it in Rome?", "is it noon in Oslo?"],
    "search_web": ["find me a recipe", "who won?"],
}
NOISY = "how late is it in Rome?"


def write_tools(folder: Path) -> list[str]:
    (folder / "desk.py").write_text(DESK)
    (folder / "web.py").write_text(WEB)
    return [f"{folder / 'desk.py'}:tools", f"{folder / 'web.py'}:tools"]


def requests_for(prompt: str) -> object:
    (told,) = fenced_in(prompt)
    return {"requests": next(said for tool, said in REQUESTS.items() if f"Name: {tool}" in told)}


GOOD: dict[Stage, Answer] = {"groups": always(GROUPS), "crosstalk": requests_for}


def eager(request: str, tools: list[str]) -> Sequence[Call]:
    """Looks everywhere for one request, and is content to have no tool for the others."""
    wanted = [calling("search_web", query="Rome"), calling("read_file", path="Rome.txt")]
    return [call for call in wanted if call.name in tools] if NOISY in request else []
