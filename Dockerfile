# The formwork server: a build stage, and an image of the binary and the programs it starts, run by nobody in particular.
#
#   docker build -t formwork .
#   docker run --rm -p 8080:8080 -v formwork:/var/lib/formwork formwork serve --registry NAME=URL
#
# docs/containers.md says what is in it and why.

FROM rust:1.95-slim-bookworm AS build
# A C compiler, for SQLite and ring; nothing else.
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# The caches live outside the image's layers; the binary is copied out of them.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/source/target \
    cargo build --locked --release --package cli \
 && install -D -m 755 target/release/formwork /out/formwork

FROM debian:bookworm-slim
# git fetches file:// sources, ssh fetches ssh://; https is the binary's own, and needs the certificates.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git openssh-client \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --create-home --home-dir /var/lib/formwork --shell /usr/sbin/nologin formwork
COPY --from=build /out/formwork /usr/local/bin/formwork
USER formwork
WORKDIR /var/lib/formwork
ENV FORMWORK_LISTEN=0.0.0.0:8080 \
    FORMWORK_DATA=/var/lib/formwork/data
VOLUME /var/lib/formwork
EXPOSE 8080
# The shell opens the connection itself: the image has no other client, and needs none.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["formwork"]
CMD ["serve"]
