"""The command line: parse, call the api, show."""

import io
import os
import sys

import click

from misstep.cli.plan import plan_group
from misstep.cli.runs import replay, runs, show
from misstep.errors import MisstepError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="misstep")
def cli() -> None:
    """Find the step where an LLM agent goes wrong.

    Exit codes: 0 nothing wrong, 1 findings, 2 usage or configuration error, 130 interrupted.
    """


cli.add_command(plan_group)
cli.add_command(runs)
cli.add_command(show)
cli.add_command(replay)


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character gets a stand-in
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command; its exit code. Errors that a user can mend are told without a traceback."""
    try:
        return int(cli.main(arguments, prog_name="misstep", standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as error:
        return _complain(_as_text(error))
    except MisstepError as error:
        return _complain(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _complain("stopped", 130)
    except BrokenPipeError:
        # The reader of our output has gone; keep the interpreter from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _as_text(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "misstep"
    message = error.format_message()
    return f"{path}  {message[0].lower()}{message[1:]}\n  '{path} --help' shows what it takes"


def _complain(text: str, code: int = 2) -> int:
    print(text, file=sys.stderr)
    return code
