"""`misstep doctor`: show what works here and what is missing."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from misstep.cli.help import command
from misstep.cli.output import print_json_text
from misstep.errors import install_command
from misstep.features.doctor.run import HealthCheck, examine
from misstep.rendering.layout import Trimmed
from misstep.rendering.text import plain

STYLES = {"ok": "green", "missing": "yellow", "broken": "bold red"}


@command("doctor", "misstep doctor", "misstep doctor --json")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON on stdout.")
def doctor(as_json: bool) -> int:
    """Check the installation, the sandbox, settings and the store.

    Says what is installed and what is missing, and how to get it. Exits with 1 if something that is set up
    does not work: the settings are not valid, or the store can't be read. Keys are never shown.
    """
    checks = list(examine(Path.cwd()))
    broken = [check for check in checks if check.state == "broken"]
    if as_json:
        print_json_text({"ok": not broken, "checks": msgspec.to_builtins(checks)})
    else:
        _show(checks)
    return int(bool(broken))


def _with_keys_together(checks: Sequence[HealthCheck]) -> Iterator[HealthCheck]:
    """The checks, with keys that are not set in one line: nobody needs them all."""
    unset = [check.name for check in checks if check.section == "keys" and check.state != "ok"]
    for check in checks:
        if check.name not in unset or check.section != "keys":
            yield check
        elif check.name == unset[-1]:
            yield HealthCheck("keys", "not set", "missing", ", ".join(unset))


def _show(checks: Sequence[HealthCheck]) -> None:
    console = Console()
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for section, several in groupby(_with_keys_together(checks), lambda check: check.section):
        for number, check in enumerate(several):
            detail = Text(plain(check.detail))
            if check.fix and section != "extras":
                detail.append(f"\n{plain(check.fix)}", "dim")
            name, state = Text(plain(check.name)), Text(check.state, STYLES[check.state])
            table.add_row(Text("" if number else section, "bold"), name, state, detail)
    console.print(Trimmed(table))
    if any(check.section == "extras" and check.fix for check in checks):
        console.print(
            f"\nInstall an extra: {install_command('NAME')}", markup=False, highlight=False, soft_wrap=True
        )
    broken = [f"{check.section} {check.name}" for check in checks if check.state == "broken"]
    told = f"Broken: {', '.join(broken)}" if broken else "Nothing that misstep needs is broken."
    console.print(f"\n{plain(told)}", markup=False, highlight=False, soft_wrap=True)
