"""LangChain's tools for looking around in JSON."""

from langchain_community.tools.json.tool import JsonGetValueTool, JsonListKeysTool, JsonSpec

SPEC = JsonSpec(
    dict_={
        "info": {"title": "Shop", "version": "1.0", "contact": {}},
        "paths": {"/items": {"get": {"tags": ["items"], "parameters": []}}},
        "servers": [{"url": "https://shop.example", "weight": 1}],
    },
    max_value_length=200,
)

tools = [JsonListKeysTool(spec=SPEC), JsonGetValueTool(spec=SPEC)]
tools[0].invoke("data")  # the first call imports much of LangChain: once here, or in every process that calls
