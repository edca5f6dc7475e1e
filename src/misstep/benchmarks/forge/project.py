"""The repository that the tasks are about, as it is written down."""

from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec


class Person(msgspec.Struct, frozen=True):
    login: str
    name: str
    email: str


class Label(msgspec.Struct, frozen=True):
    name: str
    color: str = "ededed"
    description: str = ""


class Change(msgspec.Struct, frozen=True, rename={"start": "from"}):
    """A commit to be; `start` is the branch that a new branch begins at."""

    branch: str
    author: str
    message: str
    files: dict[str, str]
    start: str = ""


class Said(msgspec.Struct, frozen=True):
    author: str
    body: str


class Opened(msgspec.Struct, frozen=True):
    """An issue, or a pull request where there is a `head`."""

    number: int
    title: str
    body: str
    author: str
    state: Literal["open", "closed"] = "open"
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    comments: tuple[Said, ...] = ()
    head: str = ""
    base: str = ""
    reviewers: tuple[str, ...] = ()


class Project(msgspec.Struct, frozen=True):
    """Everything that a new forge holds. Tokens act in the name of `account`."""

    owner: str
    name: str
    description: str
    default: str
    account: str
    start: datetime
    people: tuple[Person, ...]
    labels: tuple[Label, ...]
    commits: tuple[Change, ...]
    issues: tuple[Opened, ...]
    pulls: tuple[Opened, ...]

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def person(self, login: str) -> Person | None:
        return next((each for each in self.people if each.login.lower() == login.lower()), None)

    @property
    def threads(self) -> list[Opened]:
        """Issues and pull requests, by number."""
        return sorted((*self.issues, *self.pulls), key=lambda each: each.number)


def read_data(name: str) -> bytes:
    return (files("misstep.benchmarks.forge") / "data" / name).read_bytes()


@cache
def our_project() -> Project:
    """The one that the tasks are about."""
    return msgspec.toml.decode(read_data("project.toml"), type=Project)
