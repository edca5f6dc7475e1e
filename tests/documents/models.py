"""Which model speaks on which page; all of them have a script."""

from tests.documents.shop_model import shopper
from tests.features.consistency.two_roads import two_roads
from tests.features.crosstalk.grouped_tools import GOOD, eager
from tests.features.repair.test_run import GOOD_RELATIONS, GOOD_TOOLS, scripted
from tests.fuzzing.agent_tests.scripted_roles import plays
from tests.quality.test_fixing import HELPFUL, serving
from tests.scripted import ScriptedServer


def model_of(page: str) -> ScriptedServer:
    """A server for the models of a page. Where nothing else is said, its model calls tools as they are offered."""
    match page:
        case "docs/how-to/same-meaning.md" | "docs/how-to/label.md":
            return ScriptedServer(two_roads())
        case "docs/how-to/fuzz-through-agent.md":
            return ScriptedServer(shopper())
        case "docs/how-to/fix-documentation.md":
            return serving(HELPFUL).server
        case "docs/how-to/which-tool.md":
            return ScriptedServer(plays(GOOD, eager))
        case "docs/how-to/repair.md":
            return ScriptedServer(scripted([GOOD_RELATIONS], [GOOD_TOOLS]))
        case _:
            return ScriptedServer()
