"""LangChain's file tools, for the folder in which they start."""

from pathlib import Path

from langchain_community.agent_toolkits import FileManagementToolkit

Path("docs").mkdir(exist_ok=True)
Path("docs/guide.txt").write_text("how to\n", encoding="utf-8")
Path("notes.txt").write_text("buy milk\n", encoding="utf-8")
if not Path("loop").is_symlink():
    Path("loop").symlink_to("loop")

tools = FileManagementToolkit(root_dir=".").get_tools()
tools[-1].invoke({})  # the first call imports much of LangChain: once here, or in every process that calls
