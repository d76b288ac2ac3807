# syntax=docker/dockerfile:1
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/footnote
COPY requirements.txt .
RUN /opt/footnote/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY adapters adapters
COPY retrieval retrieval
COPY bot bot
COPY examples examples
# The project itself has no dependency left to fetch; its build backend is the one thing not pinned here.
RUN /opt/footnote/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 footnote && mkdir /data && chown footnote /data
COPY --from=build /opt/footnote /opt/footnote
ENV PATH=/opt/footnote/bin:$PATH DATA_DIR=/data HOST=0.0.0.0 PORT=8080 LOG_FORMAT=json PYTHONUNBUFFERED=1 \
    ORT_DISABLE_TELEMETRY=1
USER footnote
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/health', timeout=4)"]
ENTRYPOINT ["kb"]
CMD ["serve"]
