"""`misstep tool …`: tests of tools."""

import click
from rich.console import Console

from misstep.api.tools import list_tools
from misstep.cli.options import settings_options
from misstep.cli.output import print_json
from misstep.core.settings import Settings
from misstep.report.text import plain
from misstep.report.tools import tools_view


@click.command("list")
@click.argument("specs", metavar="SPEC...", nargs=-1, required=True)
@settings_options("python", "sandbox", "allow_network", "allow_read", "workspace", "descriptions", "json")
def list_command(settings: Settings, specs: tuple[str, ...]) -> int:
    """List tools and what they take, without calling any.

    SPEC is file.py:name, package.module:name, mcp:COMMAND, mcp:URL, mcp.json or tools.json. Code and servers
    start in the same sandbox as for tool fuzz.
    """
    found = list_tools(specs, settings)
    if settings.json:
        print_json(found)
    else:
        Console().print(tools_view(found.tools))
    for note in (*(f"left out: {each}" for each in found.skipped), *found.notes):
        click.echo(plain(note), err=True)
    return 0
