import { open, realpath, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { CustomersFileError } from './customers-file-error.ts'
import { unwritable } from './save-customers-text.ts'

/** A lock is held for some milliseconds. One this old, in milliseconds, belongs to a process that was killed. */
const staleMs = 10_000
const retryMs = 10

/**
 * Runs `work` under an exclusive lock for the file at `path`. The lock also holds for other processes, and for other
 * machines that share the directory. It is a file beside `path` (`customers.yaml.lock`), removed afterwards. A lock that a
 * crash has left is taken over after ten seconds; if two callers do so at the same instant, both may enter.
 *
 * @throws CustomersFileError if it cannot be made
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${await target(path)}.lock`
  while (!(await take(lock, path))) await delay(retryMs)
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

/** Two paths to one file, one of them by a link, are one lock. */
async function target(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

async function take(lock: string, path: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unlockable(error, path)
    if (await isStale(lock)) await rm(lock, { force: true })
    return false
  }
}

async function isStale(lock: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(lock)).mtimeMs > staleMs
  } catch {
    return false
  }
}

function unlockable(error: unknown, path: string): CustomersFileError {
  return new CustomersFileError(path, [unwritable(error)], error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
