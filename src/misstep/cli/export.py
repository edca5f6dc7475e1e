"""`misstep export`: write a run as training examples, or in a format for other tools."""

import click

from misstep.cli.help import command
from misstep.cli.options import one_shot_option, run_argument, settings_options
from misstep.cli.output import left_out_lines, one_output, spare_inputs, sum_up, to_stdout
from misstep.core.results.report import FORMATS, Format
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.rendering.terminal import counted
from misstep.store.files import write_lines

ABOUT_TRUST = "Read prompt templates named by a store from another machine (sft, dpo)."
_BINARY = ("inspect", "parquet")
_UNITS = {"csv": "row", "parquet": "row", "inspect": "sample", "otlp": "trace"}


@command("export", "misstep export last --format sft --out train.jsonl", "misstep export last --format csv")
@run_argument("run")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    required=True,
    help=(
        "Correct conversations (sft), correct and rejected ones (dpo), an Inspect log, OpenTelemetry spans "
        "as JSON lines (otlp), or a table (csv, parquet)."
    ),
)
@click.option(
    "--all", "passed_too", is_flag=True, help="Include passed cases, with the agent's own calls (sft)."
)
@one_shot_option
@settings_options(
    "otlp_content",
    "trust_store",
    "store",
    "out",
    "json",
    about={"otlp_content": "Include messages in the spans.", "trust_store": ABOUT_TRUST},
)
def export(settings: Settings, run: str, form: Format, passed_too: bool, one_shot: bool) -> int:
    """Export a run, or training examples from its failures.

    RUN may be shortened, or be 'last'.
    """
    if one_shot and form not in ("sft", "dpo"):
        raise UsageError("--one-shot requires --format sft or dpo", "add --format sft or dpo, or omit it")
    if passed_too and form != "sft":
        other = (
            "passed cases have no rejected conversation"
            if form == "dpo"
            else f"{form} contains all cases already"
        )
        raise UsageError(other, "omit --all, or use --format sft")
    what = "examples" if form in ("sft", "dpo") else "run"
    if form in _BINARY and to_stdout(settings):
        raise UsageError(f"--format {form} is not a text format", "name a file with --out")
    one_output(settings, what)
    spare_inputs(settings, what, settings.store)
    if form == "sft" or form == "dpo":
        from misstep.runs.reporting.training import Export

        made = Export(settings, run, form, passed_too, one_shot)
        write_lines(settings.out, made.examples())
        found = made.summary()
        kinds = ", ".join(f"{kind} {count}" for kind, count in found.kinds.items())
        line = f"{counted(found.examples, 'example')} of run {found.run}" + (f" ({kinds})" if kinds else "")
        sum_up(settings, found, [line, *left_out_lines(found.left_out)])
    else:
        from misstep.runs.reporting import export as exports

        if form == "inspect":
            written = exports.write_inspect(settings, run)
        elif form == "otlp":
            written = exports.write_otlp(settings, run)
        else:
            written = exports.write_table(settings, run, form)
        sum_up(settings, written, [f"{counted(written.rows, _UNITS[form])} of run {written.run}"])
    return 0
