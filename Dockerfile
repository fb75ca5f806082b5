# MLaut with its dependencies; the entry point is the command `mlaut`.
#   docker build -t mlaut .
#   docker run -v "$PWD/work:/work" mlaut run study.toml
FROM debian:bookworm-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY setup.py pyproject.toml README.md LICENSE /src/
COPY mlaut /src/mlaut
ARG EXTRAS=parquet
RUN python3 -m venv /opt/mlaut \
 && /opt/mlaut/bin/pip install --no-cache-dir "/src[${EXTRAS}]"

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 libgomp1 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 mlaut \
 && install -d -o mlaut -g mlaut /work
COPY --from=build /opt/mlaut /opt/mlaut
ENV PATH=/opt/mlaut/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib PYTHONUNBUFFERED=1
USER mlaut
WORKDIR /work
VOLUME ["/work"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5m --timeout=30s CMD ["mlaut", "--version"]
ENTRYPOINT ["mlaut"]
CMD ["--help"]
