import { finding, formatBytes, type Credential, type Finding } from '@holdfast/core'
import type { ClosableStore } from '../stores/open-store.ts'

export interface ExpiryExamination {
  readonly store: Pick<ClosableStore, 'listDetails' | 'expiry'>
  readonly credentials: readonly Credential[]
  /** The present time, in milliseconds. */
  readonly now: () => number
  readonly signal?: AbortSignal | undefined
}

const dayMs = 24 * 60 * 60 * 1000

/** Whether files of any customer expire. */
export function isExpiring(credentials: readonly Credential[]): boolean {
  return credentials.some(
    ({ login, expireAfterMs }) => login === undefined && expireAfterMs !== undefined,
  )
}

/**
 * Counts the files of each customer that expire within a day, or would if the rule were a day old. A rule that is new or shorter holds
 * after 24 hours, so an administrator who reads this can still change it.
 *
 * @throws FileServiceError `store-unavailable`; the reason of `signal`
 */
export async function* expiryFindings(examination: ExpiryExamination): AsyncGenerator<Finding> {
  const { store, credentials, now, signal } = examination
  const until = now() + dayMs
  for (const { name, login, expireAfterMs } of credentials) {
    if (login !== undefined || expireAfterMs === undefined) continue
    if (store.expiry === undefined) {
      const remedy = 'remove expireAfter from the customers file'
      yield finding('warning', 'expiry', `files of "${name}" never expire in this store`, remedy)
      continue
    }
    let [files, bytes] = [0, 0]
    for await (const page of store.listDetails(name)) {
      signal?.throwIfAborted()
      const due = page.filter(({ modifiedAt }) => modifiedAt.getTime() + expireAfterMs <= until)
      files += due.length
      bytes += due.reduce((sum, { size }) => sum + size, 0)
    }
    const amount = `${files.toLocaleString('en')} files of "${name}", ${formatBytes(bytes)},`
    yield finding(
      'ok',
      'expiry',
      files === 0 ? `no file of "${name}" expires within a day` : `${amount} expire within a day`,
    )
  }
}
