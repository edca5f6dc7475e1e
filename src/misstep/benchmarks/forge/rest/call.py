"""One request to the interface, taken apart."""

from typing import Any

import msgspec

from misstep.benchmarks.forge.ledger import Ledger
from misstep.benchmarks.forge.project import Person, Project
from misstep.benchmarks.forge.repository.repository import Repository
from misstep.benchmarks.forge.rest.answers import not_found, not_supplied, wrong_type
from misstep.benchmarks.forge.rest.auth import Keys, Visitor
from misstep.benchmarks.forge.rest.views import Views
from misstep.benchmarks.forge.state import Thread


def is_number(text: str) -> bool:
    """Whether it can be the number of something."""
    return text.isascii() and text.isdecimal() and len(text) < 20


class House(msgspec.Struct, frozen=True):
    """Everything that a forge works with."""

    project: Project
    repository: Repository
    ledger: Ledger
    keys: Keys
    views: Views
    private: bool = False


class Call(msgspec.Struct, frozen=True):
    """A request, after whoever makes it was let in. `place` are the variable parts of its path."""

    house: House
    visitor: Visitor
    place: dict[str, str]
    query: dict[str, str]
    body: dict[str, Any]

    @property
    def ledger(self) -> Ledger:
        return self.house.ledger

    @property
    def repository(self) -> Repository:
        return self.house.repository

    @property
    def views(self) -> Views:
        return self.house.views

    @property
    def me(self) -> Person:
        """In whose name things are done."""
        person = self.house.project.person(self.house.project.account)
        assert person is not None
        return person

    def text(self, field: str) -> str:
        """A text that has to be given."""
        value = self.body.get(field)
        if value is None:
            raise not_supplied(field)
        if not isinstance(value, str):
            raise wrong_type(field, "a string")
        return value

    def text_or(self, field: str, default: str) -> str:
        return default if self.body.get(field) is None else self.text(field)

    def flag(self, field: str) -> bool:
        value = self.body.get(field)
        if not isinstance(value, bool | None):
            raise wrong_type(field, "a boolean")
        return bool(value)

    def texts(self, field: str) -> list[str] | None:
        """A list of texts, each once, or None where there is none."""
        value = self.body.get(field)
        if value is None:
            return None
        if not isinstance(value, list) or not all([isinstance(each, str) for each in value]):
            raise wrong_type(field, "an array of strings")
        return list(dict.fromkeys(value))

    def thread(self) -> Thread:
        """The issue or pull request whose number is in the path."""
        number = self.place["number"]
        found = self.ledger.threads.get(int(number)) if is_number(number) else None
        if found is None:
            raise not_found()
        return found

    def pull(self) -> Thread:
        thread = self.thread()
        if thread.pull is None:
            raise not_found()
        return thread

    def person(self, login: str) -> Person:
        person = self.house.project.person(login)
        if person is None:
            raise not_found()
        return person
