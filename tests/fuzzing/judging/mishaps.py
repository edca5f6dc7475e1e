"""What tools in Python come to, each with the ruling that somebody who knows the code would give.

The functions below are the tools' own code: they are really called, and what they really raise is judged.
"""

import asyncio
import base64
import datetime
import decimal
import importlib
import ipaddress
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tomllib
import urllib.parse
import urllib.request
import uuid
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TypeAlias
from xml.etree import ElementTree

import httpx
import pydantic
import requests

Mishap: TypeAlias = tuple[str, Callable[[Any], Any], Any]


class Order(pydantic.BaseModel):
    amount: int

    @pydantic.field_validator("amount")
    @classmethod
    def _check(cls, amount: int) -> int:
        if amount == 13:
            raise ValueError("thirteen brings bad luck")
        return amount


class OutOfStock(Exception):
    pass


def refuse(words: str, kind: type[Exception] = ValueError) -> NoReturn:
    raise kind(words)


def guess(value: Any) -> Any:
    """Handles what it expects, and says so in words of its own."""
    try:
        return int(value)
    except ValueError as error:
        raise ValueError(f"{value} is no number, give something like 12") from error


def blanket(value: Any) -> Any:
    try:
        return [][int(value)]
    except Exception as error:
        raise RuntimeError(f"tool failed: {error}") from error


def bare_raise(kind: type[Exception]) -> NoReturn:
    raise kind


def missing_key(name: str) -> NoReturn:
    raise KeyError(name)


def assert_positive(number: int) -> None:
    assert number > 0, "the number must be positive"


def unbound(flag: bool) -> Any:
    if flag:
        found = 1
    return found


def recurse(value: Any) -> Any:
    return recurse([value])


def hog(size: int) -> Any:
    return bytearray(size)


def wait_in_vain(_: Any) -> None:
    async def wait() -> None:
        await asyncio.wait_for(asyncio.sleep(9), 0.001)

    asyncio.run(wait())


def run(command: str) -> None:
    subprocess.run(command, shell=True, check=True, stderr=subprocess.DEVNULL)


def start(program: str) -> None:
    subprocess.run([program], check=True)


def read(path: str) -> str:
    return Path(path).read_text()


def open_fixed(_: Any) -> Any:
    return Path("/no/such/settings.ini").read_text()


def in_group(value: Any) -> NoReturn:
    try:
        value["x"]
    except KeyError as error:
        raise ExceptionGroup("two tasks failed", [error, ValueError("the other one")]) from None


MISHAPS: list[Mishap] = [
    # Mere slips.
    ("crash", lambda v: [1][v], 7),
    ("crash", lambda v: {"a": 1}[v], "b"),
    ("crash", lambda v: v.strip(), None),
    ("crash", lambda v: v[0], None),
    ("crash", lambda v: v + 1, "a"),
    ("crash", lambda v: len(v), 3),
    ("crash", lambda v: v > 1, "a"),
    ("crash", lambda v: {v: 1}, []),
    ("crash", lambda v: 1 / v, 0),
    ("crash", lambda v: 1 % v, 0),
    ("crash", lambda v: max(v), []),
    ("crash", lambda v: v.pop(), []),
    ("crash", lambda v: next(iter(v)), []),
    ("crash", lambda v: f"{v:d}", "x"),
    ("crash", lambda v: v.format(), "{"),
    ("crash", lambda v: "".join(v), [1]),
    ("crash", lambda v: [1].index(v), 2),
    ("crash", lambda v: "a".index(v), "b"),
    ("crash", lambda v: v[::0], [1]),
    ("crash", lambda v: sorted(v), [1, "a"]),
    ("crash", lambda v: dict(v), [1]),
    ("crash", lambda v: chr(v), -1),
    ("crash", unbound, False),
    ("crash", recurse, 1),
    ("crash", assert_positive, -1),
    ("crash", blanket, "5"),
    ("crash", in_group, {}),
    ("crash", wait_in_vain, 1),
    # Libraries that were left to complain.
    ("crash", lambda v: int(v), "x"),
    ("crash", lambda v: int(v), "9" * 5000),
    ("crash", lambda v: float(v), "x"),
    ("crash", lambda v: math.sqrt(v), -1),
    ("crash", lambda v: 10.0**v, 400),
    ("crash", lambda v: decimal.Decimal(v), "x"),
    ("crash", lambda v: json.loads(v), "{"),
    ("crash", lambda v: json.dumps({v}), "x"),
    ("crash", lambda v: re.compile(v), "["),
    ("crash", lambda v: uuid.UUID(v), "x"),
    ("crash", lambda v: base64.b64decode(v), "a"),
    ("crash", lambda v: bytes.fromhex(v), "x"),
    ("crash", lambda v: ipaddress.ip_address(v), "x"),
    ("crash", lambda v: ElementTree.fromstring(v), "<"),
    ("crash", lambda v: tomllib.loads(v), "="),
    ("crash", lambda v: eval(v), "a+"),
    ("crash", lambda v: datetime.date.fromisoformat(v), "x"),
    ("crash", lambda v: datetime.datetime.strptime(v, "%Y"), "x"),
    ("crash", lambda v: datetime.date(2020, v, 1), 13),
    ("crash", lambda v: datetime.datetime.fromtimestamp(v), 1e20),
    ("crash", lambda v: zoneinfo.ZoneInfo(v), "Mars"),
    ("crash", lambda v: zoneinfo.ZoneInfo(v), "../x"),
    ("crash", lambda v: v.encode(), "\ud800"),
    ("crash", lambda v: v.encode("latin-1").decode(), "ÿ"),
    ("crash", lambda v: urllib.parse.urlsplit(v), "http://["),
    ("crash", lambda v: sqlite3.connect(":memory:").execute(v), "select * from t"),
    ("crash", lambda v: importlib.import_module(v), "no_such_module_given"),
    ("crash", lambda v: os.environ[v], "NO_SUCH_VARIABLE_GIVEN"),
    ("crash", run, "exit 3"),
    # Files.
    ("crash", read, "no/such/file.txt"),
    ("crash", lambda v: read("/no/" + v), "such.txt"),
    ("crash", lambda v: shutil.copy(v, "x"), "/no/such"),
    ("crash", read, "/"),
    ("crash", read, "a\0b"),
    ("refused", read, "a" * 300),
    ("crash", read, "\ud800"),
    ("crash", read, "/proc/version/x"),
    ("crash", lambda v: os.mkdir(v), "/proc"),
    ("crash", lambda v: os.readlink(v), "/"),
    # Addresses that are none.
    ("crash", lambda v: requests.get(v), "x"),
    ("crash", lambda v: requests.get(v), "http://"),
    ("crash", lambda v: requests.get(v), "ftp://x"),
    ("crash", lambda v: requests.get("http://127.0.0.1:9", headers={"a": v}), "b\n"),
    ("crash", lambda v: httpx.get(v), "x"),
    ("crash", lambda v: urllib.request.urlopen(v), "x"),
    ("crash", lambda v: urllib.request.urlopen(v), "foo://a"),
    ("crash", lambda v: urllib.request.urlopen(v), "http:///"),
    ("crash", lambda v: urllib.request.urlopen(v), "http://a b"),
    ("crash", lambda v: urllib.request.urlopen(v), "file:///nope"),
    # Whatever would end the agent with the tool.
    ("crash", lambda v: sys.exit(v), 3),
    ("crash", lambda _: refuse("good bye", SystemExit), 1),  # type: ignore[arg-type]
    # Raised on purpose, but nobody learns why.
    ("crash", bare_raise, ValueError),
    ("crash", bare_raise, NotImplementedError),
    ("crash", missing_key, "colour"),
    # Memory.
    ("blow-up", hog, 1 << 60),
    # Refusals.
    ("refused", lambda _: refuse("the limit must be positive"), 1),
    ("refused", lambda _: refuse("bad pattern: maximum recursion depth exceeded"), 1),
    ("crash", lambda _: refuse("tool failed: maximum recursion depth exceeded"), 1),
    ("crash", lambda _: refuse("the books do not balance", AssertionError), 1),
    ("refused", lambda _: refuse("no city of that name", KeyError), 1),
    ("refused", lambda _: refuse("there is no file of that name in the workspace", FileNotFoundError), 1),
    ("refused", lambda _: refuse("paths outside of the workspace are not allowed", PermissionError), 1),
    ("refused", lambda _: refuse("none left", OutOfStock), 1),
    ("refused", lambda _: refuse("only CSV files can be read so far", NotImplementedError), 1),
    ("refused", lambda _: refuse("the query took longer than 5 seconds", TimeoutError), 1),
    ("refused", bare_raise, OutOfStock),
    ("refused", guess, "twelve"),
    # The environment.
    ("environment", lambda _: importlib.import_module("no_such_module_at_all"), 1),
    ("environment", lambda _: os.environ["MISSTEP_NO_SUCH_KEY"], 1),
    ("environment", lambda _: start("no-such-program"), 1),
    ("environment", open_fixed, "x"),
    ("environment", lambda _: run("no-such-program-either"), 1),
    ("environment", lambda v: requests.get(v), "http://127.0.0.1:9"),
    ("environment", lambda v: httpx.get(v), "http://127.0.0.1:9"),
    ("environment", lambda v: urllib.request.urlopen(v), "http://127.0.0.1:9"),
    ("environment", lambda _: refuse("OPENWEATHER_API_KEY is not set: api key missing", OutOfStock), 1),
    (
        "environment",
        lambda _: refuse("could not connect to the database: Connection refused", RuntimeError),
        1,
    ),
]
