"""A page on loopback, for as long as somebody uses it."""

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from misstep.api.labelling import Labelling
from misstep.errors import UsageError
from misstep.web.guard import Guard
from misstep.web.labelling import labelling_app

HOST = "127.0.0.1"


def serve(labelling: Labelling, port: int, ready: Callable[[str], object]) -> None:
    """Serve until Ctrl-C; `ready` is told the URL as soon as browsers may come. Port 0 takes a free one."""
    config = uvicorn.Config(
        Guard(labelling_app(labelling)),
        interface="asgi3",
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    with _listening(port) as listener:
        ready(f"http://{HOST}:{listener.getsockname()[1]}/")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(
            f"can't listen on {HOST}:{port}: {error.strerror}",
            "port 0 takes any that is free",
            where="--port",
        ) from None
