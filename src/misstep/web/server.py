"""A page on loopback, for as long as somebody uses it."""

from collections.abc import Callable
from contextlib import suppress

import uvicorn

from misstep.adapters.hosting import LOOPBACK, QUIET, listen
from misstep.api.labelling import Labelling
from misstep.web.guard import Guard
from misstep.web.labelling import labelling_app

HOST = LOOPBACK[0]


def serve(labelling: Labelling, port: int, ready: Callable[[str], object]) -> None:
    """Serve until Ctrl-C; `ready` is told the URL as soon as browsers may come. Port 0 takes a free one."""
    config = uvicorn.Config(Guard(labelling_app(labelling)), **QUIET)
    with listen(HOST, port, "--port") as listener:
        ready(f"http://{HOST}:{listener.getsockname()[1]}/")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
