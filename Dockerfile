# The image of the server; docs/containers.md says how to run it. It may be made of another image with Node.js 24 and npm.
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BASE_IMAGE} AS build
WORKDIR /build
# Before everything else, so that it is downloaded anew only when these files change.
COPY pnpm-lock.yaml pnpm-workspace.yaml ./
RUN npx -y pnpm@12.21.0 fetch --ignore-scripts
COPY . .
RUN npx -y pnpm@12.21.0 install --offline --frozen-lockfile --ignore-scripts \
    && node scripts/build-packages.ts packages/holdfast \
    && node packages/web/build/build-page.ts \
    && npx -y pnpm@12.21.0 --filter holdfast deploy --prod --offline \
        --config.inject-workspace-packages=true /image/usr/local/lib/holdfast
# There is no /usr/bin/env to find Node.js with, and its program is all that is needed of it.
RUN cd /image/usr/local \
    && sed -i '1s|^#!.*|#!/usr/local/bin/node|' lib/holdfast/bin/holdfast.js \
    && mkdir bin \
    && cp "$(command -v node)" bin/node \
    && ln -s ../lib/holdfast/bin/holdfast.js bin/holdfast \
    && mkdir -p /state/holdfast \
    && chmod 700 /state/holdfast
# The libraries that Node.js is linked with, as the loader finds them. They look for hosts in /etc/hosts first if they are told to.
RUN LD_TRACE_LOADED_OBJECTS=1 node | grep -o '/[^ ]*' | xargs cp -L --parents -t /image \
    && mkdir /image/etc \
    && echo 'hosts: files dns' > /image/etc/nsswitch.conf \
    && mkdir -m 1777 /image/tmp

FROM scratch
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /state /var/lib
# Nobody's. A directory of the host has to be given to it: chown 65532:65532.
USER 65532:65532
# The customers file, and the files of the disk store in ./data.
WORKDIR /var/lib/holdfast
VOLUME /var/lib/holdfast
ENV HOLDFAST_HOST=0.0.0.0 HOLDFAST_ADMIN_PORT=3001
EXPOSE 3000
# Whether it answers, and not whether it is ready: a container that is replaced for a full disk would not find more room.
HEALTHCHECK --interval=10s --timeout=5s CMD ["node", "-e", "http.get(`http://127.0.0.1:${process.env.HOLDFAST_ADMIN_PORT}/live`, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["holdfast"]
CMD ["serve"]
