import {
  carriesAdvice,
  SetupError,
  type BlobStore,
  asSentence,
  type Credential,
} from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file'
import { openDiskBlobStore, type DiskBlobStore } from '@holdfast/store-disk'
import type { Companions, StoreSettingError } from '@holdfast/store-minio'
import type { Logger } from 'pino'
import type { Config } from '../config/resolve-config.ts'
import { type StoreKind, environmentName } from '../config/settings.ts'
import { secretVariables } from '../config/environment.ts'

interface Store {
  open(config: Config, log: WarningLog, role?: ProcessRole): Promise<ClosableStore>
  locationOf(config: Config): Readonly<Record<string, string | undefined>>
}

const stores: Readonly<Record<StoreKind, Store>> = {
  disk: {
    open: openDiskStore,
    locationOf: ({ data }) => ({ data }),
  },
  minio: {
    open: openMinioStore,
    locationOf: (config) => ({
      endpoint: config['minio-endpoint'],
      bucket: config['minio-bucket'],
      prefix: config['minio-prefix'],
    }),
  },
}

/** Which of the processes of a server opens a store. Default: it is the only one. */
export interface ProcessRole {
  /** The number of this process, from 0. */
  readonly writer?: number
  readonly companions?: Companions
}

/**
 * Opens the store of `kind` with the settings of the configuration, even if the server uses the other kind.
 *
 * @throws SetupError for a mistake that an administrator can correct
 */
export function openStore(
  kind: StoreKind,
  config: Config,
  log: WarningLog,
  role?: ProcessRole,
): Promise<ClosableStore> {
  return stores[kind].open(config, log, role)
}

/** Where the store of a kind keeps its files, as fields for a line of the log, without secrets. */
export function locationOf(
  kind: StoreKind,
  config: Config,
): Readonly<Record<string, string | undefined>> {
  return stores[kind].locationOf(config)
}

/**
 * Opens the store in the directory that the configuration names.
 *
 * @throws SetupError that names the directory and the remedy
 */
async function openDiskStore(
  { data, 'cache-size': cacheBytes }: Config,
  log: WarningLog,
  { writer }: ProcessRole = {},
): Promise<DiskBlobStore> {
  try {
    return await openDiskBlobStore({
      directory: data,
      cacheBytes,
      // The store tells ten apart; that two workers with one number replace a file within a microsecond is not to be expected.
      ...(writer !== undefined && { writer: writer % 10 }),
      log: { warn: (message) => log.warn(message) },
    })
  } catch (error) {
    throw explain(error, data)
  }
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'give that user write permission, or choose another --data',
  EPERM: 'give that user write permission, or choose another --data',
}

const reasons: Readonly<Record<string, string>> = {
  EROFS: ' the file system is mounted read-only',
  ENOSPC: ' the disk is full.',
  ENOTDIR: ' a part of the path is a file',
  EEXIST: ' it is a file',
}

function explain(error: unknown, data: string): unknown {
  if (!(error instanceof Error)) return error
  // The store's own message does not name the flag.
  if (error.cause instanceof Error && 'code' in error.cause) return explain(error.cause, data)
  // An error without a code comes from the store itself; its message is for the administrator.
  if (!('code' in error)) return carriesAdvice(error) ? error : new SetupError(error.message)
  const code = String(error.code)
  const remedy = remedies[code] ?? 'choose another --data'
  const reason = describeDenial(error) ?? `uid ${process.getuid?.() ?? '?'}: ${error.message}`
  const problem = `The data directory ${data} cannot be used (${reason}):${reasons[code] ?? ''}`
  return new SetupError(problem, code === 'ENOSPC' ? [] : [`${remedy}.`])
}

/**
 * Opens the store in the bucket that the configuration names, with the keys from its environment.
 *
 * @throws SetupError that names all missing settings, or the wrong one
 */
async function openMinioStore(
  config: Config,
  log: WarningLog,
  { companions }: ProcessRole = {},
): Promise<ClosableStore> {
  const settings = await findMinioSettings(config)
  // Loaded only now: the client for S3 takes time and memory, and a server that keeps files on a disk does not need it.
  const { openMinioBlobStore, StoreSettingError } = await import('@holdfast/store-minio')
  try {
    return await openMinioBlobStore({
      ...settings,
      region: config['minio-region'],
      prefix: config['minio-prefix'],
      cacheBytes: config['cache-size'],
      createBucket: config['minio-create-bucket'],
      ...(companions && { companions }),
      log: { warn: (message) => log.warn(message) },
    })
  } catch (error) {
    throw error instanceof StoreSettingError ? explainMinioSetting(error) : error
  }
}

/** A log for the warnings of a store, such as a logger. */
export interface WarningLog {
  warn(message: string): void
}

/** A store that must be closed. */
export interface ClosableStore extends BlobStore {
  /** Writes, reads and removes a test object as if it were a blob. Rejects with the error of the step that fails. */
  readonly probe: (signal?: AbortSignal) => Promise<void>
  /** How many bytes are free; absent if that is unknown. */
  readonly freeSpace?: () => Promise<number>
  /** Why it has no `history`, as a sentence; absent or `undefined` if there is nothing to say. */
  readonly historyProblem?: () => Promise<string | undefined> | string | undefined
  close(): Promise<void>
}

/** The settings that the MinIO store needs and that have no default. */
export interface MinioSettings {
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

/**
 * The settings of the MinIO store that have no default, with the keys from the configuration's environment.
 *
 * @throws SetupError that names all missing settings, or what is wrong with the keys
 */
export async function findMinioSettings(config: Config): Promise<MinioSettings> {
  const missing: string[] = []
  const need = (value: string | undefined, first: string, second: string) => {
    if (value === undefined) missing.push(`${first} or ${second}`)
    return value ?? ''
  }
  const setting = (name: 'minio-endpoint' | 'minio-bucket') =>
    need(config[name], `--${name}`, environmentName(name))
  const secret = async (name: 'minio-access-key' | 'minio-secret-key') => {
    const { value, file } = secretVariables(name)
    return need(await config.readSecret(name), value, file)
  }
  const found = {
    endpoint: setting('minio-endpoint'),
    bucket: setting('minio-bucket'),
    accessKey: await secret('minio-access-key'),
    secretKey: await secret('minio-secret-key'),
  }
  if (missing.length === 0) return found
  throw new SetupError('The MinIO store needs settings that are missing:', missing)
}

const settingNames: Readonly<Record<NonNullable<StoreSettingError['setting']>, string>> = {
  endpoint: '--minio-endpoint',
  bucket: '--minio-bucket',
  accessKey: 'HOLDFAST_MINIO_ACCESS_KEY',
  secretKey: 'HOLDFAST_MINIO_SECRET_KEY',
  region: '--minio-region',
  prefix: '--minio-prefix',
  createBucket: '--minio-create-bucket',
}

/** The error for a wrong setting of the MinIO store, with the name under which it was set. */
export function explainMinioSetting({
  problem,
  remedies,
  setting,
  cause,
}: StoreSettingError): SetupError {
  const where = setting === undefined ? '' : ` (${settingNames[setting]})`
  const text = `Cannot use the MinIO store: ${problem}${where}`
  if (cause instanceof Error && cause.name === 'NoSuchBucket') {
    const remedy = 'make it, or give this command --minio-create-bucket.'
    return new SetupError(`${text}:`, [remedy], cause)
  }
  const said = asSentence({ problem: text, remedies })
  return new SetupError(said.problem, said.remedies)
}

/** What decides whether a store has to keep earlier versions. */
export interface KeepingSettings {
  readonly store: Pick<ClosableStore, 'history' | 'historyProblem'>
  readonly config: Pick<Config, 'store' | 'keep-replaced'>
  /** All customers and their logins, as they are now. */
  readonly credentials: () => readonly Credential[]
}

/** Looks again after the customers have changed. */
export interface KeepingCheck {
  /** Logs an error if a customer now has a setting that the store cannot follow. The service goes on. */
  again(): Promise<void>
  close(): Promise<void>
}

/**
 * Refuses to start if the server or a customer is to keep earlier versions, and the store cannot do that.
 *
 * @throws SetupError that names the setting, and why the store cannot
 */
export async function checkKeeping(settings: KeepingSettings, log: Logger): Promise<KeepingCheck> {
  const problem = await keepingProblem(settings)
  if (problem !== undefined) throw problem
  return {
    async again() {
      try {
        const found = await keepingProblem(settings)
        if (found) log.error({ reason: found.message }, 'what is replaced is not kept')
      } catch (err) {
        log.warn({ err }, 'the store does not say whether it can keep what is replaced')
      }
    },
    close: async () => {},
  }
}

/** Why the settings are wrong for the store; `undefined` if it keeps what it should. */
export async function keepingProblem({
  store,
  config: { store: kind, 'keep-replaced': keepMs = 0 },
  credentials,
}: KeepingSettings): Promise<SetupError | undefined> {
  if (store.history !== undefined) return undefined
  const keeping = credentials().find(({ keepReplacedMs = 0 }) => keepReplacedMs > 0)
  if (keepMs === 0 && keeping === undefined) return undefined
  const [setting, remedy] =
    keepMs > 0
      ? ['--keep-replaced is set', 'Leave --keep-replaced out.']
      : [
          `The customer "${keeping?.name}" has keepReplaced`,
          'Remove keepReplaced from the customers file.',
        ]
  const reason = await store.historyProblem?.()
  return new SetupError(`${setting}, but the ${kind} store cannot keep what is replaced`, [
    ...(reason === undefined ? [] : [reason.replace(/\.$/, '')]),
    remedy,
  ])
}
