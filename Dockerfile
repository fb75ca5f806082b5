# MLaut with its dependencies; the entry point is the command `mlaut`.
#   docker build -t mlaut .
#   docker run --rm -v "$PWD/work:/work" mlaut run study.toml
# Extras (default: cluster, that is Dask): --build-arg EXTRAS=cluster,keras -t mlaut:keras adds networks with jax,
# EXTRAS=cluster,parquet tables in Parquet.
# The newest versions of the dependencies: --build-arg CONSTRAINTS=/dev/null
# Behind a proxy with a certificate of its own: --secret id=certificate,src=proxy.pem
ARG BASE=debian:bookworm-20251229-slim

FROM ${BASE} AS build
# The base is pinned; packages of Debian stable only get security updates, which are wanted.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY setup.py pyproject.toml README.md LICENSE docker/constraints.txt /src/
COPY mlaut /src/mlaut
COPY plugins/dask /src/plugins/dask
COPY plugins/exchange /src/plugins/exchange
COPY plugins/races /src/plugins/races
COPY plugins/sharing /src/plugins/sharing
ARG EXTRAS=cluster
ARG CONSTRAINTS=/src/constraints.txt
# pip builds in an isolated environment by default, for which it ignores certificates and constraints;
# so setuptools is installed first, and pip builds here.
RUN --mount=type=secret,id=certificate \
    if [ -f /run/secrets/certificate ]; then export PIP_CERT=/run/secrets/certificate; fi \
 && python3 -m venv /opt/mlaut \
 && /opt/mlaut/bin/pip install --no-cache-dir -c "${CONSTRAINTS}" setuptools wheel \
 && /opt/mlaut/bin/pip install --no-cache-dir -c "${CONSTRAINTS}" --no-build-isolation "/src[${EXTRAS}]" /src/plugins/dask /src/plugins/exchange /src/plugins/races /src/plugins/sharing \
 && /opt/mlaut/bin/pip uninstall --yes pip wheel \
 && find /opt/mlaut -depth -type d -name tests -exec rm -r {} +
# What is left out above is needed by no run: the tests of packages (150 MB) and pip. Compiled modules stay,
# because the user of the image could not write them, and each start would compile all again.

FROM ${BASE}
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 libgomp1 \
 && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 mlaut \
 && install -d -o mlaut -g mlaut /work
COPY --from=build /opt/mlaut /opt/mlaut
COPY docker/health.sh /opt/mlaut/bin/
ENV PATH=/opt/mlaut/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib PYTHONUNBUFFERED=1
USER 1000:1000
WORKDIR /work
VOLUME ["/work"]
STOPSIGNAL SIGTERM
# A run first loads its datasets, which shows no progress yet.
HEALTHCHECK --interval=5m --timeout=30s --start-period=30m CMD ["health.sh"]
ENTRYPOINT ["mlaut"]
CMD ["--help"]
