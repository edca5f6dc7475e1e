"""Stores to work with, in every kind of database."""

from collections.abc import Iterator

import pytest

from misstep.store.runs import Store


@pytest.fixture
def store(store_location: str) -> Iterator[Store]:
    with Store(store_location, create=True) as store:
        yield store
