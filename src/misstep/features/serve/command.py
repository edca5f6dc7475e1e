"""`misstep serve`: the runs of a store in a browser."""

import sys
import webbrowser
from typing import TYPE_CHECKING

import click

from misstep.adapters.hosting import LOOPBACK, is_loopback
from misstep.cli.help import command
from misstep.cli.options import CURVES_BESIDE, PORT, settings_options
from misstep.core.settings import Settings
from misstep.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from misstep.web.server import Address

USUAL_PORT = 7357
READ_ALONG = "without an HTTPS proxy in front, others on the network can read the traffic"


@command("serve", "misstep serve --open", "misstep serve --host 0.0.0.0 --port 8000")
@click.option(
    "--host",
    default=LOOPBACK[0],
    show_default=True,
    help="Address to listen on; 0.0.0.0 allows other machines.",
)
@click.option("--no-token", is_flag=True, help="Allow every user of this machine without a token.")
@click.option("--port", type=PORT, default=USUAL_PORT, show_default=True, help="Port (0: a free one).")
@click.option("--open", "opening", is_flag=True, help="Open the page in your browser.")
@settings_options(*CURVES_BESIDE, "store")
def serve(settings: Settings, host: str, no_token: bool, port: int, opening: bool) -> int:
    """Show runs in a browser, live.

    Open the printed address: it contains a token, which is required for access. Only this machine can open
    the pages, unless --host allows others.
    """
    if no_token and not is_loopback(host):
        raise UsageError("--no-token requires a loopback address", f"omit --host {host} or --no-token")
    try:
        from misstep.features.serve.server import serve_site
    except ImportError as error:
        raise MissingExtra("the web page", "web", "misstep runs and misstep show need no browser") from error

    def ready(address: "Address") -> None:
        warning = "" if is_loopback(host) else f"{READ_ALONG}\n"
        print(f"{address.shown}\n{warning}Ctrl-C ends it", file=sys.stderr, flush=True)
        if opening:
            webbrowser.open(address.here)

    serve_site(settings, host, port, ready, no_token)
    return 0
