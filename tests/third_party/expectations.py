"""What is known to be wrong with tools that other people wrote, found by calling them by hand."""

import sys

# A path with a NUL byte, with half a character of UTF-16, through a link to itself, too long.
_PATHS = {"ValueError", "UnicodeEncodeError"} | ({"RuntimeError"} if sys.version_info < (3, 13) else set())
_LONG_PATHS = _PATHS | ({"OSError"} if sys.version_info < (3, 14) else set())
_ADDRESSES = {"MissingSchema", "InvalidURL", "InvalidSchema"}
_BODIES = {"KeyError", "TypeError"}  # told in the text of the result

# langchain-community 0.4.2: types of exceptions, by the tool.
FILES = {
    "copy_file": _PATHS,
    "file_delete": _LONG_PATHS,
    "file_search": _PATHS,
    "list_directory": _PATHS,
    "move_file": _LONG_PATHS | {"UnboundLocalError"},  # a destination outside of the root
    "read_file": _LONG_PATHS,
    "write_file": _PATHS,
}
REQUESTS = {
    "requests_delete": _ADDRESSES,
    "requests_get": _ADDRESSES,
    "requests_patch": _BODIES,
    "requests_post": _BODIES,
    "requests_put": _BODIES,
}
# There, but nobody has to find them: names of hosts that are too long, JSON that is too deep, …
MORE_REQUESTS = {
    "LocationParseError",
    "AttributeError",
    "InvalidJSONError",
    "JSONDecodeError",
    "RecursionError",
    "UnicodeError",
    "ValueError",  # of urllib, about addresses of IPv6
    "ChunkedEncodingError",
    "TooManyRedirects",
    *_ADDRESSES,
}
# Looking for what is not there ends in the text of an exception.
JSON = {"KeyError", "TypeError", "IndexError"}
# A program can end its own process and can ask for more than there is; its errors are its answer.
RUNS_CODE = {"SystemExit", "KeyboardInterrupt", "GeneratorExit", "ValueError", "TypeError"}

# mcp-server-git 2026.10.19: what Python says about a NUL byte, as the server's answer.
GIT_TOOLS = ("git_status", "git_log", "git_branch")
GIT_SAYS = "embedded null byte"
# mcp-server-calculator 0.2.1 hands on whatever evaluating an expression raises: pi(), 1/0, sqrt(), …
CALCULATOR_TOOLS = ("calculate",)
