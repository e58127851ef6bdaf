import {
  adviceText,
  type Credential,
  type CredentialSource,
  type FailureCounter,
  type LinkServiceOptions,
  type PasswordVerifier,
  type QuotaKeeper,
} from '@holdfast/core'
import { createRequestCounters, type RequestCounters } from '@holdfast/http-koa'
import { createPasswordVerifier } from '@holdfast/passwords'
import type { Companions } from '@holdfast/store-minio'
import type { Logger } from 'pino'
import {
  openFileCredentialSource,
  programName,
  type FileCredentialSource,
} from '@holdfast/credentials-file'
import type { Config } from '../config/resolve-config.ts'
import { clearTextWarning } from '../listen.ts'
import { createLoginFailureCounter, loginBrakeOptions } from '../login-failure-counter.ts'
import {
  openSharedState,
  sharedLinks,
  verifyWithOthers,
  withSharedCounters,
  type SharedState,
} from '../shared/open-shared-state.ts'
import type { CustomerWebhooks } from '../events/open-webhooks.ts'
import { openCertificate, type CertificateSource } from '../tls/open-certificate.ts'
import {
  noWatch,
  type ServerWatch,
  type CertificateState,
  type CustomersState,
} from './server-watch.ts'

/** The services that all workers of a server share, some of them with other servers. */
export interface SharedServices {
  /** `undefined` if the server speaks HTTP. */
  readonly certificate: Pick<CertificateSource, 'current' | 'onReplaced'> | undefined
  readonly credentials: CredentialSource
  /** All customers and their further logins, in the order of the file. */
  allCredentials(): readonly Credential[]
  /** Absent in a worker: the primary delivers. */
  readonly customerWebhooks?: CustomerWebhooks
  readonly verifyPassword: PasswordVerifier
  /** The counter of the brake on bad logins. */
  readonly failures: FailureCounter
  /** The counter of the brake on wrong links: the same as `failures`, unless another process counts the failed logins. */
  readonly linkFailures: FailureCounter
  /** The number of this process among those that write into the store, from 0. Default: it is the only one. */
  readonly writer?: number
  /** The other processes of this server that use the same store. Default: there are none. */
  readonly companions?: Companions
  /** Default: that of `createFileService`, or the one of `shared`. */
  readonly quotas?: QuotaKeeper
  /** What the server shares with other servers; `undefined` if it counts for itself. */
  readonly shared?: SharedState | undefined
  /** The locks and counters that links share with other processes. Default: those of `createFileService`. */
  readonly links?: Pick<LinkServiceOptions, 'publishLocks' | 'growingUploads'>
  /** The counters for the limits of requests under way. */
  readonly requestCounters: RequestCounters
  readonly customersState: () => CustomersState
  /** `undefined` if the server speaks HTTP. */
  readonly certificateState?: (() => CertificateState) | undefined
  /** Reads its files again; resolves with `false` if one was refused. */
  reload(): Promise<boolean>
  close(): Promise<void>
}

/** The services of a server of one process, or those that the primary shares among its workers, from the configured files. */
export interface OwnServices extends SharedServices {
  readonly certificate: CertificateSource | undefined
  readonly customerWebhooks: CustomerWebhooks
}

/**
 * Opens the services. `onReloaded` is called when the customers have changed.
 *
 * @throws SetupError for a mistake that an administrator can correct
 */
export async function openSharedServices(
  config: Config,
  log: Logger,
  onReloaded: () => void = () => {},
  watch: ServerWatch = noWatch,
): Promise<OwnServices> {
  const { open, closeAll } = createCloseStack()
  const certificate = await open(
    openCertificate(config, log, {
      onReload: (isTaken) => watch.onReload('certificate', isTaken),
    }),
  )
  const credentials = await open(
    openCustomers(config, log, (isTaken) => {
      watch.onReload('customers', isTaken)
      if (isTaken) onReloaded()
    }),
  )
  const shared = await open(openSharedState(config, log))
  const warning = await clearTextWarning(config)
  if (warning !== undefined) log.warn(adviceText(warning))
  const failures = shared?.failures ?? createLoginFailureCounter(config['login-failures-window'])
  const verifyPassword = watch.verifyPassword(createPasswordVerifier())
  const requestCounters = createRequestCounters()
  return {
    shared,
    certificate,
    credentials,
    allCredentials: () => credentials.all(),
    customerWebhooks: () => credentials.webhooks(),
    customersState: () => ({
      count: credentials.customers().length,
      refusedSince: credentials.refusedSince(),
    }),
    certificateState:
      certificate &&
      (() => ({
        expires: new Date(certificate.current().validToMs),
        refusedSince: certificate.refusedSince(),
      })),
    verifyPassword:
      shared && config.workers === 1
        ? verifyWithOthers(verifyPassword, shared, loginBrakeOptions(config))
        : verifyPassword,
    // Where servers count together, a failure is counted by the verification.
    failures: shared?.failures.outer ?? failures,
    linkFailures: failures,
    ...(shared && { links: sharedLinks(shared) }),
    requestCounters: shared ? withSharedCounters(requestCounters, shared) : requestCounters,
    async reload() {
      const taken = await Promise.all([credentials.reload(), certificate?.reload() ?? true])
      return taken.every(Boolean)
    },
    close: closeAll,
  }
}

/** Opens the customers file. Logs every later change, whether it is accepted or refused, and calls `onReload` for it. */
async function openCustomers(
  { customers: path }: Config,
  log: Logger,
  onReload: (isTaken: boolean) => void = () => {},
): Promise<FileCredentialSource> {
  const source = await openFileCredentialSource(path, {
    onReloaded(summary) {
      log.info(summary, 'customers reloaded')
      onReload(true)
    },
    onRefused(error) {
      log.error(
        { reason: error.message },
        'customers file refused; the earlier customers stay in use',
      )
      onReload(false)
    },
    onWarning: (message) => log.warn(message),
  })
  if (source.customers().length === 0) {
    log.warn(
      `${path} has no customers: no one can log in. Add one: ${programName()} customers add NAME`,
    )
  }
  return source
}

interface Closable {
  close(): Promise<void>
}

export interface CloseStack {
  /** Waits for `opening`; if it fails, closes everything that was opened before. */
  readonly open: <Opened extends Closable | undefined>(opening: Promise<Opened>) => Promise<Opened>
  /** Closes everything that was opened, the last one first. */
  readonly closeAll: () => Promise<void>
}

/** Makes a {@link CloseStack}, for things that are opened one after the other and closed together. */
export function createCloseStack(): CloseStack {
  const opened: Closable[] = []
  const closeAll = async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  }
  return {
    async open(opening) {
      try {
        const each = await opening
        if (each) opened.push(each)
        return each
      } catch (error) {
        await closeAll()
        throw error
      }
    },
    closeAll,
  }
}
