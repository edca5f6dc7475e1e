"""`misstep plan repair`: make a plan for the user's own request."""

import sys

import click
from rich.console import Console

from misstep.cli.help import command
from misstep.cli.options import settings_options
from misstep.cli.output import print_json
from misstep.core.settings import Settings
from misstep.errors import UsageError
from misstep.features.repair.run import repair as read_and_plan
from misstep.features.repair.view import repair_view
from misstep.rendering.text import plain

MOST_BYTES = 1 << 20  # maximum size of a request


@command(
    "repair",
    "misstep plan repair --tools tools.json --model local --request 'Pack before you ship.'",
    "misstep plan repair --tools shop.py:tools --model openai/gpt-4o --request @request.txt",
    shown="tools model model_base_url timeout budget_usd json",
)
@click.option(
    "--request", "given", required=True, metavar="TEXT|@FILE|-", help="Request text; - reads standard input."
)
@settings_options(
    *("tools", "model", "model_base_url", "temperature", "retries", "requests_per_minute", "cache"),
    *("prices", "timeout", "budget_usd", "budget_tokens", "json"),
    about={
        "tools": "Tools that the plan may use (never called).",
        "model": "Model that reads the request, e.g. openai/gpt-4o, ollama/llama3 or local.",
        "timeout": "Timeout for one reading, in seconds.",
        "budget_usd": "Maximum cost of both readings, in US dollars.",
        "budget_tokens": "Maximum tokens for both readings.",
    },
)
def repair(settings: Settings, given: str) -> int:
    """Plan a request in free text, read twice by a model.

    The model reads the request with two different prompts. The plan satisfies what both readings say, and
    differences are listed. No tool is called.

    Exit code 1: the readings disagree, or no plan satisfies them.
    """
    report = read_and_plan(settings, _request(given), lambda line: print(plain(line), file=sys.stderr))
    if settings.json:
        print_json(report)
    else:
        Console().print(repair_view(report))
    return int(not (report.agree and report.consistent))


def _request(given: str) -> str:
    if given != "-" and not given.startswith("@"):
        return given
    where = "standard input" if given == "-" else given[1:]
    try:
        if given == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with open(given[1:], "rb") as file:
                data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"the request has more than {MOST_BYTES:,} bytes", "shorten it", where=where)
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), where=where) from error
    except UnicodeDecodeError as error:
        raise UsageError("is not UTF-8 text", str(error), where=where) from error
