"""Whom the tests are about, and what is left of a test when it is over."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import tests.conformance as here
from tests.conformance.subject_subprocess import House
from tests.conformance.subjects import Subject


def all_subjects() -> list[Subject]:
    names = [name for _, name, _ in pkgutil.iter_modules(here.__path__) if name.startswith("subject_")]
    return [each for name in names for each in importlib.import_module(f"{here.__name__}.{name}").SUBJECTS]


@pytest.fixture(scope="session", params=all_subjects(), ids=lambda subject: subject.word)
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """One after the other with all its tests: what is loaded for a subject, and what lives on, serves them all."""
    found: Subject = request.param
    if found.missing:
        pytest.skip(f"{found.word}: {found.missing} is not installed")
    yield found
    for house in House.houses:
        house.close()
