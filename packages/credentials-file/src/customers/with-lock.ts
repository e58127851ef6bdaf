import { open, realpath, rm, stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { CustomersFileError } from './customers-file-error.ts'
import { unwritable } from './save-customers-text.ts'

/** A lock is held for some milliseconds. One this old, in milliseconds, belongs to a process that was killed. */
const staleMs = 10_000
const retryMs = 10

/**
 * Does `work` while nobody else who asks does theirs for the file at `path`: in other processes, and on other machines
 * that share the directory. The lock is a file beside it (`customers.yaml.lock`), gone afterwards. One that was left
 * over by a crash is taken after ten seconds; two who do that at the same instant may both come in.
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
  return new CustomersFileError(path, [{ message: unwritable(error) }], error)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}
