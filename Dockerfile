# The server without PostgreSQL: DATABASE_URL and JWT_PRIVATE_KEY_FILE are required (docker-compose.yml sets them).

FROM rust:1.95-slim-bookworm AS build
# The allocator, jemalloc, is built with make.
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# What the server says of itself: docker build --build-arg MANCALA_COMMIT=$(git rev-parse HEAD)
ARG MANCALA_COMMIT
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --release --locked --bin mancala-server \
    && cp target/release/mancala-server /usr/local/bin/

FROM debian:bookworm-slim
# openssl makes signing keys: see the service `key` of docker-compose.yml.
RUN apt-get update \
    && apt-get install -y --no-install-recommends openssl \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin mancala
COPY --from=build /usr/local/bin/mancala-server /usr/local/bin/
USER 10001:10001
ENV LISTEN=0.0.0.0:8080
EXPOSE 8080
# /livez, because a restart does not help where only the database is away. The image has no HTTP client, but bash can open a connection.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /livez HTTP/1.0\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["mancala-server"]
