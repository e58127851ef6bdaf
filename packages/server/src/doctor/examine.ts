import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pino from 'pino'
import {
  type Finding,
  finding,
  adviceOf,
  carriesAdvice,
  type Advice,
  type Credential,
  type FindingMark,
} from '@holdfast/core'
import { inspectDataDirectory } from '@holdfast/store-disk'
import {
  CustomersFileError,
  openFileCredentialSource,
  type CustomerWebhook,
  programName,
} from '@holdfast/credentials-file'
import type { WebhookSettings } from '../events/webhook-settings.ts'
import type { Config } from '../config/resolve-config.ts'
import {
  openStore,
  type ClosableStore,
  explainMinioSetting,
  findMinioSettings,
} from '../stores/open-store.ts'
import { checkAppendable, explainTrail } from '../audit/open-trail-file.ts'
import {
  adminAddress,
  openFilesLimit,
  checkProxies,
  explainListening,
  type ListeningAddress,
  clearTextWarning,
} from '../listen.ts'
import { expiryFindings, isExpiring, isKeeping, keptFindings } from './kept-findings.ts'
import { loginBrakeOptions } from '../login-failure-counter.ts'
import { certificateWarnings, openCertificate } from '../tls/open-certificate.ts'
import { findEngineSettings } from '../shared/open-shared-state.ts'

/** A group of findings. */
export interface Section {
  readonly title: string
  /** The checks run while these are read. Read them once, to the end, before the next section. */
  readonly findings: AsyncIterable<Finding> | Iterable<Finding>
}

/**
 * Examines everything that a server with this configuration needs: the machine, the network, the customers file, and the configured
 * store. It changes no file of customers, and may run beside a running server. It rejects only with the reason of `signal`.
 */
export async function* examine(config: Config, signal?: AbortSignal): AsyncGenerator<Section> {
  const customers = await examineCustomers(config.customers)
  const { findings, promisedBytes, credentials, webhooks } = customers
  yield { title: 'Machine', findings: onMachine(config, webhooks) }
  yield { title: 'Network', findings: networkFindings(config) }
  yield { title: 'Customers', findings }
  if (config['shared-url'] !== undefined) {
    const shared = attemptFindings('engine', sharedFindings(config, signal), signal)
    yield { title: 'Several servers', findings: shared }
  }
  if (config.store === 'minio') {
    const found = bucketFindings(config, isKeeping(config, credentials), signal)
    yield { title: 'MinIO store', findings: attemptFindings('bucket', found, signal) }
  } else {
    const found = inspectDataDirectory({
      ...{ directory: config.data, promisedBytes, leastBytes: config['min-free-space'], signal },
    })
    yield { title: 'Disk store', findings: attemptFindings('directory', found, signal) }
  }
  if (isExpiring(credentials)) {
    const found = inStore('expiry', config, (store) =>
      expiryFindings({ store, credentials, now: Date.now, signal }),
    )
    yield { title: 'Expiry', findings: attemptFindings('expiry', found, signal) }
  }
  if (isKeeping(config, credentials)) {
    const found = inStore('versions', config, (store) =>
      keptFindings({ store, config, credentials: () => credentials, signal }),
    )
    yield { title: 'Earlier versions', findings: attemptFindings('versions', found, signal) }
  }
}

/** Examines the store, which it opens as the server does, but makes none. */
async function* inStore(
  check: string,
  config: Config,
  findings: (store: ClosableStore) => AsyncIterable<Finding>,
): AsyncGenerator<Finding> {
  if (config.store === 'disk' && !existsSync(join(config.data, 'holdfast.json'))) {
    yield finding('skipped', check, 'there is no data directory yet')
    return
  }
  const opening = { ...config, 'minio-create-bucket': false }
  const store = await openStore(config.store, opening, { warn() {} })
  try {
    yield* findings(store)
  } finally {
    await store.close()
  }
}

type Webhooks = CustomersExamination['webhooks']

async function* onMachine(config: Config, webhooks: Webhooks): AsyncGenerator<Finding> {
  yield* machineFindings(await lookAtMachine())
  yield* attemptFindings('audit trail', trailFindings(config))
  yield* webhookFindings(config, webhooks)
}

/**
 * Checks the bucket that the configuration names, with the keys from its environment.
 *
 * @throws SetupError for wrong settings; the reason of `signal`
 */
async function* bucketFindings(
  config: Config,
  keepReplaced: boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<Finding> {
  const settings = await findMinioSettings(config)
  const { inspectBucket, StoreSettingError } = await import('@holdfast/store-minio')
  try {
    yield* inspectBucket({
      ...settings,
      region: config['minio-region'],
      prefix: config['minio-prefix'],
      createBucket: config['minio-create-bucket'],
      keepReplaced,
      signal,
    })
  } catch (error) {
    throw error instanceof StoreSettingError ? explainMinioSetting(error) : error
  }
}

/**
 * Checks whether the audit trail can be written, if it is configured.
 *
 * @throws SetupError that names the file and the remedy
 */
export async function* trailFindings({ 'audit-log': path }: Config): AsyncGenerator<Finding> {
  if (path === undefined) return
  await checkAppendable(path).catch((error: unknown) => {
    throw explainTrail(error, path)
  })
  yield finding('ok', 'audit trail', `${path} can be written`)
}

/**
 * Checks for each receiver whether events can be signed and sent, as far as that shows without sending one. No server starts where
 * `--webhook` has a problem; a customer with one gets no events.
 */
async function* webhookFindings(config: Config, webhooks: Webhooks): AsyncGenerator<Finding> {
  if (config.webhook === undefined && webhooks.size === 0) return
  const { customerWebhookSettings, findWebhookSettings, receiverProblem } =
    await import('../events/webhook-settings.ts')
  async function* found(looked: Promise<WebhookSettings | undefined>, customer?: string) {
    const settings = await looked
    if (settings === undefined) return
    const problem = await receiverProblem(settings)
    const { origin } = new URL(settings.url)
    const changes = customer === undefined ? settings.trail : JSON.stringify(customer)
    yield problem
      ? adviceFinding('warning', 'webhook', problem)
      : finding('ok', 'webhook', `${origin} gets the changes of ${changes}`)
  }
  yield* attemptFindings('webhook', found(findWebhookSettings(config)))
  for (const [customer, webhook] of webhooks) {
    const own = customerWebhookSettings(config, customer, webhook)
    yield* attemptFindings('webhook', found(own, customer))
  }
}

/** The properties of the machine, and of this process, which is started as the server would be. */
export interface Machine {
  /** Such as `24.9.0`. */
  readonly nodeVersion: string
  /** The value of `UV_THREADPOOL_SIZE`. */
  readonly threads: string | undefined
  /** How many files and connections the process may have open; `undefined` if unknown. */
  readonly openFiles: number | undefined
  readonly now: Date
}

const fewThreads = 4
const fewOpenFiles = 4096

/** Reads the properties of the machine. */
export async function lookAtMachine(): Promise<Machine> {
  return {
    nodeVersion: process.versions.node,
    threads: process.env['UV_THREADPOOL_SIZE'],
    openFiles: await openFilesLimit(),
    now: new Date(),
  }
}

/** Checks whether a server can run, and run well, on `machine`. */
export function machineFindings(machine: Machine): readonly Finding[] {
  // Always ok: a version that is too old for the server is too old for this command, too.
  const node = finding('ok', 'Node.js', machine.nodeVersion)
  return [node, threads(machine), openFiles(machine), clock(machine)]
}

function threads({ threads: size }: Machine): Finding {
  const count = Number(size ?? fewThreads)
  if (count >= fewThreads) return finding('ok', 'threads', `${count} for files and passwords`)
  const message = `UV_THREADPOOL_SIZE=${size ?? ''} leaves too few for files and passwords`
  return finding('warning', 'threads', message, 'unset UV_THREADPOOL_SIZE')
}

function openFiles({ openFiles: limit }: Machine): Finding {
  if (limit === undefined) {
    return finding('skipped', 'open files', 'this operating system does not report the limit')
  }
  const count = limit === Infinity ? 'any number' : `up to ${limit.toLocaleString('en')}`
  if (limit >= fewOpenFiles) return finding('ok', 'open files', `${count} files and connections`)
  const message = `${count} files and connections; each transfer takes two`
  const remedy = 'LimitNOFILE=65536 in the systemd unit, or in a shell: ulimit -n 65536'
  return finding('warning', 'open files', message, remedy)
}

function clock({ now }: Machine): Finding {
  const year = now.getUTCFullYear()
  if (year >= 2026 && year < 2100) return finding('ok', 'clock', now.toISOString())
  const message = `${now.toISOString()} cannot be right; files would get that time`
  return finding('problem', 'clock', message, 'timedatectl set-ntp true')
}

/** Checks whether clients can reach the server, and whether that is safe, as far as the settings show. */
export async function* networkFindings(config: Config): AsyncGenerator<Finding> {
  const { host, port } = config
  yield await listeningFinding('listening', { host, port })
  yield* attemptFindings('admin port', adminPort(config))
  yield await encryption(config)
  yield* attemptFindings('certificate', certificate(config))
  yield* attemptFindings('proxies', proxies(config))
  yield* attemptFindings('login brake', loginBrake(config))
}

async function* adminPort(config: Config): AsyncGenerator<Finding> {
  const address = adminAddress(config)
  if (address) yield await listeningFinding('admin port', address)
}

async function encryption(config: Config): Promise<Finding> {
  const warning = await clearTextWarning(config)
  if (warning !== undefined) return adviceFinding('warning', 'encryption', warning)
  if (config['tls-cert'] !== undefined) return finding('ok', 'encryption', 'TLS')
  const message = config['trust-proxy']
    ? 'is left to the proxy'
    : 'not needed on this machine alone'
  return finding('ok', 'encryption', message)
}

async function* certificate(config: Config): AsyncGenerator<Finding> {
  const source = await openCertificate(config, pino({ level: 'silent' }), { pollIntervalMs: 0 })
  if (!source) return
  await source.close()
  const { 'tls-cert': path = '', 'tls-key': key = '' } = config
  const read = source.current()
  const warnings = certificateWarnings({ certificate: path, key }, read, Date.now())
  for (const warning of warnings) yield adviceFinding('warning', 'certificate', warning)
  const end = new Date(read.validToMs).toISOString()
  if (warnings.length === 0) yield finding('ok', 'certificate', `${path}, valid until ${end}`)
}

async function* loginBrake(config: Config): AsyncGenerator<Finding> {
  loginBrakeOptions(config)
  const exempt = config['login-failures-exempt'] ?? []
  if (exempt.length > 0) yield finding('ok', 'login brake', `exempt: ${exempt.join(', ')}`)
}

async function* proxies(config: Config): AsyncGenerator<Finding> {
  const known = checkProxies(config)
  if (known.length > 0) yield finding('ok', 'proxies', `trusted: ${known.join(', ')}`)
}

/** Checks whether the server can listen at `address`: this process does so for a moment. */
async function listeningFinding(check: string, address: ListeningAddress): Promise<Finding> {
  const { host, port } = address
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return finding('ok', check, port === 0 ? `on ${host}, any port` : `on ${host} port ${port}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      return finding('skipped', check, `${host} port ${port} is taken: by the server, if it runs`)
    }
    return adviceFinding('problem', check, adviceOf(explainListening(error, address)))
  } finally {
    server.close()
  }
}

/**
 * The `findings`; if they fail, the error becomes a problem of `check`. It rejects only with the reason of `signal`.
 */
async function* attemptFindings(
  check: string,
  findings: AsyncIterable<Finding>,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  try {
    yield* findings
  } catch (error) {
    signal?.throwIfAborted()
    yield carriesAdvice(error)
      ? adviceFinding('problem', check, error)
      : finding('problem', check, `could not be examined: ${String(error)}`)
  }
}

/** A finding with the text of an advice. */
export function adviceFinding(
  mark: FindingMark,
  check: string,
  { problem, remedies }: Advice,
): Finding {
  return finding(mark, check, problem.replace(/[.:]$/, ''), ...remedies)
}

/** The findings about the customers file. */
interface CustomersExamination {
  readonly findings: readonly Finding[]
  /** How many bytes all customers with a quota may keep together. */
  readonly promisedBytes: number
  /** All customers and their logins. */
  readonly credentials: readonly Credential[]
  /** The receivers of customers, by their names. */
  readonly webhooks: ReadonlyMap<string, CustomerWebhook>
}

const customersCheck = 'customers file'

/** Reads and checks the customers file at `path`. */
export async function examineCustomers(path: string): Promise<CustomersExamination> {
  try {
    return await judgeCustomers(path)
  } catch (error) {
    if (!(error instanceof CustomersFileError)) throw error
    return { findings: [refused(error)], promisedBytes: 0, credentials: [], webhooks: new Map() }
  }
}

async function judgeCustomers(path: string): Promise<CustomersExamination> {
  const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
  await source.close()
  const names = source.customers()
  const customers = names.map((name) => source.find(name))
  const quotas = customers.flatMap((customer) => customer?.quota ?? [])
  const further = source.all().length - names.length
  const logins = further > 0 ? `, ${further} further login(s)` : ''
  const expiring = customers.filter((customer) => customer?.expireAfterMs !== undefined)
  const expiry = expiring.length > 0 ? `, ${expiring.length} whose files expire` : ''
  const counted = `${names.length} customer(s), ${quotas.length} of them with a quota${expiry}${logins}`
  const remedy = `${programName()} customers add NAME`
  const count =
    names.length === 0
      ? finding('warning', customersCheck, `${path} has no customers; no one can log in`, remedy)
      : finding('ok', customersCheck, `${path}: ${counted}`)
  const warnings = source
    .warnings()
    .map((warning) => adviceFinding('warning', customersCheck, warning))
  return {
    findings: [count, ...warnings],
    promisedBytes: quotas.reduce((sum, quota) => sum + quota, 0),
    credentials: source.all(),
    webhooks: source.webhooks(),
  }
}

function refused(error: CustomersFileError): Finding {
  const { path, problems, lines } = error
  if (problems.length === 1) return adviceFinding('problem', customersCheck, error)
  return finding('problem', customersCheck, `${path}: ${problems.length} problems`, ...lines)
}

/**
 * Examines the Valkey or Redis in which several servers count together, over the network; yields nothing if the server counts for
 * itself. It changes no key.
 *
 * @throws SetupError for settings with which no server starts, and for an engine that refuses this server or cannot count; the reason of
 * `signal`
 */
export async function* sharedFindings(
  config: Config,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  const settings = await findEngineSettings(config)
  if (settings === undefined) return
  // Loaded only where it is used: its client is large.
  const { examineEngine } = await import('@holdfast/shared-redis')
  yield* examineEngine(settings, signal)
}
