"""Which statements are lost by tools that run SQL; the tools here run it in SQLite itself."""

import json
import sqlite3
from collections.abc import Callable

import pytest

from misstep.core.agent import Tool
from misstep.core.results.trial import Judged
from misstep.core.tool import Described, Invocation, Reaction
from misstep.fuzzing.contracts import sql
from misstep.fuzzing.contracts.checks import judge_sequences_of
from misstep.fuzzing.contracts.steps import Toolkit, call_of

Run = Callable[[sqlite3.Connection, str], str]


def described(name: str, words: str) -> Described:
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    return Described(Tool(name, words, schema), "mcp")


WRITE = described("write_query", "Execute an INSERT, UPDATE or DELETE statement.")
READ = described("read_query", "Execute a SELECT query.")
CREATE = described("create_table", "Create a new table.")


def everything(connection: sqlite3.Connection, statement: str) -> str:
    rows = connection.execute(statement).fetchall()
    connection.commit()
    return repr(rows)


def only_known_words(connection: sqlite3.Connection, statement: str) -> str:
    """Commits only after statements that begin with a known word, as mcp-server-sqlite does."""
    rows = connection.execute(statement).fetchall()
    is_known = statement.strip().upper().startswith(("INSERT", "UPDATE", "DELETE", "CREATE"))
    (connection.commit if is_known else connection.rollback)()
    return repr(rows)


def judged(run: Run, tools: list[Described]) -> list[Judged]:
    """The rulings on all experiments that break a contract, on a new database each."""
    kit = Toolkit({tool.name: tool for tool in tools}, {})
    rule, found = judge_sequences_of(tools), list[Judged]()
    for calls in sql.experiments(kit):
        connection = sqlite3.connect(":memory:")
        found.append(rule(calls, [react(run, connection, call) for call in calls]))
        connection.close()
    return [each for each in found if each.ruling == "contract"]


def react(run: Run, connection: sqlite3.Connection, call: Invocation) -> Reaction:
    try:
        text = run(connection, json.loads(call.arguments)["query"])
    except sqlite3.Error as error:
        return Reaction("returned", text=str(error), size=len(str(error)), flagged=True)
    return Reaction("returned", text=text, size=len(text))


@pytest.mark.parametrize("tools", [[WRITE, READ, CREATE], [READ, WRITE], [described("query", "Run SQL.")]])
def test_a_tool_that_runs_what_it_is_given_breaks_nothing(tools: list[Described]) -> None:
    assert judged(everything, tools) == []


def test_statements_that_are_not_committed_are_found() -> None:
    found = judged(only_known_words, [WRITE, READ, CREATE])
    lost = [
        statement
        for statement in sql.WRITES
        if any(repr(statement.strip()) in each.message for each in found)
    ]
    begins = [statement.split()[0] for statement in lost]
    assert begins == ["REPLACE", "--", "/*"]  # Python's sqlite3 commits WITH by itself
    assert {each.tool for each in found} == {"write_query"}
    assert {each.why for each in found} == {'it promises "Execute an INSERT, UPDATE or DELETE statement."'}


def test_findings_that_looked_for_all_words_are_judged_as_before() -> None:
    tools = [WRITE, READ, CREATE]
    rule, connection = judge_sequences_of(tools), sqlite3.connect(":memory:")
    make, control, _, write, _ = next(sql.experiments(Toolkit({tool.name: tool for tool in tools}, {})))
    look = call_of(READ.name, {"query": "SELECT word FROM misstep_words"})
    calls = [make, control, look, write, look]
    assert rule(calls, [react(only_known_words, connection, call) for call in calls]).ruling == "contract"


def test_tools_may_limit_their_rows() -> None:
    tools, shared = [WRITE, READ, CREATE], sqlite3.connect(":memory:")
    rule, before = judge_sequences_of(tools), list[Invocation]()

    def ten_rows(connection: sqlite3.Connection, statement: str) -> str:
        rows = connection.execute(statement).fetchmany(10)
        connection.commit()
        return repr(rows)

    for calls in sql.experiments(Toolkit({tool.name: tool for tool in tools}, {})):
        before += calls  # as when a breach is repeated after the calls before it
        assert rule(calls, [react(ten_rows, shared, call) for call in calls]).ruling == "fine"
    again = sqlite3.connect(":memory:")
    assert rule(before, [react(ten_rows, again, call) for call in before]).ruling == "fine"


def test_tools_that_fail_the_control_are_not_judged() -> None:
    assert judged(lambda *_: "[]", [WRITE, READ, CREATE]) == []


def test_tools_that_do_not_run_sql_are_left_alone() -> None:
    search = described("search", "Find pages by words.")
    assert list(sql.experiments(Toolkit({"search": search}, {}))) == []
