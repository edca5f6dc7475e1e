"""LangChain's shell and its Python, which do whatever they are told."""

import warnings

from langchain_community.tools import ShellTool
from langchain_experimental.tools.python.tool import PythonAstREPLTool, PythonREPLTool

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of itself
    tools = [ShellTool(), PythonREPLTool(), PythonAstREPLTool()]
