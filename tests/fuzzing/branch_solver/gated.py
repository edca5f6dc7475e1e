"""Small tools with a gate, and something planted behind it that gives way."""

import ast
import base64
import csv
import enum
import io
import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlparse

from tests.fuzzing.branch_solver.climbing import Refused


def prefixed(query: str) -> str:
    if not query.startswith("query:"):
        raise Refused("no query")
    words = query[len("query:") :].split()
    return words[0]


def setting(line: str) -> str:
    if "=" not in line:
        raise Refused("no setting")
    name, value = line.split("=")
    return name + value


def deep(document: str) -> int:
    try:
        data = json.loads(document)
    except ValueError:
        raise Refused("no JSON") from None
    if not isinstance(data, dict) or "user" not in data:
        raise Refused("no user")
    user = data["user"]
    if not isinstance(user, dict):
        raise Refused("no user either")
    if user.get("role") == "admin":
        return len(user["rights"])
    return 0


def anniversary(day: str) -> str:
    try:
        date = datetime.strptime(day, "%d.%m.%Y")
    except ValueError:
        raise Refused("no date") from None
    return date.replace(year=date.year + 1).isoformat()


ORDER = re.compile(r"ORD-(\d{4})-([A-Z]{2})(?:/(\w+))?")


def order(number: str) -> str:
    found = ORDER.fullmatch(number)
    if not found:
        raise Refused("no order")
    return found.group(3).upper()


def row(table: str) -> float:
    rows = list(csv.reader(io.StringIO(table)))
    if len(rows) < 2:
        raise Refused("too short")
    return sum(len(cells[1]) for cells in rows)


PRICES = {"small": 3, "large": 0}


def price(size: str, money: int) -> float:
    if size not in PRICES:
        raise Refused("no such size")
    return money / PRICES[size]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


def paint(colour: str) -> str:
    try:
        chosen = Colour(colour)
    except ValueError:
        raise Refused("no such colour") from None
    return {"red": "#f00"}[chosen.value]


def page(url: str) -> str:
    parts = urlparse(url)
    if parts.scheme != "https":
        raise Refused("not safe")
    if parts.hostname != "example.com":
        raise Refused("elsewhere")
    return parse_qs(parts.query)["page"][0]


def between(first: int, last: int) -> float:
    if first > last:
        raise Refused("wrong way round")
    return 100 / (last - first)


def same(password: str, again: str) -> str:
    if password != again:
        raise Refused("not the same")
    if len(password) < 12:
        raise Refused("too short")
    return password[12]


def port(address: str) -> int:
    host, found, number = address.rpartition(":")
    if not found:
        raise Refused("no port")
    return 1 // len(host) + int(number)


def literal(value: str) -> int:
    try:
        things = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        raise Refused("not a value") from None
    return things["size"] + 1


def token(text: str) -> str:
    try:
        inner = json.loads(base64.b64decode(text).decode())
    except ValueError:
        raise Refused("no token") from None
    return inner["sub"].lower()


def modulo(number: int) -> float:
    if number % 97 == 13 and number > 5000:
        return 1 / 0
    return 0


def command(line: str) -> str:
    verb, *rest = line.strip().lower().split(" ")
    if verb == "delete":
        return rest[1]
    return verb


def branches(steps: list[Any]) -> str:
    if len(steps) != 3:
        raise Refused("three, please")
    if steps[0] == "start" and steps[2] == "stop":
        return steps[1]["name"]
    raise Refused("no")


def matched(shape: Any) -> float:
    match shape:
        case {"kind": "circle", "radius": radius}:
            return 1 / radius
        case ["square", side]:
            return side["length"]
    raise Refused("no shape")


def digits(code: str) -> int:
    if not code.isdigit():
        raise Refused("no digits")
    return int(code)


def listed(items: str) -> float:
    numbers = [float(item) for item in items.split(";")]
    if len(numbers) < 3:
        raise Refused("too few")
    return numbers[0] / (numbers[1] - numbers[1] + numbers[2] - numbers[2])


@dataclass
class Window:
    start: str
    limit: int


def window(window: dict[str, Any]) -> str:
    made = Window(**window)
    if made.start.startswith("id_") and made.limit >= 50:
        return made.start.split("_")[2]
    raise Refused("no")


def voucher(code: str) -> int:
    """The length, the beginning and the class of the rest hold together."""
    if not code.startswith("tok_") or len(code) != 16 or not code[4:].isdigit():
        raise Refused
    return 1000 // (int(code[4:]) % 7)


def ledger(table: str) -> float:
    """A column has to be there before its cells are read."""
    reader = csv.DictReader(io.StringIO(table))
    if "amount" not in (reader.fieldnames or []):
        raise Refused
    return sum(float(row["amount"]) for row in reader)
