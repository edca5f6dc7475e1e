"""LangChain's GitHub toolkit, connected to a forge."""

import os
from typing import Any

from misstep.errors import MissingExtra


def github_tools() -> list[Any]:
    """All tools of the toolkit, with a token instead of an app: LangChain's apps work on github.com only."""
    try:
        from github import Auth, Github
        from langchain_community.agent_toolkits.github.toolkit import GitHubToolkit
        from langchain_community.utilities.github import GitHubAPIWrapper
    except ImportError as error:
        raise MissingExtra(f"LangChain's toolkit for GitHub ({error.name})", "forge") from None
    name = os.environ["MISSTEP_FORGE_REPOSITORY"]
    github = Github(
        base_url=os.environ["MISSTEP_FORGE_URL"],
        auth=Auth.Token(os.environ["MISSTEP_FORGE_TOKEN"]),
        seconds_between_requests=None,
        seconds_between_writes=None,
    )
    repository = github.get_repo(name)
    github.close()  # it reopens when needed; forked processes must not share a connection
    wrapper = GitHubAPIWrapper.model_construct(
        github=github,
        github_repo_instance=repository,
        github_repository=name,
        active_branch=repository.default_branch,
        github_base_branch=repository.default_branch,
    )
    return list(GitHubToolkit.from_github_api_wrapper(wrapper).get_tools())
