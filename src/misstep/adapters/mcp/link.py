"""The program that a client starts as its MCP server: passes bytes to the misstep process.

It is run as a file, by a Python that loads nothing but the standard library.
"""

import os
import socket
import sys
import threading

CHUNK = 1 << 16


def main(address: str) -> None:
    """Pass bytes until either end closes; the file `address` holds the host, port and secret."""
    try:
        with open(address, encoding="utf-8") as file:
            host, port, secret = file.read().split()
        line = socket.create_connection((host, int(port)))
    except OSError:
        sys.exit("the case is over")
    try:
        line.sendall(secret.encode() + b"\n")
        threading.Thread(target=_pass_on, args=(line,), daemon=True).start()
        while data := line.recv(CHUNK):
            while data:
                data = data[os.write(1, data) :]
    except ConnectionError:
        pass  # the case ended while the client was still writing


def _pass_on(line: socket.socket) -> None:
    while data := os.read(0, CHUNK):
        line.sendall(data)
    line.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(sys.argv[1])
