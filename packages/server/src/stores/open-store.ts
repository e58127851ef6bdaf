import { carriesAdvice, SetupError, type BlobStore } from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file'
import { openDiskBlobStore, type DiskBlobStore } from '@holdfast/store-disk'
import type { Config } from '../config/resolve-config.ts'
import type { StoreKind } from '../config/settings.ts'
import type { Companions } from '@holdfast/store-minio'
import { explainMinioSetting, findMinioSettings } from './minio-settings.ts'

interface Store {
  open(config: Config, log: WarningLog, among?: AmongProcesses): Promise<ClosableStore>
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
export interface AmongProcesses {
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
  among?: AmongProcesses,
): Promise<ClosableStore> {
  return stores[kind].open(config, log, among)
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
  { writer }: AmongProcesses = {},
): Promise<DiskBlobStore> {
  try {
    return await openDiskBlobStore({
      directory: data,
      cacheBytes,
      ...(writer !== undefined && { writer }),
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
  { companions }: AmongProcesses = {},
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
