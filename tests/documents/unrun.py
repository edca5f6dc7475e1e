"""What no test of documents carries out, each with its reason. Whatever is not on this list is carried out."""

OTHERS, NEIGHBOURS = "docs/how-to/other-agents.md", "docs/reference/neighbours.md"
DOCKER, RUN = "docs/how-to/docker.md", "docker run --rm"
BENCHMARKS, FORGE = "docs/reference/benchmarks.md", "docs/reference/forge.md"
TABLE_2 = "misstep bench files --agent react --model openai/gpt-4o --tools langchain"
SOLVER = "--model anthropic/claude-sonnet-4-0 --solver my_agent.py"

UNRUN = {
    (
        "docs/how-to/mcp-server.md",
        "misstep verify last/FINDING --against fixed.py",
    ): "FINDING stands for an id: tests/features/tool_fuzz/test_verify.py runs the same",
    (
        "CONTRIBUTING.md",
        ".venv/bin/python -m pytest tests/planning/judging",
    ): "tests within a test; CI runs them all",
    ("CONTRIBUTING.md", "UPDATE_SNAPSHOTS=1 .venv/bin/python -m pytest tests"): "it would rewrite snapshots",
    (OTHERS, "python -m venv .venv-crewai"): "CrewAI has a pinned environment: tests/adapters/test_crewai.py",
    (
        OTHERS,
        "misstep plan test --agent crew.py:make_agent --python .venv-crewai/bin/python",
    ): "the same, tests/conformance/subject_crewai.py",
    (
        OTHERS,
        "misstep plan test --agent 'mcp:my-client --mcp-config {config} --prompt {request}'",
    ): "a client of the reader's own: tests/adapters/mcp/test_agent.py has one",
    (
        "docs/how-to/local-model.md",
        "misstep plan test --agent tools --model ollama/llama3 --count 50",
    ): "needs Ollama; the line below it is the same on an address that a script serves",
    (
        DOCKER,
        "docker build --tag misstep .",
    ): "needs Docker: tests/packaging/test_dockerfile.py runs its steps",
    (DOCKER, f"{RUN} misstep plan test --agent sim:greedy --count 20"): "the same",
    (
        DOCKER,
        f'{RUN} --user "$(id -u):$(id -g)" -v "$PWD:/project" -e OPENAI_API_KEY misstep plan test --agent agent.py:agent',
    ): "the same",
    (
        DOCKER,
        f'{RUN} -v "$PWD:/project" --security-opt seccomp=unconfined --security-opt systempaths=unconfined '
        "misstep tool fuzz 'mcp:python server.py'",
    ): "the same",
    (
        DOCKER,
        f'{RUN} --network none -v "$PWD:/project:ro" -w /tmp misstep tool fuzz /project/shop.py:unit_price --sandbox none',
    ): "the same",
    (
        BENCHMARKS,
        TABLE_2,
    ): "234 tasks, and LangChain's tools: tests/features/bench/test_other_descriptions.py",
    (BENCHMARKS, f"{TABLE_2} --descriptions words.toml"): "the same",
    (BENCHMARKS, "misstep compare RUN RUN"): "the same",
    (
        FORGE,
        "misstep bench forge --agent tools --model openai/gpt-4o",
    ): "a model that can do it: tests/features/bench/test_command_forge.py does tasks with one that has a script",
    (
        FORGE,
        "misstep bench forge --agent react --model openai/gpt-4o --tools langchain",
    ): "needs LangChain's toolkit: tests/third_party/test_bench_tools.py",
    (
        NEIGHBOURS,
        "misstep export last --format inspect --out logs/run.eval",
    ): "Inspect has a pinned environment: tests/interop/test_inspect.py",
    (NEIGHBOURS, "inspect view --log-dir logs"): "the same, and it stays until it is stopped",
    (
        NEIGHBOURS,
        "inspect eval misstep/planning -T actions=3-5 -T count=20 --model openai/gpt-4o",
    ): "Inspect has a pinned environment: tests/interop/test_inspect.py",
    (
        NEIGHBOURS,
        f"inspect eval misstep/planning -T family=order,time -T distractors=2 {SOLVER}",
    ): "the same",
}
