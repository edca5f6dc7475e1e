"""A server whose tools need what others have returned: a session with a random id, and numbered rows in it."""

import random
import uuid

from contract_tools import Failure, serve, tool

SESSIONS = dict[str, dict[int, str]]()
NUMBERS = iter(range(random.randrange(1_000, 9_000), 10_000))


def session(name: str) -> dict[int, str]:
    if name not in SESSIONS:
        raise Failure("this session does not exist")
    return SESSIONS[name]


@tool("Open a session.", "title")
def open_session(title: str) -> dict[str, object]:
    SESSIONS[name := str(uuid.uuid4())] = {}
    return {"opened": True, "session_id": name}


@tool("Add a row to a session.", "session_id", "text")
def add_row(session_id: str, text: str) -> dict[str, object]:
    session(session_id)[number := next(NUMBERS)] = text
    return {"row": {"id": number, "text": text}, "session_id": session_id}


@tool("Show a row.", "session_id", "number:row_id")
def show_row(session_id: str, row_id: int) -> str:
    if row_id not in session(session_id):
        raise Failure("this row does not exist")
    return session(session_id)[row_id]


@tool("Count the words of a session.", "session_id", "word")
def count_word(session_id: str, word: str) -> str:
    session(session_id)
    if len(word) > 6:
        raise Failure("IndexError: list index out of range")
    return "0 words"


@tool("Close a session.", "session_id")
def close_session(session_id: str) -> str:
    session(session_id).clear()
    del SESSIONS[session_id]
    return "closed"


if __name__ == "__main__":
    serve()
