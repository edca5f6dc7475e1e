"""How a call can fail that never reached the tool's own code, or got no answer from it."""


class ArgumentsRefused(Exception):
    """What checks arguments before the tool's own code did not let them pass; what it raised is the cause."""


class ServerError(Exception):
    """A server answered with an error of JSON-RPC instead of a result."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message


class ServerGone(Exception):
    """The server's process or its connection has ended; `last` is what it printed at the end."""

    def __init__(self, message: str, last: str = "") -> None:
        super().__init__(f"{message}\n{last}" if last else message)
        self.last = last


class Garbled(Exception):
    """What the server sent is no answer by the rules of its protocol."""
