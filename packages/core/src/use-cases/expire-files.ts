import type { Customer } from '../model/customer.ts'
import type { QuotaKeeper } from '../policy/quota-keeper.ts'
import type { BlobInfo } from '../ports/blob.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import type { Expiry } from '../ports/store-capabilities.ts'

/** What is needed to delete expired files. */
export interface ExpiryPolicy {
  readonly store: BlobStore
  readonly expiry: Expiry
  readonly quotas: Pick<QuotaKeeper, 'free'>
  readonly now: () => number
  /** Whether the customer's calls keep the files that they replace or delete. */
  readonly keeps: (customer: Customer) => boolean
}

export interface ExpireOptions {
  /** Called after each deletion; the next one waits for it. */
  readonly onExpired?: (file: BlobInfo) => Promise<void> | void
  /** Asked before each deletion, and at least every half hour; `false` ends the call. Default: the rule stays in force. */
  readonly isInForce?: () => Promise<boolean> | boolean
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** What {@link noteExpiry} found. */
export type NoteOutcome =
  /** When the files that are due will begin to go; it may be past. */
  | { readonly kind: 'noted'; readonly from: Date }
  /** As of {@link ExpiryOutcome}. */
  | { readonly kind: 'wrong-clock'; readonly problem: string }

/** What {@link expireFiles} did, or why it did nothing. */
export type ExpiryOutcome =
  /** It deleted so many files. */
  | { readonly kind: 'done'; readonly expired: number }
  /** The rule is new, or shorter than before: so many files will go at this time if nothing changes. */
  | { readonly kind: 'waiting'; readonly until: Date; readonly due: number }
  /** The rule changed during the call, or counts as new, as after a machine has slept. It had deleted so many files before. */
  | { readonly kind: 'changed'; readonly expired: number }
  /** The clock went back, or differs from the store's: nothing more was deleted. */
  | { readonly kind: 'wrong-clock'; readonly problem: string }

const hourMs = 3_600_000

/** How long nothing expires after a rule was set or shortened, in milliseconds. */
const graceMs = 24 * hourMs

/** A rule that was not applied for so long, in milliseconds, counts as new: it may have been removed meanwhile, or the clock be wrong. */
const forgottenMs = 3 * hourMs

/** How often a long call notes that its rule is still applied, in milliseconds. */
const renewalMs = 30 * 60_000

/** How far two clocks may differ, in milliseconds. */
const toleranceMs = 5 * 60_000

/**
 * Deletes the customer's files whose last change was `expireAfterMs` ago, in the order of their names. Files that are replaced meanwhile
 * stay. Call it about once an hour for each customer with such a rule. A rule that was not applied for three hours counts as new. Nothing
 * is deleted within 24 hours after the first call with a rule, or with a shorter one. It may be ended at any time, and called again.
 *
 * A call applies its rule while `isInForce` says so, however long that takes. For customers who wait for their call meanwhile, call
 * `noteExpiry`.
 *
 * @throws TypeError for a customer without `expireAfterMs`
 * @throws FileServiceError `store-unavailable`
 */
export async function expireFiles(
  policy: ExpiryPolicy,
  customer: Customer,
  { onExpired, isInForce = () => true, signal }: ExpireOptions = {},
): Promise<ExpiryOutcome> {
  const first = await applyRule(policy, customer)
  if ('problem' in first) return { kind: 'wrong-clock', ...first }
  const { expireAfterMs, since, seen: time } = first
  const until = since + graceMs
  const isWaiting = time < until
  const isDue = ({ modifiedAt }: BlobInfo) =>
    modifiedAt.getTime() + expireAfterMs <= (isWaiting ? until : time)
  let count = 0
  let seen = time
  const changed = () => ({ kind: 'changed', expired: isWaiting ? 0 : count }) as const
  for await (const file of eachFile(policy.store, customer.name)) {
    signal?.throwIfAborted()
    if (Math.abs(policy.now() - seen) >= renewalMs) {
      if (!(await isInForce())) return changed()
      const rule = await applyRule(policy, customer)
      if ('problem' in rule) return { kind: 'wrong-clock', ...rule }
      // Nothing may be deleted for a day.
      if (rule.since !== since) return changed()
      seen = rule.seen
    }
    if (!isDue(file)) continue
    if (isWaiting) {
      count++
      continue
    }
    if (!(await isInForce())) return changed()
    if (await deleteExpired(policy, customer, file)) {
      count++
      await onExpired?.(file)
    }
  }
  return isWaiting
    ? { kind: 'waiting', until: new Date(until), due: count }
    : { kind: 'done', expired: count }
}

/**
 * Notes that the customer's rule is in force, as {@link expireFiles} does, and deletes nothing. Call it at least every two hours for a
 * customer whose call of `expireFiles` has to wait for those of others. Otherwise the rule counts as new when its turn comes.
 *
 * @throws TypeError for a customer without `expireAfterMs`
 * @throws FileServiceError `store-unavailable`
 */
export async function noteExpiry(
  policy: Pick<ExpiryPolicy, 'expiry' | 'now'>,
  customer: Customer,
): Promise<NoteOutcome> {
  const rule = await applyRule(policy, customer)
  if ('problem' in rule) return { kind: 'wrong-clock', ...rule }
  return { kind: 'noted', from: new Date(rule.since + graceMs) }
}

async function* eachFile(store: BlobStore, customer: string): AsyncGenerator<BlobInfo> {
  for await (const page of store.listDetails(customer)) yield* page
}

function deleteExpired(
  { expiry, quotas, keeps }: ExpiryPolicy,
  customer: Customer,
  file: BlobInfo,
): Promise<boolean> {
  return quotas.free(customer, file.name, () =>
    expiry.deleteUnchanged(customer.name, file, { keepReplaced: keeps(customer) }),
  )
}

/** What is remembered of a customer's rule. */
interface RuleNote {
  readonly expireAfterMs: number
  /** Since this time, no rule was longer than this one. */
  readonly since: number
  /** When it was last applied. */
  readonly seen: number
}

/** Remembers that the rule is in force, and finds out since when, unless one of the clocks is wrong. */
async function applyRule(
  { expiry, now }: Pick<ExpiryPolicy, 'expiry' | 'now'>,
  { name, expireAfterMs }: Customer,
): Promise<RuleNote | { readonly problem: string }> {
  if (expireAfterMs === undefined) throw new TypeError(`"${name}" has no expireAfterMs`)
  const time = now()
  const earlier = parseNote(await expiry.readNote(name))
  // The earlier time may be the wrong one. From the new one on, nothing expires for a day.
  const wentBack = earlier !== undefined && time < earlier.seen - toleranceMs
  const isNew =
    !earlier ||
    wentBack ||
    expireAfterMs < earlier.expireAfterMs ||
    time - earlier.seen > forgottenMs
  const note = { expireAfterMs, since: isNew ? time : earlier.since, seen: time }
  const stored = await expiry.writeNote(name, formatNote(note))
  if (Math.abs(stored.getTime() - time) > toleranceMs) {
    return {
      problem: `the store's clock is at ${at(stored.getTime())}, and this one at ${at(time)}`,
    }
  }
  if (wentBack) {
    return { problem: `the clock was at ${at(earlier.seen)} before, and is at ${at(time)} now` }
  }
  return note
}

const at = (time: number) => new Date(time).toISOString()

function formatNote({ expireAfterMs, since, seen }: RuleNote): string {
  return `1 ${Math.round(expireAfterMs)} ${Math.round(since)} ${Math.round(seen)}`
}

/** `undefined` for a text of another version: the rule counts as new then. */
function parseNote(text: string): RuleNote | undefined {
  const [, expireAfterMs, since, seen] = /^1 (\d{1,16}) (\d{1,16}) (\d{1,16})$/.exec(text) ?? []
  if (expireAfterMs === undefined) return undefined
  return { expireAfterMs: Number(expireAfterMs), since: Number(since), seen: Number(seen) }
}
