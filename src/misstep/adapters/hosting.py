"""How web servers of our own are set up."""

import socket
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from misstep.errors import UsageError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
NAMES = tuple(f"[{name}]" if ":" in name else name for name in LOOPBACK)  # as URLs have them

# For `uvicorn.Config`: it prints nothing, and says nothing of itself.
QUIET: Mapping[str, Any] = MappingProxyType(
    {
        "interface": "asgi3",
        "lifespan": "off",
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "proxy_headers": False,
        "server_header": False,
        "timeout_graceful_shutdown": 1,
    }
)


def is_loopback(host: str) -> bool:
    return host in LOOPBACK


def listen(host: str, port: int, where: str = "") -> socket.socket:
    """A socket that clients can connect to; port 0 takes a free one. `where` is how the port was named."""
    if not host:  # by which sockets mean everywhere
        raise UsageError("can't be empty", "expected a name or an address, such as 127.0.0.1", where="--host")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"can't listen on {host}:{port}: {reason}", "port 0 takes any that is free", where=where
        ) from None
