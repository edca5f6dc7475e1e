"""What only a server can do: be unreachable, refuse a password, lose a connection, serve others as well."""

import re
import socket
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy import make_url

from misstep.core.spending import Spent
from misstep.errors import MissingExtra, StoreError, UsageError, install_command
from misstep.store.runs import Store
from tests.postgresql import Server, conninfo
from tests.store.samples import new_run, outcome


def execute(location: str, statement: str) -> None:
    with psycopg.connect(conninfo(location), autocommit=True) as connection:
        connection.execute(statement.encode())


def cut_off(location: str) -> None:
    """End every session of misstep in this database."""
    execute(
        location,
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'misstep'",
    )


def with_parts(location: str, **parts: object) -> str:
    return make_url(location).set(**parts).render_as_string(hide_password=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_addresses_are_written_in_several_ways(postgresql_location: str, scheme: str) -> None:
    location = postgresql_location.replace("postgresql", scheme, 1)
    with Store(location, create=True) as store:
        assert store.find_run(new_run(store)).done == 0
        assert store.location.startswith(f"{scheme}://{make_url(location).username}@")


def test_the_store_lives_beside_tables_of_others(postgresql_location: str) -> None:
    execute(postgresql_location, "CREATE TABLE public.runs (cats text)")
    with Store(postgresql_location, create=True) as store:
        assert [store.find_run(new_run(store)).done, len(store.list_runs())] == [0, 1]
    with psycopg.connect(conninfo(postgresql_location)) as connection:
        tables = connection.execute("SELECT schemaname, tablename FROM pg_tables WHERE tablename = 'runs'")
        assert sorted(tables.fetchall()) == [("misstep", "runs"), ("public", "runs")]
        assert connection.execute("SELECT * FROM public.runs").fetchall() == []


def test_a_schema_of_somebody_else_is_left_alone(postgresql_location: str) -> None:
    execute(postgresql_location, "CREATE SCHEMA misstep; CREATE TABLE misstep.cats (name text)")
    for create in (False, True):
        with pytest.raises(StoreError, match="schema 'misstep' belongs to some other program"):
            Store(postgresql_location, create=create)


def test_an_empty_schema_of_ours_is_filled(postgresql_location: str) -> None:
    execute(postgresql_location, "CREATE SCHEMA misstep")
    with pytest.raises(StoreError, match="no store here yet"):
        Store(postgresql_location)
    with Store(postgresql_location, create=True) as store:
        assert store.list_runs() == []


def test_an_encoding_that_cannot_hold_every_name_is_refused(postgresql_server: Server) -> None:
    postgresql_server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    location = postgresql_server.url.set(database="latin").render_as_string(hide_password=False)
    try:
        with pytest.raises(StoreError, match="a database in LATIN1; expected UTF8"):
            Store(location, create=True)
    finally:
        postgresql_server.execute("DROP DATABASE latin WITH (FORCE)")


def test_whatever_goes_wrong_is_told_without_the_password(postgresql_location: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = free.getsockname()[1]
    wrong = {
        "password authentication failed": {"password": "hunter2"},
        'database "nowhere" does not exist': {
            "database": "nowhere",
            "password": make_url(postgresql_location).password,
        },
        "Connection refused": {"port": nowhere, "password": "hunter2"},
        'role "nobody"|user "nobody"': {"username": "nobody", "password": "hunter2"},
    }
    for complaint, parts in wrong.items():
        with pytest.raises(StoreError, match=complaint) as caught:
            Store(with_parts(postgresql_location, **parts), create=True)
        text = "".join(traceback.format_exception(caught.value))
        assert parts["password"] not in text
        assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "location",
    ["postgresql://u:hunter2@x@h/d", "postgresql://u:x@hunter2:hunter2/d", "postgresql://u:hunter2@h:port/d"],
)
def test_an_address_that_cannot_be_read_is_not_repeated(location: str) -> None:
    with pytest.raises(UsageError, match="the address of the store can't be read") as caught:
        Store(location)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
    assert str(caught.value).startswith("postgresql://…  ")


def test_nothing_shows_the_password(postgresql_location: str) -> None:
    with Store(postgresql_location, create=True) as store:
        database = store._database
        shown = [store.location, repr(vars(store)), repr(vars(database)), repr(database._idle)]
    password = make_url(postgresql_location).password or ""
    for text in shown:
        assert password not in text
        assert quote(password, safe="") not in text


def test_a_user_who_may_not_make_tables_is_told(postgresql_server: Server, postgresql_location: str) -> None:
    postgresql_server.execute("CREATE ROLE guest LOGIN PASSWORD 'guest'")
    guest = with_parts(postgresql_location, username="guest", password="guest")
    try:
        with pytest.raises(StoreError, match="permission denied"):
            Store(guest, create=True)
    finally:
        postgresql_server.execute("DROP ROLE guest")


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    told = f"psycopg is not installed\n  install it with {install_command('postgresql')}"
    with pytest.raises(MissingExtra, match=re.escape(told)):
        Store("postgresql://h/d")


def test_a_lost_connection_costs_nothing(postgresql_location: str) -> None:
    with Store(postgresql_location, create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0) as writer:
            for number in range(5):
                cut_off(postgresql_location)
                assert not store.is_held(run)
                assert writer.keep([outcome(number)], Spent(calls=number)) == [True]
                assert store.is_held(run)
            cut_off(postgresql_location)
        assert list(store.outcomes(run)) == [outcome(number) for number in range(5)]
        assert store.spent(run).calls == 4
        assert not store.died(run)


def test_who_lost_the_connection_and_then_the_run_writes_nothing(postgresql_location: str) -> None:
    with Store(postgresql_location, create=True) as store, Store(postgresql_location) as second:
        run = new_run(store)

        def lose() -> None:
            with store.sit(run, 0.0) as writer:
                cut_off(postgresql_location)
                with second.sit(run, 0.0):
                    writer.keep([outcome(1)], Spent())

        with pytest.raises(UsageError, match="is in progress in another process"):
            lose()
        assert store.tally(run).cases == 0


class Wire:
    """Stands between misstep and the server; cut, it swallows the answer to the next commit and hangs up."""

    def __init__(self, location: str) -> None:
        url = make_url(location)
        self._server = (url.host or "", url.port or 0)
        self._port = 0
        self.cut = threading.Event()
        self.open()
        self.location = with_parts(location, port=self._port)

    def open(self) -> None:
        """Listen, again where it did before."""
        self._listener = socket.create_server(("127.0.0.1", self._port))
        self._port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()
                threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError), closing(server), closing(client):
            while data := client.recv(65536):
                if b"COMMIT" in data and self.cut.is_set():
                    self.cut.clear()
                    client.shutdown(socket.SHUT_RDWR)  # the answer finds nobody
                    server.sendall(data)
                    server.sendall(b"X\0\0\0\4")  # wait until the server has said goodbye
                    server.settimeout(5)
                    while server.recv(65536):
                        pass
                    return
                server.sendall(data)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire_to(location: str) -> Iterator[Wire]:
    wire = Wire(location)
    try:
        yield wire
    finally:
        with suppress(OSError):
            wire.close()


def test_a_commit_whose_answer_is_lost_counts_once(postgresql_location: str) -> None:
    with wire_to(postgresql_location) as wire, Store(wire.location, create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0) as writer:
            assert writer.keep([outcome(0)], Spent()) == [True]
            wire.cut.set()
            assert writer.keep([outcome(0), outcome(1), outcome(2), outcome(1)], Spent()) == [
                False,
                True,
                True,
                False,
            ]
            assert not wire.cut.is_set()
        assert list(store.outcomes(run)) == [outcome(0), outcome(1), outcome(2)]


@pytest.mark.full
def test_a_server_that_restarts_costs_nothing(postgresql_location: str) -> None:
    with wire_to(postgresql_location) as wire, Store(wire.location, create=True) as store:
        run = new_run(store)
        with store.sit(run, 0.0) as writer:
            assert writer.keep([outcome(0)], Spent()) == [True]
            wire.close()
            cut_off(postgresql_location)
            threading.Timer(1.0, wire.open).start()
            assert writer.keep([outcome(0), outcome(1)], Spent()) == [False, True]
        assert list(store.outcomes(run)) == [outcome(0), outcome(1)]
        assert not store.died(run)


@pytest.mark.full
def test_a_server_that_is_gone_for_good_is_told(postgresql_location: str) -> None:
    with wire_to(postgresql_location) as wire, Store(wire.location, create=True) as store:
        run = new_run(store)

        def lose() -> None:
            with store.sit(run, 0.0) as writer:
                writer.keep([outcome(0)], Spent())
                wire.close()
                cut_off(postgresql_location)
                writer.keep([outcome(1)], Spent())

        with pytest.raises(StoreError, match="the store can't be used") as caught:
            lose()
        assert "Connection refused" in str(caught.value)
    with Store(postgresql_location) as store:
        assert list(store.outcomes(run)) == [outcome(0)]
        assert store.died(run)
