"""The repository that the tasks are about, as it is written down."""

from datetime import datetime
from functools import cache
from importlib.resources import files

import msgspec

from misstep.benchmarks.forge.state import Label, Thread


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    login: str
    name: str
    email: str


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """A commit to be; `start` is the branch that a new branch begins at."""

    branch: str
    author: str
    message: str
    files: dict[str, str]
    start: str = ""


class Project(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    threads: tuple[Thread, ...]

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def person(self, login: str) -> Person | None:
        return next((each for each in self.people if each.login.lower() == login.lower()), None)


def read_data(name: str) -> bytes:
    return (files("misstep.benchmarks.forge") / "data" / name).read_bytes()


@cache
def our_project() -> Project:
    """The one that the tasks are about."""
    return msgspec.toml.decode(read_data("project.toml"), type=Project)
