"""What is known to be wrong with tools that other people wrote, found by calling them by hand."""

import sys

# A path with a NUL byte, with half a character of UTF-16, through a link to itself. That no file system takes
# a name which is too long is no defect.
_PATHS = {"ValueError", "UnicodeEncodeError"} | ({"RuntimeError"} if sys.version_info < (3, 13) else set())
_ADDRESSES = {"MissingSchema", "InvalidURL", "InvalidSchema"}
_BODIES = {"KeyError", "TypeError"}  # told in the text of the result

# langchain-community 0.4.2: types of exceptions, by the tool.
FILES = {
    "move_file": _PATHS | {"UnboundLocalError"},  # a destination outside of the root
    "read_file": _PATHS,
    "write_file": _PATHS,
}
REQUESTS = {
    "requests_get": _ADDRESSES,
    "requests_post": _BODIES,
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
JSON_TOOLS = {"json_spec_list_keys", "json_spec_get_value"}
JSON = {"KeyError", "TypeError", "IndexError", "ValueError"}
# A program can end its own process and can ask for more than there is; its errors are its answer.
RUNS_CODE = {"SystemExit", "KeyboardInterrupt", "GeneratorExit", "ValueError", "TypeError"}

# composio-core 0.7.22: paths are taken as they come, and writing without a file is met by an assertion.
COMPOSIO = {
    "FILETOOL_CREATE_FILE": {"FileNotFoundError", "FileExistsError", "ValueError"},
    "FILETOOL_CHANGE_WORKING_DIRECTORY": {"ValueError", "UnicodeEncodeError"},
    "FILETOOL_WRITE": {"AssertionError"},
}
COMPOSIO_IS_CAREFUL = ("MATHEMATICAL_CALCULATOR", "SQLTOOL_SQL_QUERY")

# mcp-server-git 2026.10.19: what Python says about a NUL byte, and a bare path for a folder without a repository.
GIT_TOOLS = ("git_status", "git_log")
GIT_SAYS = {"ValueError": "embedded null byte", "exception without words": "/tmp/misstep/work"}

# server-filesystem: nothing but what Node says about a path.
FILESYSTEM_TOOLS = ("read_text_file", "move_file", "list_allowed_directories")
# server-memory and server-everything: nothing.
MEMORY_TOOLS = ("create_entities", "create_relations", "add_observations", "read_graph", "search_nodes")
EVERYTHING_TOOLS = (
    "echo",
    "get-annotated-message",
    "get-resource-links",
    "get-structured-content",
    "get-sum",
)
