"""Runs in an environment with LangChain's tools: calls what it is told to, line by line."""

import json
import sys
import types
from typing import Any

# Counts tokens with a table from the internet; how many there are does not matter here.
tiktoken: Any = types.ModuleType("tiktoken")
tiktoken.get_encoding = lambda name: types.SimpleNamespace(encode=str.split)
sys.modules["tiktoken"] = tiktoken

from misstep.benchmarks.forge.toolkit import github_tools  # noqa: E402


def main() -> None:
    tools = github_tools()
    print(json.dumps([tool.name for tool in tools]), flush=True)
    for line in sys.stdin:
        name, given = json.loads(line)
        if name == "start over":
            tools = github_tools()
            print(json.dumps(None), flush=True)
            continue
        tool = next(each for each in tools if each.name == name)
        print(json.dumps(tool.invoke(given)), flush=True)


if __name__ == "__main__":
    main()
