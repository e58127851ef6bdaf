import { describeDenial } from '@holdfast/credentials-file'
import { openDiskBlobStore, type DiskBlobStore } from '@holdfast/store-disk'
import { UsageError } from '../config/usage-error.ts'
import type { Config } from '../config/resolve-config.ts'
import type { WarningLog } from './closable-store.ts'

/**
 * Opens the store in the directory that the configuration names.
 *
 * @throws UsageError that names the directory and the remedy
 */
export async function openDiskStore(
  { data, 'cache-size': cacheBytes }: Config,
  log: WarningLog,
  writer?: number,
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
  EROFS: 'the file system is mounted read-only; choose another --data',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file; choose another --data',
  EEXIST: 'it is a file; choose another --data',
}

function explain(error: unknown, data: string): unknown {
  if (!(error instanceof Error)) return error
  // Without a code it is the store itself that refuses, in words for the administrator.
  if (!('code' in error)) return new UsageError(error.message)
  const remedy = remedies[String(error.code)] ?? 'choose another --data'
  const reason = describeDenial(error) ?? `uid ${process.getuid?.() ?? '?'}: ${error.message}`
  return new UsageError(`The data directory ${data} cannot be used (${reason}): ${remedy}.`)
}
