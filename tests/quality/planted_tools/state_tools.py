"""Tools that remember."""

from itertools import count

_numbers = count(1)
_tickets: dict[str, str] = {}
_known: set[str] = set()
_users: dict[str, dict[str, int]] = {}
_queue = iter(["wash", "dry", "fold"])
_edits: list[str] = []


def open_ticket(title: str) -> str:
    """Open a ticket and get its id."""
    ticket = f"T{next(_numbers)}"
    _tickets[ticket] = title
    _known.add(ticket)
    return ticket


def read_ticket(ticket_id: str) -> str:
    """Read the title of a ticket.

    Args:
        ticket_id: What open_ticket gave, e.g. T1.
    """
    if ticket_id not in _known:
        return f"Error: there is no ticket {ticket_id!r}"
    return _tickets[ticket_id]


def close_ticket(ticket_id: str) -> str:
    """Close a ticket."""
    if ticket_id not in _tickets:
        return f"Error: there is no open ticket {ticket_id!r}"
    del _tickets[ticket_id]
    return "closed"


def sign_in(user: str) -> str:
    """Sign somebody in and say how often they have been here."""
    if user in _users:
        _users[user]["visits"] += 1
        return f"welcome back, {user}"
    _users[user] = {"count": 1}
    return f"welcome, {user}"


def next_task() -> str:
    """The next task to do."""
    return next(_queue)


def write_line(line: str) -> str:
    """Write a line."""
    _edits.append(line)
    return f"{len(_edits)} lines"


def undo() -> str:
    """Take back the last line that was written."""
    return f"took back {_edits.pop()!r}"


tools = [open_ticket, read_ticket, close_ticket, sign_in, next_task, write_line, undo]
