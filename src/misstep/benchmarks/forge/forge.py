"""A forge that runs on this machine inside a `with` block, and snapshots of its state."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from misstep.benchmarks.forge.git import HEADS
from misstep.benchmarks.forge.repository import Repository, require_sound, seed
from misstep.benchmarks.forge.rest.application import Application, HttpRequest, Response
from misstep.benchmarks.forge.rest.call import Keys, RestRefusal
from misstep.benchmarks.forge.rest.signatures import read_public_key
from misstep.benchmarks.forge.rest.views import Views
from misstep.benchmarks.forge.server import ASKS, ForgeServer, serve_git, speaks_git
from misstep.benchmarks.forge.state import ForgeRecords, Project, State, our_project
from misstep.benchmarks.tree import Content
from misstep.errors import UsageError


def survey(repository: Repository, records: ForgeRecords) -> State:
    """The whole state as a value; nothing may change while it is read."""
    refs, known = repository.refs(), dict[str, Content]()
    branches = {name.removeprefix(HEADS): sha for name, sha in refs.items() if name.startswith(HEADS)}
    return State(
        {name: repository.branch(sha, known) for name, sha in branches.items()},
        dict(records.threads),
        tuple(records.labels.values()),
        {name: sha for name, sha in refs.items() if not name.startswith(HEADS)},
        repository.parents(),
    )


class Forge:
    """Serves one repository at `url` while its `with` block runs.

    `token` may do everything, `read_token` may read. `app_key` is an app's public key, in PEM: requests
    signed with the private key get tokens of their own. A `private` repository is hidden from everybody else.
    The repository is created in `folder`, or in a temporary folder; an existing one has to be valid, and is
    served as it is. Port 0 takes a free one.
    """

    def __init__(
        self,
        folder: Path | None = None,
        port: int = 0,
        private: bool = False,
        app_key: str = "",
        project: Project | None = None,
    ) -> None:
        self.project = project or our_project()
        self.repository = self.project.full_name  # owner and name
        self.private = private
        self._folder, self._port = folder, port
        self._keys = Keys(read_public_key(app_key) if app_key else None)
        self.token, self.read_token = self._keys.write, self._keys.read
        self._server: ForgeServer | None = None

    @property
    def url(self) -> str:
        return self._running().url

    @property
    def clone_url(self) -> str:
        return f"{self.url}/{self.repository}.git"

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables by which tools find the forge."""
        return {
            "MISSTEP_FORGE_URL": self.url,
            "MISSTEP_FORGE_TOKEN": self.token,
            "MISSTEP_FORGE_REPOSITORY": self.repository,
        }

    @property
    def errors(self) -> list[Exception]:
        """Exceptions in the forge's own code, which clients saw as 500."""
        return list(self._running().errors)

    def state(self) -> State:
        self._running()
        with self._application.lock:
            return survey(self._git, self._records)

    def reset(self) -> None:
        self._running()
        with self._application.lock:
            self._git.restore(self._refs)
            self._records.reset()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = self._folder
            if folder is None:
                made = TemporaryDirectory(prefix="misstep-forge-", ignore_cleanup_errors=True)
                folder = Path(stack.enter_context(made))
            self._open(folder)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        server, self._server = self._running(), None
        server.stop()
        with self._application.lock:
            self._git.close()
        self._stack.close()

    def _open(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            require_sound(folder, self.project.default)
        else:
            seed(folder, self.project)
        self._git = Repository(folder)
        self._refs = self._git.refs()
        self._records = ForgeRecords(self.project)
        server = ForgeServer(self._port)
        views = Views(server.url, self.project, self._git, self._records, self.private)
        self._application = Application(views, self._keys)
        server.start(self._answer)
        self._server = server

    def _answer(self, request: HttpRequest) -> Response:
        rest = speaks_git(request.target, self.repository)
        if rest is None:
            return self._application.answer(request)
        try:
            visitor = self._keys.visitor(request.headers.get("authorization"))
        except RestRefusal:
            return Response(401, ASKS, b"Bad credentials\n")
        return serve_git(self._git.folder, rest, request, visitor, self.private)

    def _running(self) -> ForgeServer:
        if self._server is None:
            raise UsageError("the forge is not running", "use it within its `with` block")
        return self._server
