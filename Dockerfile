# MLaut with its dependencies; the entry point is the command `mlaut`.
#   docker build -t mlaut .
#   docker run --rm -v "$PWD/work:/work" mlaut run study.toml
# Extras, for example networks: --build-arg EXTRAS=parquet,keras
ARG BASE=debian:bookworm-20251229-slim

FROM ${BASE} AS build
# The base is pinned; packages of Debian stable only get security updates, which are wanted.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY setup.py pyproject.toml README.md LICENSE /src/
COPY mlaut /src/mlaut
ARG EXTRAS=parquet
RUN python3 -m venv /opt/mlaut \
 && /opt/mlaut/bin/pip install --no-cache-dir "/src[${EXTRAS}]"

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 libgomp1 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 mlaut \
 && install -d -o mlaut -g mlaut /work
COPY --from=build /opt/mlaut /opt/mlaut
ENV PATH=/opt/mlaut/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib PYTHONUNBUFFERED=1
USER 1000:1000
WORKDIR /work
VOLUME ["/work"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5m --timeout=30s CMD ["mlaut", "--version"]
ENTRYPOINT ["mlaut"]
CMD ["--help"]
