"""Takes down what a forge holds at one moment."""

from misstep.benchmarks.forge.ledger import Ledger
from misstep.benchmarks.forge.repository.names import HEADS
from misstep.benchmarks.forge.repository.repository import Repository
from misstep.benchmarks.forge.state import Branch, State
from misstep.benchmarks.tree import Content


def survey(repository: Repository, ledger: Ledger) -> State:
    """Everything, as a value; nothing may change meanwhile."""
    refs, known = repository.refs(), dict[str, Content]()
    return State(
        {
            name.removeprefix(HEADS): _branch(repository, sha, known)
            for name, sha in refs.items()
            if name.startswith(HEADS)
        },
        dict(ledger.threads),
        tuple(ledger.labels.values()),
        {name: sha for name, sha in refs.items() if not name.startswith(HEADS)},
        repository.parents(),
    )


def _branch(repository: Repository, tip: str, known: dict[str, Content]) -> Branch:
    tree = repository.objects.commit(tip).tree
    return Branch(repository.files(tree, known), tip, repository.executable(tree))
