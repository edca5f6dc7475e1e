"""A PostgreSQL server of our own, on loopback and in a temporary folder."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
from sqlalchemy import URL, Engine, create_engine, make_url

USER, PASSWORD = "tester", "pa:ss/w@rd?"
GIVEN = "MISSTEP_TEST_POSTGRESQL"  # the address of a server to use instead of one of our own

_SETTINGS = {
    "fsync": "off",  # the machine isn't going to lose its power here
    "max_connections": "60",
    "shared_buffers": "32MB",
    "listen_addresses": "127.0.0.1",
}
_numbers = count(1)


class Server:
    """A running server; every test gets a database of its own."""

    def __init__(self, url: URL) -> None:
        self.url = url

    @contextmanager
    def database(self) -> Iterator[str]:
        """The address of an empty database."""
        name = f"misstep_test_{os.getpid()}_{next(_numbers)}"
        self.execute(f"CREATE DATABASE \"{name}\" ENCODING 'UTF8' TEMPLATE template0")
        try:
            yield self.url.set(database=name).render_as_string(hide_password=False)
        finally:
            self.execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    def execute(self, statement: str) -> None:
        with psycopg.connect(conninfo(self.url), autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[call-overload]


def conninfo(location: str | URL) -> str:
    """An address as psycopg takes it."""
    return make_url(location).set(drivername="postgresql").render_as_string(hide_password=False)


@contextmanager
def engine_of(location: str) -> Iterator[Engine]:
    """SQLAlchemy's engine for a store, which reads and writes it without any code of ours."""
    if "://" in location:
        url = make_url(location).set(drivername="postgresql+psycopg")
        engine = create_engine(url, connect_args={"options": "-c search_path=misstep"})
    else:
        engine = create_engine(f"sqlite:///{location}")
    try:
        yield engine
    finally:
        engine.dispose()


def find_binaries() -> Path | None:
    """The folder with `initdb` and `postgres`."""
    found = [Path(program).resolve().parent for program in [shutil.which("postgres")] if program]
    if config := shutil.which("pg_config"):
        answer = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False)
        found.append(Path(answer.stdout.strip()))
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    found += sorted(installed, key=lambda path: float(path.parent.name), reverse=True)
    return next((path for path in found if (path / "initdb").exists() and (path / "postgres").exists()), None)


@contextmanager
def running_server(binaries: Path) -> Iterator[Server]:
    """A fresh cluster; its server is stopped at the end and its folder removed."""
    folder = Path(tempfile.mkdtemp(prefix="misstep-pg-"))
    try:
        (folder / "password").write_text(PASSWORD)
        user = _hand_over(folder)
        options = ["-U", USER, "--pwfile", str(folder / "password"), "-A", "scram-sha-256", "-E", "UTF8"]
        command = [binaries / "initdb", "-D", folder / "data", *options, "--locale=C", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, cwd=folder, user=user)
        with _started(binaries, folder, user) as port:
            yield Server(URL.create("postgresql", USER, PASSWORD, "127.0.0.1", port, "postgres"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _hand_over(folder: Path) -> str | None:
    """PostgreSQL refuses to work for root: give the folder to somebody else."""
    if os.geteuid() != 0:
        return None
    user = "nobody"
    for path in (folder, *folder.iterdir()):
        shutil.chown(path, user)
    return user


@contextmanager
def _started(binaries: Path, folder: Path, user: str | None) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    settings = {**_SETTINGS, "port": str(port), "unix_socket_directories": str(folder)}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with open(folder / "log", "wb") as log:
        command = [binaries / "postgres", "-D", folder / "data", *options]
        process = subprocess.Popen(command, cwd=folder, user=user, stdout=log, stderr=log)
    try:
        _wait_until_ready(process, port, folder / "log")
        yield port
    finally:
        process.send_signal(signal.SIGINT)  # ends the sessions that are left
        process.wait()


def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    address = f"postgresql://{USER}:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/postgres"
    while process.poll() is None:
        try:
            psycopg.connect(address).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    raise RuntimeError(f"PostgreSQL doesn't start:\n{log.read_text(errors='replace')}")


if __name__ == "__main__":
    place = os.environ.get(GIVEN) or find_binaries()
    if not place:
        sys.exit(1)
    print("PostgreSQL for the tests:", GIVEN if GIVEN in os.environ else place)
