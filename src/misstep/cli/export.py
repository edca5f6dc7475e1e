"""`misstep export`: training examples from a run."""

import os
import sys

import click

from misstep.api.export import Export
from misstep.cli.options import settings_options
from misstep.cli.output import print_json, spare_inputs, to_stdout
from misstep.core.export import Exported, Format
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.report.terminal import counted
from misstep.store.lines import write_lines

_REASONS = {
    "errored": "errored",
    "inconclusive": "inconclusive",
    "unsolved": "without a correct plan that is known",
    "faultless": "out of time with nothing wrong so far",
}


@click.command("export")
@click.argument("run")
@click.option(
    "--format",
    "form",
    type=click.Choice(["sft", "dpo"]),
    required=True,
    help="Conversations that go right (sft), or right ones against the agent's own (dpo).",
)
@click.option(
    "--all", "passed_too", is_flag=True, help="Cases that passed as well, by the agent's own calls."
)
@settings_options("store", "out", "json")
def export(settings: Settings, run: str, form: Format, passed_too: bool) -> int:
    """Write training examples as chat JSON lines, from the failures of a run.

    RUN may be shortened, or be 'last'.
    """
    if form == "dpo" and passed_too:
        raise UsageError("a case that passed has nothing to reject", "leave --all out, or take --format sft")
    if settings.json and to_stdout(settings):
        raise UsageError("--json and the examples can't both go to standard output", "name a file with --out")
    spare_inputs(settings, "examples")
    _spare_store(settings)
    made = Export(settings, run, form, passed_too)
    write_lines(settings.out, made.examples())
    summary = made.summary()
    if settings.json:
        print_json(summary)
    else:
        print("\n".join(_lines(summary)), file=sys.stderr)
    return 0


def _spare_store(settings: Settings) -> None:
    """What is written must not go over the store that it comes from."""
    store = settings.store.removeprefix("sqlite:///")
    both = not to_stdout(settings) and os.path.exists(settings.out) and os.path.exists(store)
    if both and os.path.samefile(settings.out, store):
        raise UsageError("would be overwritten by the examples", "name another file", where=f"--out {store}")


def _lines(summary: Exported) -> list[str]:
    kinds = [f"{kind} {count}" for kind, count in summary.kinds.items()]
    left_out = [f"{count} {_REASONS[reason]}" for reason, count in summary.left_out.items()]
    return [
        f"{counted(summary.examples, 'example')} of run {summary.run}"
        + (f" ({', '.join(kinds)})" if kinds else ""),
        *([f"left out: {', '.join(left_out)}"] if left_out else []),
    ]
