"""Answers that tools and servers have really given, or that their libraries give, each with its ruling.

Most were collected from running servers: git, time, fetch and sqlite from PyPI; filesystem, memory and everything
from npm; zod 3 and 4, ajv, Node, Java and Rust.
"""

from typing import Any

import msgspec

PATH = {"path": "/data/no.txt"}


class Answer(msgspec.Struct, frozen=True):
    """What a tool answered to a call, and what that is. `flagged` is isError."""

    ruling: str
    text: str
    flagged: bool = True
    fits: bool = True
    arguments: dict[str, Any] = {}
    tool: str = "planted"


def _all(ruling: str, texts: str, **more: Any) -> list[Answer]:
    return [Answer(ruling, text.replace("\\n", "\n"), **more) for text in texts.strip().splitlines()]


# A message of an exception and nothing else, as the older Python SDK and the TypeScript one pass it on.
CRASHES = [
    *_all(
        "crash",
        """
list index out of range
'NoneType' object has no attribute 'get'
'colour'
Error executing tool lookup: 'colour'
Error executing tool lookup: list index out of range
Error executing tool lookup: 'NoneType' object is not subscriptable
Error executing tool lookup: unsupported operand type(s) for +: 'int' and 'str'
Error executing tool lookup: invalid literal for int() with base 10: 'x'
Error executing tool lookup: could not convert string to float: ''
Error executing tool lookup: division by zero
Error executing tool lookup: Expecting value: line 1 column 1 (char 0)
Error executing tool lookup: 'utf-8' codec can't encode character '\\ud800' in position 0: surrogates not allowed
Error executing tool lookup: [Errno 36] File name too long: '/data/aaaa'
Error executing tool lookup: embedded null byte
Error executing tool lookup: not enough values to unpack (expected 2, got 1)
Error executing tool lookup: unterminated character set at position 0
Error executing tool lookup: cannot access local variable 'found' where it is not associated with a value
Error executing tool lookup: Object of type set is not JSON serializable
Error executing tool lookup: time data 'x' does not match format '%Y'
Error executing tool lookup: month must be in 1..12
Error executing tool lookup
Error executing tool lookup:
An error occurred while running the tool. Please try again.
An error occurred while running the tool. Please try again. Error: list index out of range
MCP error -32603: Internal error
MCP error -32603: Cannot read properties of undefined (reading 'length')
Internal server error
KeyError: 'name'
Traceback (most recent call last):\\n  File "/srv/tool.py", line 3, in f\\n    return rows[0]\\nIndexError: list index out of range
Cannot read properties of undefined (reading 'x')
Cannot read properties of null (reading 'foo')
query.split is not a function
{}.x is not a function
3 is not iterable
undefined is not iterable
Cannot destructure property 'a' of 'null' as it is null.
Unexpected end of JSON input
Expected property name or '}' in JSON at position 1
"undefined" is not valid JSON
Maximum call stack size exceeded
Invalid array length
Invalid count value: -1
Invalid time value
URI malformed
Reduce of empty array with no initial value
Converting circular structure to JSON --> starting at object with constructor 'Object'
Cannot convert undefined or null to object
Assignment to constant variable.
The "path" argument must be of type string or an instance of Buffer or URL. Received undefined
The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received 'a\\x00b'
ENAMETOOLONG: name too long, realpath '/data/aaaaaaaaaaaa'
zz is not defined
java.lang.NullPointerException: Cannot invoke "String.length()" because "<local0>" is null
java.lang.ArrayIndexOutOfBoundsException: Index 3 out of bounds for length 1
Index 0 out of bounds for length 0
class java.lang.String cannot be cast to class java.lang.Integer
java.lang.NumberFormatException: For input string: "x"
java.util.NoSuchElementException: No value present
panic: runtime error: index out of range [3] with length 1
runtime error: invalid memory address or nil pointer dereference
strconv.Atoi: parsing "x": invalid syntax
thread 'main' panicked at src/main.rs:2:76:\\nindex out of bounds: the len is 0 but the index is 1
called `Option::unwrap()` on a `None` value
attempt to divide by zero
start byte index 1 is not a char boundary; it is inside 'é' (bytes 0..2)
undefined method 'name' for nil
undefined method `name' for nil:NilClass (NoMethodError)
divided by 0
Object reference not set to an instance of an object.
Call to a member function get() on null
""",
    ),
    Answer("crash", ""),
    Answer("crash", "Error executing tool git_status: /data/no.txt", arguments=PATH),
    Answer("crash", "Error executing tool git_log: /srv/repos/no.txt", arguments={"path": "no.txt"}),
    Answer("crash", "KeyError('url')", flagged=False),
    Answer("crash", "JSONDecodeError('Expecting value: line 1 column 1 (char 0)')", flagged=False),
    Answer(
        "refused", "Failed to read notes.json: SyntaxError: Unexpected token '#', \"# No\" is not valid JSON"
    ),
    Answer("refused", "The formula failed: name 'ff' is not defined", arguments={"formula": "ff + 1"}),
    Answer("crash", "The formula failed: name 'ff' is not defined", arguments={"formula": "fff + 1"}),
    Answer("crash", "TypeError('list indices must be integers or slices, not str')", flagged=False),
    Answer("crash", "Error: list index out of range", flagged=False),
    Answer("crash", "Error: 'NoneType' object has no attribute 'get'", flagged=False),
    Answer("crash", '{"error": "list index out of range"}', flagged=False),
    Answer("crash", '{"success": false, "message": "Cannot read properties of undefined (reading \'x\')"}'),
    Answer("crash", "TypeError: Cannot read properties of undefined (reading 'x')", flagged=False),
    # Caught, and put into the middle of a reply.
    *_all(
        "crash",
        """
Something went wrong: KeyError('total')
Something went wrong: KeyError: 'total'
Sorry, I could not book the table (KeyError: 'total')
Sorry, I could not book the table (IndexError('list index out of range')).
Oops, an error occurred - 'NoneType' object is not subscriptable
Failed to load the order: AttributeError: 'NoneType' object has no attribute 'items'
We were unable to finish [ZeroDivisionError: division by zero]
Could not complete the booking: list index out of range
An unexpected problem came up: TypeError: unsupported operand type(s) for +: 'int' and 'str'
[{"type": "error", "text": "list index out of range"}]
[{"type": "error", "text": "KeyError: 'total'"}]
[{"type": "text", "text": "Something went wrong: KeyError('total')"}]
{"result": {"status": "done", "note": "Something went wrong: KeyError('total')"}}
{"content": [{"type": "text", "text": "Sorry, that failed: Cannot read properties of undefined (reading 'x')"}]}
""",
        flagged=False,
    ),
    Answer(
        "crash", "Error: 'NoneType' object has no attribute 'fetchall'", flagged=False, tool="execute_query"
    ),
    Answer("crash", "Error: 'NoneType' object has no attribute 'fetchall'", flagged=False, tool="read_query"),
    Answer("crash", "'NoneType' object has no attribute 'fetchall'", tool="run_sql"),
    # The whole reply, not marked as an error.
    Answer("crash", "'NoneType' object has no attribute 'fetchall'", flagged=False, tool="read_query"),
    Answer("crash", "list index out of range", flagged=False),
]

REFUSALS = [
    # Caught, and told in words of the tool's own.
    *_all(
        "refused",
        """
Unknown city: 'Atlantis'
Error: near "selec": syntax error
{"error": "no such city"}
[{"type": "error", "text": "no such city"}]
Error: division by zero
""",
        flagged=False,
    ),
    *_all(
        "refused",
        """
Error executing tool git_log: Reference at 'refs/heads/master' does not exist
Error executing tool git_show: Ref 'zzz' did not resolve to an object
Error executing tool git_branch: Invalid branch type: zz
Error executing tool get_current_time: Invalid timezone: 'No time zone found with key Mars'
Error executing tool get_current_time: Invalid timezone: embedded null byte
Error executing tool get_current_time: Missing required argument: timezone
Error executing tool convert_time: Invalid time format. Expected HH:MM [24-hour format]
Error executing tool fetch: Refused to fetch http://127.0.0.1:9/robots.txt: which is not a public address.
Access denied - path outside allowed directories: /etc/passwd not in /data
ENOENT: no such file or directory, open '/data/no.txt'
EISDIR: illegal operation on a directory, read
ENOTDIR: not a directory, scandir '/data/no.txt'
Cannot specify both head and tail parameters simultaneously
Could not find exact match for edit:\\nzz
Entity with name zz not found
Invalid resourceId: -1. Must be a finite positive integer.
MCP error -32602: Tool nope not found
MCP error -32602: Unknown city
Invalid JSON: Expecting value: line 1 column 1 (char 0)
Invalid number: could not convert string to float: 'x'
ValueError: the limit must be positive
Error: limit must be positive\\n    at check (/srv/tool.js:3:9)\\n    at run (/srv/tool.js:8:3)
java.lang.IllegalArgumentException: limit must be positive
Traceback (most recent call last):\\n  File "/srv/tool.py", line 3, in f\\n    raise ValueError("no such city")\\nValueError: no such city
Invalid URL
Invalid time zone specified: x
user not found
'No user of that name is known'
""",
        arguments=PATH,
    ),
    *_all(
        "refused",
        """
Error: Only SELECT queries are allowed for read_query
Error: no such file or directory: no.txt
Database error: no such table: t
Error: division by zero
Error: invalid literal for int() with base 10: 'x'
{"error": "no such city", "code": 404}
{"status": "error", "message": "the date lies in the past"}
Access denied to file_path: ../x. Permission granted exclusively to the current working directory
Invalid timezone 'x'
Failed to parse the expression
ValueError('Value at path `data["a"]` is not a dict, get the value directly.')
Error: Access denied to file_path: ../x. Permission granted exclusively to the current working directory
Error: [Errno 36] File name too long: '/data/xxxxxxxx'
Error: 'utf-8' codec can't encode character in position 0: surrogates not allowed
ValueError: the limit must be positive
""",
        flagged=False,
    ),
    *_all(
        "refused",
        """
Input validation error: 'query' is a required property
Error executing tool git_status: 1 validation error for statusArguments\\nrepo_path\\n  Field required [type=missing, input_value={}, input_type=dict]
Error executing tool fetch: 1 validation error for fetchArguments\\nmax_length\\n  Input should be greater than or equal to 1 [type=greater_than_equal]
MCP error -32602: Input validation error: Invalid arguments for tool read_text_file: Required at path
MCP error -32602: Input validation error: Invalid arguments for tool get-sum: Invalid input: expected number, received string at a
MCP error -32602: Input validation error: Invalid arguments for tool x: Invalid option: expected one of "New York"|"Chicago" at location
[ { "code": "too_small", "minimum": 1, "type": "number", "path": [ "a" ], "message": "Number must be greater than or equal to 1" } ]
[ { "expected": "string", "code": "invalid_type", "path": [], "message": "Invalid input: expected string, received number" } ]
data must have required property 'a'
data/a must be >= 1
'x' is not of type 'integer'
5 is less than the minimum of 10
f() missing 1 required positional argument: 'x'
f() got an unexpected keyword argument 'q'
Invoking `f()` failed as the following mandatory input parameters are not present:\\ncity
missing field `city` at line 1 column 2
unknown variant `mars`, expected one of `earth`, `moon`
json: cannot unmarshal string into Go struct field Args.count of type int
Object missing required field `city`
Expected `int`, got `str` - at `$.limit`
""",
        fits=False,
    ),
]

LIES = [
    *_all(
        "schema",
        """
Input validation error: 'query' is a required property
MCP error -32602: Input validation error: Invalid arguments for tool x: Too big: expected number to be <=10 at count
Error executing tool x: 1 validation error for xArguments\\nlimit\\n  Input should be a valid integer [type=int_type]
[ { "code": "too_small", "minimum": 1, "path": [ "limit" ], "message": "Number must be greater than or equal to 1" } ]
Output validation error: 'temperature' is a required property
Output validation error: outputSchema defined but no structured output returned
MCP error -32602: Structured content does not match the tool's output schema: data/temperature must be number
Error executing tool x: 1 validation error for xOutput\\nresult\\n  Input should be a valid string [type=string_type]
""",
    ),
    # Not a lie: more than a schema says, or what nobody promised.
    *_all(
        "refused",
        """
Error executing tool x: 1 validation error for xArguments\\nlimit\\n  Value error, thirteen brings bad luck [type=value_error]
[ { "code": "custom", "message": "must be a palindrome", "path": [] } ]
MCP error -32602: Input validation error: Invalid arguments for tool x: Unrecognized key: "q"
Error executing tool x: 1 validation error for xArguments\\nsince\\n  Input should be a valid date [type=date_from_datetime_parsing]
MCP error -32602: Input validation error: Invalid arguments for tool x: Invalid URL at since
""",
    ),
    Answer("refused", "Input validation error: Too big", arguments={"limit": 10**30}),
    Answer("refused", "Input validation error: not a valid string", arguments={"name": "\ud800"}),
]

TROUBLE = [
    *_all(
        "environment",
        """
Error executing tool fetch: Failed to fetch robots.txt http://example.com/robots.txt due to a connection issue
fetch failed
getaddrinfo ENOTFOUND api.example.com
connect ECONNREFUSED 127.0.0.1:5432
[Errno -3] Temporary failure in name resolution
<urlopen error [Errno -2] Name or service not known>
HTTPConnectionPool(host='example.com', port=80): Max retries exceeded with url: /
dial tcp: lookup api.example.com: no such host
curl: (6) Could not resolve host: example.com
All connection attempts failed
OPENAI_API_KEY environment variable is not set
Error: Missing API key. Set BRAVE_API_KEY.
The api_key client option must be set either by passing api_key to the client
401 Client Error: Unauthorized for url: https://api.example.com/
Unable to locate credentials. You can configure credentials by running "aws configure".
No module named 'torch'
Cannot find module 'sharp'
/bin/sh: 1: ffmpeg: command not found
spawn git ENOENT
exec: "kubectl": executable file not found in $PATH
[Errno 30] Read-only file system: '/etc/x'
EROFS: read-only file system, open '/etc/x'
EACCES: permission denied, open '/etc/shadow'
[Errno 13] Permission denied: '/root/x'
[Errno 28] No space left on device
[Errno 24] Too many open files
Traceback (most recent call last):\\n  File "/srv/tool.py", line 3, in f\\n    get(url)\\nrequests.exceptions.ConnectionError: Max retries exceeded with url: /
Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
""",
    ),
    Answer(
        "environment", "ConnectionError(MaxRetryError('Max retries exceeded with url: /'))", flagged=False
    ),
    Answer("environment", "Error: getaddrinfo ENOTFOUND api.example.com", flagged=False),
    Answer("environment", "Error: Object.groupBy is not a function"),
    Answer("environment", "Failed to fetch: Network is unreachable", flagged=False),
]

FINE = [
    *_all(
        "fine",
        """
Repository status:\\nOn branch master\\n\\nNo commits yet
[]
42
None
{"entities": [], "relations": []}
{"error": null, "result": 3}
No matches found
No files found for pattern x in directory .
File written successfully to error.txt.
Errors are values: an essay about Go
Error-free since 1998
The documentation says: list index out of range means that a list is too short.
2026-01-01 12:00 ERROR list index out of range\\n2026-01-01 12:01 INFO restarted
An exceptional view over the bay
Cannes is a city in France
""",
        flagged=False,
    ),
    # Echoes.
    Answer(
        "fine", "Error: list index out of range", False, True, {"message": "Error: list index out of range"}
    ),
    Answer(
        "fine", "Traceback (most recent call last)", False, True, {"m": "Traceback (most recent call last)"}
    ),
    Answer("fine", "list index out of range is what Python says of a short list", False, True, {"m": "x"}),
    Answer("fine", "list index out of range", False, True, {"m": "list index out of range"}),
    Answer("fine", "you said: Error: 'NoneType' object is not subscriptable", False, True, {"m": "x"}),
    Answer(
        "refused", "Error: unknown unit 'Connection refused'", False, True, {"unit": "Connection refused"}
    ),
    Answer(
        "refused", "unknown unit: list index out of range", True, True, {"unit": "list index out of range"}
    ),
    Answer("refused", "Invalid name panic: x", True, True, {"name": "panic: x"}),
    # What code does that a tool is given is no fault of the tool's.
    Answer("fine", "NameError(\"name 'foo' is not defined\")", False, True, {"query": "foo"}, "python_repl"),
    Answer("fine", "ZeroDivisionError: division by zero", False, True, {"code": "1/0"}, "run"),
    Answer("fine", "/bin/sh: 1: foo: not found", False, True, {"commands": "foo"}, "terminal"),
    Answer("refused", "name 'foo' is not defined", True, True, {"code": "foo"}, "python_repl"),
    Answer("refused", "Error executing tool calculate: division by zero", tool="calculate"),
    # What was never run was refused, although the result of a server is not marked as an error.
    Answer(
        "refused",
        "Error: Only SELECT queries are allowed for read_query",
        False,
        True,
        {"query": "solar panels"},
        "read_query",
    ),
    Answer(
        "refused",
        'Database error: near "solar": syntax error',
        False,
        True,
        {"query": "solar panels"},
        "write_query",
    ),
]

ANSWERS = [*CRASHES, *REFUSALS, *LIES, *TROUBLE, *FINE]
