"""An application on loopback, for as long as a browser needs it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from misstep.adapters.hosting import LOOPBACK, QUIET, listen
from misstep.web.server import OriginGuard


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application behind its guard, as it is served to people."""
    server = uvicorn.Server(uvicorn.Config(OriginGuard(app), **QUIET))
    with listen(LOOPBACK[0], 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://{LOOPBACK[0]}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
