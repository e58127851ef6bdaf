import { setTimeout as delay } from 'node:timers/promises'
import {
  FileServiceError,
  countUsage,
  createKeyedCounter,
  createStagedBytes,
  difference,
  sum,
  type Amount,
  type BlobStore,
  type ClaimTerms,
  type Customer,
  type Limits,
  type QuotaAccount,
} from '@holdfast/core'
import { EngineAwayError, type Engine } from '../engine/engine.ts'
import { pauseMs, type CustomerMessages } from './customer-messages.ts'
import { type NameLocks, createLockedFiles } from './name-locks.ts'
import type { Outbox } from '../engine/outbox.ts'
import { bytesOf, isLower, least, nothing, positive, total } from './amounts.ts'
import { createQuotaPart, shareAlone } from './quota-part.ts'
import { createReports, reportDelayMs, createReportQueue } from './quota-reports.ts'
import { leaveScript } from './quota-scripts.ts'
import { countAccount, othersHave, syncAccount, type Deaths, type Reply } from './sync-account.ts'

/** The account of a customer, as one of several servers sees it. */
export interface SharedQuotaAccount extends QuotaAccount {
  /** Notes the limits that hold now, and has the store counted again in the background if the last count is old. */
  visit(limits: Limits): void
  /** Gives back what this server does not use. */
  giveBack(): Promise<void>
  /** Reports soon what has changed, for example after the engine was away. */
  refresh(): void
  /** Whether nothing is claimed, and nothing is left to report. */
  isIdle(): boolean
  /**
   * Gives back everything. Resolves with whether the engine has forgotten this server's part: not while uploads are under way, or while
   * the engine is away. The account can be used again afterwards.
   */
  leave(): Promise<boolean>
}

export interface AccountSetup {
  readonly engine: Engine
  readonly messages: CustomerMessages
  readonly nameLocks: NameLocks
  readonly outbox: Outbox
  /** Returns a number that is larger than all that this server has used before. */
  readonly nextOrder: () => number
  readonly store: BlobStore
  readonly now: () => number
  readonly recountAfterMs: number
  /** How long the space of a dead server stays reserved for uploads that it may have been publishing, in milliseconds. */
  readonly holdMs: number
  /** The dead servers that a customer's account knows, also from before it was opened. */
  readonly deathsOf: (customer: string) => Deaths
  /** Called with what failed in the background, such as a count. */
  readonly onError: (error: unknown) => void
}

/** How long a server takes nothing in advance after it gave something back, so that the one that needs it gets it; in milliseconds. */
const modestMs = 1_000

/** How often the engine is asked whether a server may publish, if its answers are lost. */
const publishAttempts = 5

/** An upload that waits until there is room. */
interface Ask extends ClaimTerms {
  readonly amount: Amount
  readonly resolve: (isTaken: boolean) => void
  readonly reject: (error: unknown) => void
}

/** An upload that waits until more may be published. */
interface PublishAsk {
  readonly amount: Amount
  readonly resolve: () => void
}

/** Opens the account. `counted` resolves when it may be used. */
export function openSharedAccount(
  { name: customer, ...first }: Customer,
  setup: AccountSetup,
): SharedQuotaAccount {
  const { engine, messages, nameLocks, outbox, store, nextOrder } = setup
  const { now, recountAfterMs, holdMs, onError } = setup
  const keys = [engine.key('quota', customer), engine.key('uploads', customer)]
  const staged = createStagedBytes()
  const reports = createReports(nextOrder)
  let limits: Limits = first
  const times = { now, lifetimeMs: holdMs / 2 }
  const part = createQuotaPart({ reports, ...times, isAway: () => engine.isAway() })
  const deaths = setup.deathsOf(customer)
  const lockedFiles = createLockedFiles(customer, nameLocks)
  let reply: Reply | undefined
  /** The number of the last report that was answered. */
  let order = 0
  /** Whether the engine has answered this server, and has not forgotten it at its own wish since. */
  let isKnown = false
  /** When a count was seen to end, and when the last one was seen first. */
  let countedAt = -Infinity
  let seenAt = -Infinity
  /** Until when this server takes nothing in advance. */
  let modestUntil = -Infinity
  let asks: Ask[] = []
  let publishAsks: PublishAsk[] = []
  let negotiating: Promise<void> | undefined
  let recounting: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  /** What may be claimed now. If more is used than the quota allows, no server may use what it has in advance. */
  const roomFor = (isPiece: boolean) =>
    sum(part.roomFor(isPiece), least(reply?.free ?? nothing, nothing))
  const fits = ({ amount, credit, isPiece }: ClaimTerms & Pick<Ask, 'amount'>) => {
    const room = roomFor(isPiece)
    return amount.bytes <= room.bytes + credit && (amount.files <= 0 || amount.files <= room.files)
  }

  /** Serves those that wait, in order, as far as there is room. */
  const serve = () => {
    asks = asks.filter((ask) => {
      if (!fits(ask)) return true
      part.change(ask.amount, ask.isPiece)
      // The engine does not know yet of what has only a credit.
      if (part.headroom().bytes < 0) {
        void unlessAway(sync()).then(() => ask.resolve(true), ask.reject)
      } else {
        ask.resolve(true)
      }
      return false
    })
    publishAsks = publishAsks.filter(({ amount, resolve }) => {
      const room = part.publishRoom()
      const mayPublish =
        (amount.bytes <= 0 || amount.bytes <= room.bytes) &&
        (amount.files <= 0 || amount.files <= room.files)
      if (!mayPublish && !engine.isAway()) return true
      part.changePublishing(amount)
      resolve()
      return false
    })
  }

  const others = () => (reply?.others ?? []).map(({ server }) => server)
  const dead = () => others().filter((server) => engine.servers.isDead(server))

  const noteReply = (values: Reply) => {
    if (reply === undefined) seenAt = now()
    else if (values.count % 2 === 0 && values.present !== reply.present) {
      countedAt = now()
      seenAt = countedAt
    }
    reply = values
    deaths.note(values.others)
  }

  /** Sends a report, and takes over what the engine answers. Resolves with what there is. */
  const report = async (givesBack: boolean): Promise<'no account' | 'first count' | 'account'> => {
    const batch = reports.begin()
    if (givesBack) modestUntil = now() + modestMs
    const sentAt = now()
    const number = nextOrder()
    const answer = await syncAccount(engine, keys, {
      batch,
      order: number,
      isNew: !isKnown,
      ...part.report(batch, givesBack || part.isAmple(reply?.free ?? nothing)),
      wants: asks.map(({ amount }) => amount),
      publish: sum(total(publishAsks), bytesOf(total(asks.filter(({ isPiece }) => isPiece)))),
      limits,
      isModest: now() < modestUntil,
      dead: dead(),
    })
    if (typeof answer === 'string') return answer
    reports.end(batch)
    order = number
    isKnown = true
    noteReply(answer)
    part.answer(sentAt, answer.granted, answer.publishable)
    serve()
    return 'account'
  }

  /** Counts the store, unless another server does; resolves with whether this one did. */
  const count = async (): Promise<boolean> => {
    const account = { engine, store, customer, keys, outbox, nextOrder, release: deaths.over() }
    if (!(await countAccount(account))) return false
    messages.reportCount(customer)
    return true
  }

  /** Reports, and has the account begun and counted if there is none. */
  const reportOrBegin = async (givesBack: boolean): Promise<void> => {
    while ((await report(givesBack)) !== 'account') {
      if (!(await count())) await messages.nextCount(customer)
    }
  }

  const queue = createReportQueue(reportOrBegin)
  /** Reports everything that there is. */
  const sync = async (givesBack = false) => queue.add(givesBack)

  /** Has the store counted again, after all servers have reported. Resolves when a count has ended that began after the call. */
  const recountNow = async () => {
    await messages.askAll(customer, others())
    await sync()
    const { present = '', count: before = 0 } = reply ?? {}
    const [account] = present.split(':')
    // A count under way may have begun before the call; the one after it has not.
    const enough = before % 2 === 1 ? before + 3 : before + 2
    // If the account was lost, the new one was counted after the call.
    const isSame = () => reply?.present.split(':')[0] === account
    while (isSame() && (reply?.count ?? 0) < enough) {
      if (!(await count())) await messages.nextCount(customer)
      await sync()
    }
  }
  const recount = (): Promise<void> => {
    recounting ??= recountNow().finally(() => void (recounting = undefined))
    return recounting
  }

  const isOld = () => {
    const { isTooHigh = true, countingMs = 0 } = reply ?? {}
    const lifetime = Math.max(isTooHigh ? 0 : 1_000, 20 * countingMs)
    return now() - countedAt >= Math.min(recountAfterMs, lifetime)
  }

  /** Has the other servers give back what they do not use. */
  const collect = async () => {
    if (!othersHave(reply)) return
    await messages.askAll(customer, others())
    await sync()
  }

  /** Looks for room for those that wait, and refuses those for which there is none. */
  const negotiate = async (): Promise<void> => {
    while (asks.length > 0) {
      const round = asks
      const isOpen = () => round.some((ask) => asks.includes(ask))
      await sync()
      if (isOpen()) await collect()
      if (isOpen() && isOld()) {
        await recount()
        // The others have taken something in advance since.
        if (isOpen()) await collect()
      }
      refuse(round)
    }
  }
  const refuse = (round: readonly Ask[]) => {
    serve()
    for (const { resolve } of round.filter((ask) => asks.includes(ask))) resolve(false)
    asks = asks.filter((ask) => !round.includes(ask))
  }
  /** Goes on without the engine: with a share of what was free when it answered last. */
  const goOnAlone = () => {
    const { free } = reply ?? {}
    if (free !== undefined) part.goOnAlone(() => shareAlone(engine, free))
  }
  const isAway = (error: unknown): boolean => {
    if (!(error instanceof EngineAwayError)) return false
    goOnAlone()
    serve()
    return true
  }
  const startNegotiating = () => {
    negotiating ??= negotiate()
      .catch((error: unknown) => {
        if (isAway(error)) return refuse(asks)
        for (const { reject } of asks) reject(error)
        asks = []
      })
      .finally(() => {
        negotiating = undefined
        if (asks.length > 0) void startNegotiating()
      })
    return negotiating
  }
  /** Reports soon, with what comes meanwhile. */
  const reportSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      inBackground(sync())
    }, reportDelayMs(engine.servers.count()))
  }
  const inBackground = (work: Promise<void>) =>
    void work.catch((error: unknown) => {
      if (!isAway(error)) onError(error)
    })
  const unlessAway = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (!isAway(error)) throw error
    })

  /** @throws FileServiceError `overloaded` if the engine does not let this server publish */
  const waitToPublish = async (isWaiting: () => boolean) => {
    serve()
    for (let attempt = 0; isWaiting() && attempt < publishAttempts; attempt++) {
      if (attempt > 0) await delay(pauseMs)
      const hasAnswered = await sync().then(
        () => true,
        (error: unknown) => {
          if (!isAway(error) && isWaiting()) throw error
          return false
        },
      )
      if (hasAnswered) break
    }
    if (!isWaiting()) return
    const message = 'Other servers have taken over what this one had reserved'
    throw new FileServiceError('overloaded', message, { retryAfterMs: 1_000 })
  }

  const isIdle = () =>
    part.isUnused() &&
    reports.isEmpty() &&
    asks.length + publishAsks.length === 0 &&
    !queue.isWaiting()

  const openAlone = async () => {
    const found = await countUsage(store, customer, staged)
    const free = {
      bytes: (limits.quota ?? Number.MAX_SAFE_INTEGER) - found.bytes - staged.total(),
      files: (limits.maxFiles ?? Number.MAX_SAFE_INTEGER) - found.files,
    }
    part.goOnAlone(() => shareAlone(engine, free))
  }
  const counted = sync().catch((error: unknown) => {
    if (!(error instanceof EngineAwayError)) throw error
    return openAlone()
  })

  return {
    counted,
    room: (_limits, isPiece = false) => roomFor(isPiece).bytes,
    // A credit counts only after the others were asked, since they may have used it, too.
    fits: (amount, _limits, { isPiece }) => fits({ amount, credit: 0, isPiece }),
    used: () => sum(reply?.used ?? nothing, part.used()),
    change(by, isPiece = false) {
      part.change(by, isPiece)
      if (by.bytes < 0 || by.files < 0) reportSoon()
    },
    record({ added, removed, upload }) {
      // The bytes of an upload in pieces are reserved already: they become those of the file.
      const spent = difference(
        upload === undefined ? added : { bytes: 0, files: added.files },
        removed,
      )
      const known = reply?.present ?? ''
      reports.change(
        { present: known, amount: added },
        { present: lockedFiles.present(), amount: removed },
        spent,
      )
      if (upload !== undefined) {
        staged.remove(upload)
        reports.gone(upload)
      }
      // Otherwise it is free when it was reported: a count may have freed it for other servers, too.
      if (engine.isAway()) {
        goOnAlone()
        part.freeAlone(positive(difference(nothing, spent)))
      }
      reportSoon()
    },
    stage(upload, bytes, freed) {
      staged.raise(upload, bytes)
      reports.staged(upload, bytes, { bytes: freed, files: 0 })
      part.change({ bytes: -freed, files: 0 }, true)
      reportSoon()
    },
    stageMore(upload, more, freed) {
      staged.raise(upload, staged.of(upload) + more)
      reports.stagedMore(upload, more, { bytes: freed, files: 0 })
      part.change({ bytes: -freed, files: 0 }, true)
      reportSoon()
    },
    unstage(upload) {
      staged.remove(upload)
      reports.gone(upload)
      reportSoon()
    },
    staged: (upload) => staged.of(upload),
    stagedUploads: () => staged.ids(),
    pieces: createKeyedCounter(),
    users: 0,
    invalidateCount() {
      countedAt = -Infinity
    },
    shared: {
      async take(amount, present, terms) {
        limits = present
        const { promise, resolve, reject } = Promise.withResolvers<boolean>()
        asks.push({ amount, ...terms, resolve, reject })
        void startNegotiating()
        return promise
      },
      lock: async (name, kept) => lockedFiles.lock(name, kept, reply?.present ?? ''),
      async confirm() {
        while (!engine.servers.hasLease() && !engine.isAway()) {
          await delay(pauseMs)
          await unlessAway(sync())
        }
      },
      async beginPublishing(amount) {
        const wanted = positive(amount)
        const { promise, resolve } = Promise.withResolvers<undefined>()
        const ask = { amount: wanted, resolve: () => resolve(undefined) }
        publishAsks.push(ask)
        try {
          await waitToPublish(() => publishAsks.includes(ask))
        } finally {
          publishAsks = publishAsks.filter((other) => other !== ask)
        }
        await promise
        return () => part.changePublishing(difference(nothing, wanted))
      },
      flush: () => unlessAway(sync()),
    },
    visit(present) {
      if (isLower(present, limits)) part.cut()
      limits = present
      if (reply === undefined) return
      if (now() - seenAt < Math.max(recountAfterMs, 20 * reply.countingMs)) return
      seenAt = now()
      inBackground(recount())
    },
    giveBack: () => unlessAway(sync(true)),
    refresh: reportSoon,
    isIdle,
    async leave() {
      clearTimeout(timer)
      timer = undefined
      await unlessAway(sync(true))
      // What is not reported must stay reserved; if this server ends, its lease ends, too.
      if (!isIdle()) return false
      const request = JSON.stringify({ server: engine.servers.own, order })
      const hasLeft = await engine.run(leaveScript, keys, [request]).catch((error: unknown) => {
        if (!isAway(error)) throw error
      })
      if (hasLeft !== 1) return false
      isKnown = false
      return true
    },
  }
}
