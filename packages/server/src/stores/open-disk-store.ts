import { carriesAdvice, SetupError } from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file'
import { openDiskBlobStore, type DiskBlobStore } from '@holdfast/store-disk'
import type { Config } from '../config/resolve-config.ts'
import type { WarningLog } from './closable-store.ts'

/**
 * Opens the store in the directory that the configuration names.
 *
 * @throws SetupError that names the directory and the remedy
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
}

const reasons: Readonly<Record<string, string>> = {
  EROFS: ' the file system is mounted read-only',
  ENOSPC: ' the disk is full.',
  ENOTDIR: ' a part of the path is a file',
  EEXIST: ' it is a file',
}

function explain(error: unknown, data: string): unknown {
  if (!(error instanceof Error)) return error
  // The store's own words do not know the flag.
  if (error.cause instanceof Error && 'code' in error.cause) return explain(error.cause, data)
  // Without a code it is the store itself that refuses, in words for the administrator.
  if (!('code' in error)) return carriesAdvice(error) ? error : new SetupError(error.message)
  const code = String(error.code)
  const remedy = remedies[code] ?? 'choose another --data'
  const reason = describeDenial(error) ?? `uid ${process.getuid?.() ?? '?'}: ${error.message}`
  const problem = `The data directory ${data} cannot be used (${reason}):${reasons[code] ?? ''}`
  return new SetupError(problem, code === 'ENOSPC' ? [] : [`${remedy}.`])
}
