# misstep with everything that tests of tools need: docker build --tag misstep .
# docs/how-to/docker.md says how to run it, and what the sandbox needs.

FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap git \
    && rm -rf /var/lib/apt/lists/*
COPY constraints.txt /wheels/
COPY --from=build /wheels/ /wheels/
RUN pip install --no-cache-dir --constraint /wheels/constraints.txt \
    "$(echo /wheels/misstep-*.whl)[anthropic,fuzz,mcp,openai,web]"
RUN useradd --create-home misstep && mkdir /project && chown misstep /project
USER misstep
WORKDIR /project
ENTRYPOINT ["misstep"]
CMD ["--help"]
