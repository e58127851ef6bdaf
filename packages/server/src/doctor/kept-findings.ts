import { adviceOf, finding, formatBytes, type Credential, type Finding } from '@holdfast/core'
import { keepingProblem, type KeepingSettings, type ClosableStore } from '../stores/open-store.ts'
import type { Config } from '../config/resolve-config.ts'

export interface KeptExamination extends KeepingSettings {
  readonly store: Pick<ClosableStore, 'history' | 'historyProblem' | 'freeSpace'>
  readonly config: Pick<Config, 'store' | 'keep-replaced' | 'keep-quota' | 'min-free-space'>
  readonly signal?: AbortSignal | undefined
}

const check = 'versions'

/** Whether the settings ask that earlier versions are kept, for any customer. */
export function isKeeping(
  { 'keep-replaced': keepMs = 0 }: Pick<Config, 'keep-replaced'>,
  credentials: readonly Credential[],
): boolean {
  return keepMs > 0 || credentials.some(({ keepReplacedMs = 0 }) => keepReplacedMs > 0)
}

/**
 * Examines a store that is to keep earlier versions: whether it can, how many bytes they have, and whether there is room for more.
 *
 * @throws FileServiceError `store-unavailable`; the reason of `signal`
 */
export async function* keptFindings(examination: KeptExamination): AsyncGenerator<Finding> {
  const problem = await keepingProblem(examination)
  if (problem) {
    const { problem: message, remedies } = adviceOf(problem)
    yield finding('problem', check, message, ...remedies)
    return
  }
  const { store, signal } = examination
  if (store.history === undefined) return
  let [versions, bytes] = [0, 0]
  for await (const customer of store.history.customers()) {
    for await (const page of store.history.kept(customer)) {
      signal?.throwIfAborted()
      versions += page.length
      bytes += page.reduce((sum, { size }) => sum + size, 0)
    }
  }
  yield finding('ok', check, `${versions.toLocaleString('en')} of ${formatBytes(bytes)} are kept`)
  if (store.freeSpace) yield roomFinding(examination, bytes, await store.freeSpace())
}

/** Whether there is room for as many earlier versions as may be kept, beside the present files. */
function roomFinding(
  { config, credentials }: KeptExamination,
  keptBytes: number,
  free: number,
): Finding {
  const { 'min-free-space': least, 'keep-quota': keepQuota, 'keep-replaced': keepMs = 0 } = config
  if (free < least) {
    const message = `${formatBytes(free)} are free, less than --min-free-space, so the oldest goes before its time`
    return finding('warning', check, message, 'add room, or keep for a shorter time')
  }
  const limits = credentials()
    .filter(({ login, keepReplacedMs = keepMs }) => login === undefined && keepReplacedMs > 0)
    .map(({ quota }) => keepQuota ?? quota ?? Infinity)
  const most = limits.reduce((sum, limit) => sum + limit, 0)
  const room = free + keptBytes - least
  if (most <= room) return finding('ok', check, `up to ${formatBytes(most)} has room`)
  const what = most === Infinity ? 'without a limit' : `up to ${formatBytes(most)}`
  const message = `may be kept ${what}, and there is room for ${formatBytes(room)}; then the oldest goes before its time`
  return finding('warning', check, message, 'set a lower --keep-quota, or add room')
}

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
