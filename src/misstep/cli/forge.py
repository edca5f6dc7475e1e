"""`misstep bench forge --serve`: the forge by itself, left running for people to try."""

import threading
from contextlib import suppress

import click

from misstep.api.benchmarking.room import claimed_room
from misstep.benchmarks.forge.forge import Forge
from misstep.cli.options import typed
from misstep.cli.output import print_json_text
from misstep.errors import UsageError

TAKEN = ("serve", "port", "json")  # all that has a meaning here


def serve(port: int, as_json: bool) -> int:
    """Say where the forge is, and serve it until Ctrl-C."""
    _refuse_vain()
    with claimed_room() as room, Forge(room.folder, port=port) as served, suppress(KeyboardInterrupt):
        _tell(served, as_json)
        click.echo("until Ctrl-C", err=True)
        threading.Event().wait()
    return 0


def _tell(served: Forge, as_json: bool) -> None:
    if as_json:
        print_json_text(
            {
                "url": served.url,
                "repository": served.repository,
                "clone_url": served.clone_url,
                "token": served.token,
                "read_token": served.read_token,
            }
        )
        return
    click.echo(f"interface   {served.url}")
    click.echo(f"repository  git clone {served.clone_url}")
    click.echo(f"token       {served.token}")
    click.echo(f"to look     {served.read_token}")


def _refuse_vain() -> None:
    """What is typed and would be ignored is a mistake; what a file of settings says is for other commands."""
    if vain := typed(lambda name: name not in TAKEN):
        hint = f"leave {'it' if len(vain) == 1 else 'them'} out: the forge by itself takes --port and --json"
        raise UsageError(f"{' and '.join(vain)} can't go with --serve", hint)
