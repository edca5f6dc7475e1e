"""Tools that catch exceptions: some pass them on, some say what is wrong, some merely talk about exceptions."""

import functools
from typing import Any

ORDERS = {"a1": {"total": 3}, "a2": {}}
LESSONS = {
    "KeyError": "KeyError: a key was looked up that is not there",
    "IndexError": "an IndexError is ...",
}


def total(order: str) -> str:
    """Total of an order."""
    try:
        return f"{ORDERS[order]['total']} EUR"
    except Exception as error:
        return f"Something went wrong: {error!r}"


def apologise(order: str) -> str:
    """Total of an order."""
    try:
        return f"{ORDERS[order]['total']} EUR"
    except Exception as error:
        return f"Sorry, I could not look that up ({type(error).__name__}: {error})"


def listed(order: str) -> list[dict[str, str]]:
    """Total of an order."""
    try:
        return [{"type": "text", "text": f"{ORDERS[order]['total']} EUR"}]
    except Exception as error:
        return [{"type": "error", "text": str(error)}]


def first_letters(name: str) -> str:
    """Initials of a name."""
    try:
        return name.split()[1][0]
    except IndexError as error:
        return f"that did not work, {error}, try it once more"


def _safe(function: Any) -> Any:
    @functools.wraps(function)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Exception as error:
            return {"ok": True, "note": f"problem: {error}"}

    return wrapped


@_safe
def ratio(a: int, b: int) -> float:
    """Ratio of two numbers."""
    return a / b


def only_the_name(order: str) -> str:
    """Total of an order."""
    try:
        return f"{ORDERS[order]['total']} EUR"
    except Exception as error:
        return f"Failed ({type(error).__name__})"


# These say in words of their own what is wrong, or have only been given what they say.


def says_what(order: str) -> str:
    """Total of an order."""
    try:
        return f"{ORDERS[order].get('total', 0)} EUR"
    except KeyError as error:
        return f"Unknown order: {error}"


def refuses(level: int) -> str:
    """Set the level."""
    try:
        if level > 5:
            raise ValueError(f"level {level} is too high")
        return "done"
    except ValueError as error:
        return f"Error: {error}"


def reads_number(text: str) -> str:
    """Double a number."""
    try:
        return str(2 * float(text))
    except ValueError as error:
        return f"Error: {error}"


def reads_folder(path: str) -> str:
    """Read a file."""
    try:
        with open("/") as file:
            return file.read()
    except OSError as error:
        return f"Error: {error}"


def teaches(name: str) -> str:
    """Explain an error of Python."""
    try:
        return LESSONS[name]
    except KeyError:
        return "I know only these: KeyError, IndexError"


def finds(words: str) -> str:
    """Search the handbook."""
    try:
        return LESSONS[words]
    except KeyError:
        return "3 pages: When a KeyError comes up; IndexError: list index out of range; Dictionaries"


def shows_log(day: str) -> str:
    """Show the log of a day."""
    try:
        return LESSONS[day]
    except KeyError:
        return "12:01 Error: list index out of range\n12:02 KeyError: 'total'"


def echoes(text: str) -> str:
    """Say it again."""
    try:
        return LESSONS[text]
    except KeyError:
        return f"you said: {text}"


def falls_back(key: str) -> str:
    """Look up a setting."""
    try:
        return LESSONS[key]
    except KeyError:
        return str({key: "default", "total": 0})


tools = [
    total,
    apologise,
    listed,
    first_letters,
    ratio,
    only_the_name,
    says_what,
    refuses,
    reads_number,
    reads_folder,
    teaches,
    finds,
    shows_log,
    echoes,
    falls_back,
]
