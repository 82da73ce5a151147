# A Seriatim server in a container: no root, nothing written outside of /data, DynamoDB Local's flags understood.
#
#   docker build --tag seriatim .
#   docker run --read-only --volume data:/data --publish 127.0.0.1:8000:8000 seriatim
ARG NODE_VERSION=24

FROM node:${NODE_VERSION}-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src ./src
COPY console ./console
COPY scripts/bundle.mjs scripts/console.mjs scripts/code-lines.mjs scripts/declarations.mjs ./scripts/
RUN npm run build && npm run bundle
# The driver of fleets is an optional peer, which the next step would take away.
RUN mkdir /driver && cp -R node_modules/cassandra-driver node_modules/adm-zip node_modules/long /driver
RUN npm prune --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund
RUN cp -R /driver/. node_modules

FROM node:${NODE_VERSION}-bookworm-slim
LABEL org.opencontainers.image.title="Seriatim" \
      org.opencontainers.image.description="ACID transactions for DynamoDB-shaped data" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
COPY --from=build /build/package.json /seriatim/package.json
COPY --from=build /build/node_modules /seriatim/node_modules
COPY --from=build /build/lib /seriatim/lib
COPY LICENSE /seriatim/LICENSE
COPY --chmod=755 docker/entrypoint.sh /usr/local/bin/seriatim-container
# /home/dynamodblocal/data is where compose files for DynamoDB Local keep their data (-dbPath ./data).
RUN ln -s /seriatim/lib/main.js /usr/local/bin/seriatim \
    && install --directory --owner=node --group=node --mode=700 /data /home/dynamodblocal/data
WORKDIR /home/dynamodblocal
# The user node, by number: some orchestrators must see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 8000
# With another port or TLS, say where to ask: --env SERIATIM_HEALTH_ENDPOINT=https://localhost:8000
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s --retries=3 \
    CMD seriatim health --endpoint "${SERIATIM_HEALTH_ENDPOINT:-http://127.0.0.1:8000}"
ENTRYPOINT ["seriatim-container"]
