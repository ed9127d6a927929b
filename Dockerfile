# The image of epitome: one program and the certificates that it trusts. docker, podman and buildah build it: make image.
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /epitome . && make licences && mkdir -m 700 /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/LICENSE /src/build/LICENSES.txt /licenses/
COPY --from=build /epitome /epitome
# A new volume takes its owner from here.
COPY --from=build --chown=65532:65532 /data /data
# A configuration lies in /etc/epitome/config.toml, if there is one; all that is written lies below /data.
ENV HOME=/data XDG_CONFIG_HOME=/etc XDG_DATA_HOME=/data TMPDIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 7070
HEALTHCHECK --interval=30s --timeout=5s --start-period=5s CMD ["/epitome", "check", "--running"]
ENTRYPOINT ["/epitome"]
CMD ["serve", "--listen", "0.0.0.0:7070"]
