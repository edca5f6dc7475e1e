"""Tools of a hotel, of which nothing but the order of calls tells how things stand."""

_events: dict[int, list[str]] = {}


def _note(room: int, event: str) -> str:
    _events.setdefault(room, []).append(event)
    return "noted"


def check_in(room: int, guest: str) -> str:
    """Let a guest into a room."""
    return _note(room, "in")


def order_meal(room: int) -> str:
    """Bring a meal to a room."""
    return _note(room, "meal")


def clean(room: int) -> str:
    """Have a room cleaned."""
    return _note(room, "clean")


def check_out(room: int) -> str:
    """Let the guests of a room go."""
    return _note(room, "out")


def bill(room: int) -> str:
    """What the guests of a room have to pay."""
    latest = _events.get(room, [])[-3:]
    if latest == ["in", "meal", "out"]:
        return f"{latest[3]} for a stay"
    return "nothing"


tools = [bill, check_out, clean, check_in, order_meal]
