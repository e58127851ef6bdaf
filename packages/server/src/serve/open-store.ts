import type { BlobStore } from '@holdfast/core'
import { openDiskBlobStore } from '@holdfast/store-disk'
import type { Logger } from 'pino'
import { UsageError } from '../cli/usage-error.ts'
import type { Config } from '../config/resolve-config.ts'

/** A store that holds something outside the process while it is open. */
export interface ClosableStore extends BlobStore {
  close(): Promise<void>
}

const openers: Readonly<
  Record<Config['store'], (config: Config, log: Logger) => Promise<ClosableStore>>
> = {
  disk: (config, log) =>
    openDiskBlobStore({
      directory: config.data,
      log: { warn: (message) => log.warn(message) },
    }),
}

/** Opens the store that the configuration names. */
export async function openStore(config: Config, log: Logger): Promise<ClosableStore> {
  try {
    return await openers[config.store](config, log)
  } catch (error) {
    throw explain(error, config)
  }
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'give that user write permission, or choose another --data',
  EPERM: 'give that user write permission, or choose another --data',
  EROFS: 'the file system is mounted read-only; choose another --data',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file; choose another --data',
  EEXIST: 'it is a file; choose another --data',
}

function explain(error: unknown, { data }: Config): unknown {
  if (!(error instanceof Error)) return error
  // Without a code it is the store itself that refuses, in words for the administrator.
  if (!('code' in error)) return new UsageError(error.message)
  const remedy = remedies[String(error.code)] ?? 'choose another --data'
  const user = process.getuid?.() ?? 'this user'
  return new UsageError(
    `The data directory ${data} cannot be used by uid ${user} (${error.message}): ${remedy}.`,
  )
}
