import { difference, sum, type Amount } from '@holdfast/core'
import { bytesOf, least, most, nothing, positive } from './amounts.ts'
import type { Batch, Reports } from './quota-reports.ts'
import { partsAhead } from './sync-account.ts'
import type { Engine } from '../engine/engine.ts'

/** What a report says of the part; see `syncScript`. */
export interface ReportedPart {
  readonly claim: Amount
  readonly keep: Amount
  readonly publishing: Amount
  readonly publishable: Amount
}

/** The part of a customer's quota that one server may use. */
export interface QuotaPart {
  /** What uploads have claimed, and what they have stored that is not reported yet. */
  used(): Amount
  /** What may be claimed besides. Negative if the others have taken something over. */
  headroom(): Amount
  /** The same for an upload, with what may be used while the engine is away. */
  roomFor(isPiece: boolean): Amount
  /** What may be published besides what is being published. Nothing if the last answer is too old. */
  publishRoom(): Amount
  change(by: Amount, isPiece: boolean): void
  changePublishing(by: Amount): void
  /** Whether there is much more to claim than a server gets in advance of what is `free`. */
  isAmple(free: Amount): boolean
  /** What to report with `batch`. Until the answer comes, no more is used than that keeps; nothing unclaimed if it `givesBack`. */
  report(batch: Batch, givesBack: boolean): ReportedPart
  /** Takes over an answer to a report that was sent at `sentAt`. */
  answer(sentAt: number, granted: Amount, publishable: Amount): void
  /** Keeps nothing unclaimed. */
  cut(): void
  /** What may be used in addition until the next answer, as the engine is away. Only the first call since an answer has an effect. */
  goOnAlone(extra: () => Amount): void
  /** Adds what was freed while the engine is away, after `goOnAlone`. */
  freeAlone(amount: Amount): void
  isUnused(): boolean
}

export interface QuotaPartOptions {
  readonly reports: Pick<Reports, 'spent' | 'spentSince'>
  readonly now: () => number
  /** How long an answer holds for publications, in milliseconds. */
  readonly lifetimeMs: number
  readonly isAway: () => boolean
}

/** Makes a {@link QuotaPart} with nothing in it. */
export function createQuotaPart({ reports, now, lifetimeMs, isAway }: QuotaPartOptions): QuotaPart {
  let claimed = nothing
  let publishing = nothing
  /** While a report is on its way, only what that keeps. */
  let granted = nothing
  let publishable = nothing
  let extra: Amount | undefined
  let answerSentAt = -Infinity

  const used = () => sum(claimed, reports.spent())
  const headroom = () => difference(granted, used())
  // The others may have found this server dead since an old answer, and have given up what was held for it.
  const publishRoom = () =>
    now() - answerSentAt < lifetimeMs
      ? difference(publishable, sum(publishing, reports.spent()))
      : nothing

  return {
    used,
    headroom,
    publishRoom,
    roomFor(isPiece) {
      const { bytes, files } = sum(headroom(), extra ?? nothing)
      if (!isPiece || isAway()) return { bytes, files }
      return { bytes: Math.min(bytes, publishRoom().bytes), files }
    },
    change(by, isPiece) {
      claimed = sum(claimed, by)
      // The store may keep the bytes of a piece as soon as they arrive.
      if (isPiece) publishing = sum(publishing, bytesOf(by))
    },
    changePublishing(by) {
      publishing = sum(publishing, by)
    },
    isAmple(free) {
      const room = headroom()
      const all = sum(free, room)
      return room.bytes > (2 * all.bytes) / partsAhead || room.files > (2 * all.files) / partsAhead
    },
    report(batch, givesBack) {
      const kept = givesBack ? nothing : positive(headroom())
      // What is stored stays reserved until it is reported.
      const stored = reports.spentSince()
      const claim = sum(claimed, stored)
      const keep = sum(claim, kept)
      const published = sum(publishing, stored)
      const mayPublish = most(published, least(sum(published, positive(publishRoom())), keep))
      granted = least(granted, sum(used(), kept))
      publishable = sum(mayPublish, batch.spent)
      return { claim, keep, publishing: published, publishable: mayPublish }
    },
    answer(sentAt, ...amounts) {
      answerSentAt = sentAt
      extra = undefined
      ;[granted, publishable] = amounts
    },
    cut() {
      granted = least(granted, used())
    },
    goOnAlone(more) {
      extra ??= more()
    },
    freeAlone(amount) {
      if (extra) extra = sum(extra, amount)
    },
    isUnused: () =>
      claimed.bytes <= 0 && claimed.files <= 0 && publishing.bytes <= 0 && publishing.files <= 0,
  }
}

/** How many servers there may be if the engine has never been reached, so that none was seen. */
const assumedServers = 4

/** What each of the servers may use of what is free while the engine is away. */
export function shareAlone(engine: Engine, { bytes, files }: Amount): Amount {
  const seen = engine.servers.count()
  const servers = engine.history() === '' ? Math.max(seen, assumedServers) : seen
  return positive({ bytes: Math.floor(bytes / servers), files: Math.floor(files / servers) })
}
