"""A process that has loaded the command line and forks for each command: what a user waits for is loading it."""

import json
import os
import sys

import click

from misstep.__main__ import main
from misstep.cli import cli


def load(group: click.Group) -> None:
    """Load all that commands are made of."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            load(command)


def carry_out(words: list[str], out: str, err: str) -> None:
    """In a child: the program as if it had been started with these words."""
    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, out, os.O_WRONLY),
        (2, err, os.O_WRONLY),
    ):
        os.dup2(os.open(path, flags | os.O_CREAT | os.O_TRUNC, 0o600), descriptor)
    sys.argv = ["misstep", *words]
    main()


def work() -> None:
    """Carry out one line of JSON after the other, and answer each with the exit code."""
    load(cli)
    orders, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for line in orders:
        child = os.fork()
        if child == 0:
            carry_out(**json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)
