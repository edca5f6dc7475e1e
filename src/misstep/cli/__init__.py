"""The command line."""

import os
import sys
import traceback

import click

from misstep.cli.commands import ROOT
from misstep.errors import MisstepError, UsageError

INTERNAL_ERROR = 70
cli = click.version_option(package_name="misstep")(ROOT)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code. Errors that a user can fix are shown without a traceback."""
    if "_MISSTEP_COMPLETE" in os.environ:  # set by a completion script
        from misstep.cli.completion import answer_shell

        return answer_shell(cli)
    try:
        for argument in arguments:
            if not argument.isprintable() and any("\udc80" <= letter <= "\udcff" for letter in argument):
                raise UsageError(f"the argument {argument!r} is not valid text", "expected UTF-8")
        with cli.make_context("misstep", list(arguments)) as context:
            return int(cli.invoke(context) or 0)
    except click.exceptions.Exit as exit:
        return exit.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.ClickException as error:
        raised_in = error.ctx if isinstance(error, click.UsageError) else None
        path = raised_in.command_path if raised_in else "misstep"
        message = " ".join(error.format_message().split())
        hint = f"'{path} --help' shows its options"
        return _complain(f"{path}  {message[0].lower()}{message[1:]}\n  {hint}", 2)
    except MisstepError as error:
        return _complain(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _complain("stopped", 130)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _complain(f"{error.filename or 'misstep'}  {error.strerror or error}", 2)
    except Exception:
        report = "misstep has a bug: please report it with what is above and the command you gave"
        return _complain(f"{traceback.format_exc()}\n{report}", INTERNAL_ERROR)


def _complain(text: str, code: int) -> int:
    from misstep.rendering.text import plain_lines

    print(plain_lines(text), file=sys.stderr)
    return code
