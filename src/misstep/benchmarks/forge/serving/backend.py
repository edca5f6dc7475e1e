"""Git's own protocol, spoken by git's own server."""

import subprocess
from pathlib import Path
from urllib.parse import unquote, urlsplit

from misstep.benchmarks.forge.repository.program import PATIENCE, environment, find_git
from misstep.benchmarks.forge.rest.application import Request, Response
from misstep.benchmarks.forge.rest.auth import Visitor
from misstep.benchmarks.forge.serving.pushing import objections

WRITES = "git-receive-pack"
ASKS = {"WWW-Authenticate": 'Basic realm="GitHub"', "Content-Type": "text/plain"}
SAID = ("content-type", "cache-control", "expires", "pragma")  # headers that are passed on


def speaks_git(target: str, full_name: str) -> str | None:
    """The part of the path below the repository, if the request is one of git's own."""
    path = unquote(urlsplit(target).path)
    for start in (f"/{full_name}.git/", f"/{full_name}/"):
        if path.lower().startswith(start.lower()):
            rest = path[len(start) :]
            return rest if rest in ("info/refs", "git-upload-pack", WRITES) else None
    return None


def serve_git(folder: Path, rest: str, request: Request, visitor: Visitor, private: bool) -> Response:
    """Clone and fetch for those who may read, push for those who may write."""
    query = urlsplit(request.target).query
    writes = rest == WRITES or WRITES in query
    if (writes and visitor.kind not in ("user", "installation")) or (private and not visitor.may_see):
        if visitor.kind == "nobody":
            return Response(401, ASKS, b"Authentication required\n")
        return Response(403, {"Content-Type": "text/plain"}, b"Permission denied\n")
    if not query and rest == "info/refs":
        return Response(403, {"Content-Type": "text/plain"}, b"Please upgrade your git client.\n")
    variables = {
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{rest}",
        "QUERY_STRING": query,
        "REQUEST_METHOD": request.method,
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        "REMOTE_ADDR": "127.0.0.1",
        **({"REMOTE_USER": visitor.kind} if writes else {}),
    }
    if any("\0" in value for value in variables.values()):
        return Response(400, {"Content-Type": "text/plain"}, b"Bad request\n")
    if rest == WRITES and variables["HTTP_CONTENT_ENCODING"]:
        return Response(415, {"Content-Type": "text/plain"}, b"A push has to be sent as it is\n")
    if rest == WRITES and (report := objections(request.body)):
        return Response(200, {"Content-Type": f"application/x-{WRITES}-result"}, report)
    return _answered(variables, request.body)


def _answered(variables: dict[str, str], body: bytes) -> Response:
    try:
        done = subprocess.run(
            [find_git(), "http-backend"],
            input=body,
            capture_output=True,
            env=environment() | variables,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Response(504, {"Content-Type": "text/plain"}, b"git took too long\n")
    if done.returncode and done.stdout.endswith(b"\r\n\r\n"):  # it has begun to answer, and given up
        return Response(400, {"Content-Type": "text/plain"}, b"This is not git's protocol\n")
    head, _, data = done.stdout.partition(b"\r\n\r\n")
    lines = (line.partition(": ") for line in head.decode("latin-1").split("\r\n"))
    headers = {name.lower(): value for name, _, value in lines}
    status = int(headers.get("status", "200").split()[0]) if head else 500
    return Response(status, {name: headers[name] for name in SAID if name in headers}, data)
