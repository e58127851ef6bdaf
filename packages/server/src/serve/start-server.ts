import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { createFileService, createLinkBrake, createLoginBrake } from '@holdfast/core'
import {
  createApp,
  createDrain,
  createHttpServer,
  createHttpsServer,
  replaceCertificate,
  type HttpServerOptions,
} from '@holdfast/http-koa'
import type { Logger } from 'pino'
import { openAuditTrail } from '../audit/open-audit-trail.ts'
import type { Config } from '../config/resolve-config.ts'
import {
  checkProxies,
  explainListening,
  listeningUrl,
  connectionsWithin,
  limitConnections,
  openFilesLimit,
} from '../listen.ts'
import { loginBrakeOptions } from '../login-failure-counter.ts'
import {
  openSharedServices,
  type SharedServices,
  createCloseStack,
} from './open-shared-services.ts'
import { checkKeeping, type KeepingCheck, openStore } from '../stores/open-store.ts'
import { openEvents } from '../events/open-events.ts'
import type { Webhooks } from '../events/open-webhooks.ts'
import { guardSpace } from './guard-space.ts'
import { sweepFiles, sweepKept, sweepUploads } from './sweeps.ts'
import { noWatch, type ServerWatch, type ServerStatus } from './server-watch.ts'
import type { CertificateSource } from '../tls/open-certificate.ts'

export interface RunningServer {
  /** The URL at which it listens, such as `http://127.0.0.1:3000`, or `https://…` with a certificate. */
  readonly url: string
  readonly status: ServerStatus
  /**
   * Reads the customers file and the certificate again, and opens the audit trail again. Resolves with `false` if one of them was
   * refused, so that the old one stays in use.
   */
  reload(): Promise<boolean>
  /**
   * Accepts no more connections, waits for the requests under way until the grace time ends, then cuts them, and closes the store.
   * Resolves with `true` if nothing had to be cut. When `cut` aborts, the grace time ends at once.
   */
  close(cut?: AbortSignal): Promise<boolean>
}

/**
 * Connects the adapters that `config` names with the service, and listens. Only this file and the `open…` files name the adapters.
 * `watch` measures the server. Default: nothing is measured. `openServices` opens the services that this process may share with
 * others, and calls its argument when the customers have changed. Default: it opens its own.
 *
 * @throws SetupError for a mistake that an administrator can correct
 */
export async function startServer(
  config: Config,
  log: Logger,
  watch: ServerWatch = noWatch,
  openServices: (onReloaded: () => void) => Promise<SharedServices> = (onReloaded) =>
    openSharedServices(config, log, onReloaded, watch),
): Promise<RunningServer> {
  const trustedProxies = checkProxies(config)
  const brakeOptions = loginBrakeOptions(config)
  const { open, closeAll } = createCloseStack()
  let keeping: KeepingCheck | undefined
  let events: Webhooks | undefined
  const onReloaded = () => {
    void keeping?.again()
    void events?.followCustomers()
  }
  const services = await open(openServices(onReloaded))
  const { shared } = services
  const { certificate, credentials, verifyPassword, failures } = services
  // If there are several processes, the primary delivers. Opened before the trail: no line may come before it knows the end.
  const { customerWebhooks } = services
  if (customerWebhooks) events = await open(openEvents(config, log, customerWebhooks))
  const trail = await open(openTrail(config, log, watch))
  const store = await open(openStore(config.store, config, log, services))
  const allCredentials = () => services.allCredentials()
  // If there are several processes, the primary checks: a worker that is replaced later must start.
  if (services.writer === undefined) {
    keeping = await open(checkKeeping({ store, config, credentials: allCredentials }, log))
  }
  const keeper = shared && (await open(Promise.resolve(shared.openQuotas(store))))
  const quotas = services.quotas ?? keeper?.keeper
  const { 'max-file-size': maxFileSize, 'upload-expiry': uploadExpiryMs } = config
  const { 'keep-replaced': keepReplacedMs, 'keep-quota': keepQuota } = config
  const service = createFileService({
    store: watch.store(store),
    credentials,
    verifyPassword,
    loginBrake: createLoginBrake({ counter: failures, ...brakeOptions }),
    ...(quotas && { quotas }),
    ...(maxFileSize !== undefined && { maxFileSize }),
    ...(keepReplacedMs !== undefined && { keepReplacedMs }),
    ...(keepQuota !== undefined && { keepQuota }),
    uploadExpiryMs,
    maxUnfinishedUploads: config['max-unfinished-uploads'],
    createSha256: () => createHash('sha256'),
    links: {
      createSignature: (key) => createHmac('sha256', key),
      maxAgeMs: config['max-link-age'],
      brake: createLinkBrake({ counter: services.linkFailures, ...brakeOptions }),
      ...services.links,
    },
  })
  // If there are several processes, the first worker expires, sweeps and watches the disk for all of them.
  const isFirst = (services.writer ?? 0) === 0
  const sweep = { log, credentials: allCredentials, audit: trail?.audit, watch }
  const guard =
    store.history &&
    guardSpace(service, {
      ...sweep,
      freeSpace: isFirst ? store.freeSpace : undefined,
      least: config['min-free-space'],
    })
  await open(Promise.resolve(guard))
  const onAnswered = guard?.onAnswered(watch.onAnswered) ?? watch.onAnswered
  const server = createServer(
    createApp(service, {
      log,
      trustedProxies,
      maxRequests: config['max-requests'],
      maxRequestsPerCustomer: config['max-requests-per-customer'],
      ...(brakeOptions.isExempt && { isExempt: brakeOptions.isExempt }),
      links: !config['no-links'],
      corsOrigins: config['cors-origin'] ?? [],
      resumableDraft: config['resumable-draft'],
      ...(!config['no-web'] && { web: openPage }),
      requestCounters: watch.requestCounters(services.requestCounters),
      ...(watch.onLogin && { onLogin: watch.onLogin }),
      ...(onAnswered && { onAnswered }),
      ...(trail && { audit: trail.audit }),
    }),
    {
      idleTimeoutMs: config['idle-timeout'],
      certificate,
      log,
    },
  )
  const maxConnections = config['max-connections'] ?? (await affordableConnections(config))
  if (maxConnections !== undefined) limitConnections(server, maxConnections, log)
  watch.server(server)
  const drain = createDrain(server)
  try {
    server.listen(config.port, config.host)
    await once(server, 'listening')
  } catch (error) {
    await closeAll()
    throw explainListening(error, config)
  }
  // If there are several processes, the primary sweeps.
  if (store.resumable && services.writer === undefined) {
    await open(Promise.resolve(sweepUploads(service, log, watch)))
  }
  if (isFirst) {
    // Where another worker publishes the same name, it waits for this worker's removal.
    await open(
      Promise.resolve(sweepFiles(service, { ...sweep, find: (name) => credentials.find(name) })),
    )
    const { history } = store
    if (history) await open(Promise.resolve(sweepKept(service, { ...sweep, history })))
  }
  return {
    url: listeningUrl(certificate ? 'https' : 'http', server.address()),
    status: {
      store,
      customers: services.customersState,
      certificate: services.certificateState,
      ...(shared && { shared: () => shared.state() }),
      ...(events && { events }),
    },
    async reload() {
      const taken = await Promise.all([
        services.reload(),
        trail?.reload() ?? true,
        events?.reload() ?? true,
      ])
      return taken.every(Boolean)
    },
    async close(cut) {
      const isClean = await drain(config['shutdown-grace'], cut)
      await closeAll()
      return isClean
    },
  }
}

/** How many connections may be open; `undefined` if the system has no limit, or does not show it. */
async function affordableConnections({ 'max-requests': maxRequests }: Config) {
  const openFiles = await openFilesLimit()
  if (openFiles === undefined || openFiles === Infinity) return undefined
  return connectionsWithin(openFiles, maxRequests)
}

/** Loads the page when a browser asks for it. */
async function openPage() {
  const web = await import('@holdfast/web')
  return web.openPage()
}

async function openTrail({ 'audit-log': path }: Config, log: Logger, watch: ServerWatch) {
  if (path === undefined) return undefined
  return openAuditTrail(path, log, (isTaken) => watch.onReload('audit', isTaken))
}

type App = Parameters<typeof createHttpServer>[0]

interface CreateServerOptions extends HttpServerOptions {
  readonly log: Logger
  /** With it the server speaks HTTPS, always with the current certificate. Default: HTTP. */
  readonly certificate?: Pick<CertificateSource, 'current' | 'onReplaced'> | undefined
}

/** The server for an application, not listening yet. */
function createServer(app: App, { log, certificate, ...options }: CreateServerOptions): Server {
  if (certificate === undefined) return createHttpServer(app, options)
  const server = createHttpsServer(app, certificate.current(), options)
  certificate.onReplaced((next) => replaceCertificate(server, next))
  // Clients can fail handshakes at will, so they are logged at debug level only.
  server.on('tlsClientError', ({ message }: Error, { remoteAddress }: TLSSocket) =>
    log.debug({ address: remoteAddress, reason: message }, 'TLS handshake failed'),
  )
  return server
}
