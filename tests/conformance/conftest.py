"""Whom the tests are about, and what is left of a test when it is over."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import tests.conformance as here
from tests.conformance.subject_subprocess import House
from tests.conformance.subjects import Subject


def all_subjects() -> list[Any]:
    """All subjects, of which the first of each file is in the fast tier unless it is slow."""
    names = [name for _, name, _ in pkgutil.iter_modules(here.__path__) if name.startswith("subject_")]
    groups = [importlib.import_module(f"{here.__name__}.{name}").SUBJECTS for name in names]
    return [
        pytest.param(each, marks=pytest.mark.full) if number or each.slow else each
        for group in groups
        for number, each in enumerate(group)
    ]


@pytest.fixture(scope="session", params=all_subjects(), ids=lambda subject: subject.word)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """One after the other with all its tests: what is loaded for a subject, and what lives on, serves them all."""
    found: Subject = request.param
    if found.missing:
        pytest.skip(f"{found.word}: {found.missing} is not installed")
    yield found
    for house in House.houses:
        house.close()
