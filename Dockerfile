# syntax=docker/dockerfile:1
# Two stages: the first builds the wheel with its database, the second holds nothing but what runs.
# The owner pins the base: --build-arg PYTHON_IMAGE=python:3.13-slim@sha256:<digest of the image>
ARG PYTHON_IMAGE=python:3.13-slim

FROM ${PYTHON_IMAGE} AS build
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --wheel-dir /wheels '.[serve]'

FROM ${PYTHON_IMAGE}
ARG SOURCE_REVISION=UNKNOWN
LABEL org.opencontainers.image.title="SZL Second Brain" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${SOURCE_REVISION}"
# Bytecode is written when the image is built: its file system may be read-only when it runs.
# The version is that of the wheel just built: no index is asked.
# hadolint ignore=DL3013
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir --no-index --compile --find-links /wheels 'szl-second-brain[serve]'
ENV PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SECOND_BRAIN_HOST=0.0.0.0 \
    SECOND_BRAIN_PORT=7860 \
    SECOND_BRAIN_SOURCE_REVISION=${SOURCE_REVISION}
# A number, so that a platform that refuses root can see that this is none; no home, nothing to write.
USER 10001:10001
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/readyz', timeout=2)"]
CMD ["secondbrain", "serve"]
