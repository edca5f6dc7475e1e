"""Composio's actions that need nothing but this machine, for the folder in which they start."""

import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy.exc  # noqa: F401  # an action does so when it is called, in every process anew
from composio.tools.local.filetool.tool import Filetool
from composio.tools.local.mathematical.tool import Mathematical
from composio.tools.local.shelltool.tool import Shelltool
from composio.tools.local.sqltool.tool import Sqltool

Path("notes.txt").write_text("buy milk\n", encoding="utf-8")
with closing(sqlite3.connect("shop.db")) as shop:
    shop.execute("CREATE TABLE IF NOT EXISTS items (name TEXT, price REAL)")

tools = [kind() for kit in (Filetool, Mathematical, Shelltool, Sqltool) for kind in kit.actions()]
