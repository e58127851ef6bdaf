import { randomUUID } from 'node:crypto'
import {
  countUsage,
  createStagedBytes,
  type Amount,
  type BlobStore,
  type Limits,
} from '@holdfast/core'
import type { Engine } from '../engine/engine.ts'
import type { Outbox } from '../engine/outbox.ts'
import type { Batch, Tagged } from './quota-reports.ts'
import { abortCountScript, beginCountScript, endCountScript, syncScript } from './quota-scripts.ts'

/** One of so many parts of what is free is given to a server in advance. */
export const partsAhead = 64

/** How long an account that no server uses is kept in the engine, in seconds: longer than clocks jump. */
const ttl = 24 * 3600

/** What the engine has answered. */
export interface Reply {
  /** The account and the number of its count, as in `GEN:4`. */
  readonly present: string
  readonly count: number
  readonly isTooHigh: boolean
  /** How long the last count took, in milliseconds. */
  readonly countingMs: number
  readonly granted: Amount
  readonly publishable: Amount
  readonly free: Amount
  readonly used: Amount
  readonly others: readonly Other[]
}

export interface Other {
  readonly server: string
  /** What it may use, or uses, without asking. */
  readonly granted: Amount
  /** The number of its death if the servers have found it dead; else 0. Each death of a server has another number. */
  readonly death: number
}

/** What a server reports of its part in an account; see `syncScript`. */
interface Report {
  readonly batch: Batch
  /** Larger than that of every report before. */
  readonly order: number
  /** Whether this server has had no answer yet. */
  readonly isNew: boolean
  readonly claim: Amount
  readonly keep: Amount
  readonly publishing: Amount
  readonly publishable: Amount
  /** What each upload that waits wants: it gets all of it, or nothing. */
  readonly wants: readonly Amount[]
  readonly publish: Amount
  readonly limits: Limits
  /** Whether the server wants nothing in advance. */
  readonly isModest: boolean
  readonly dead: readonly string[]
}

/** Sends a report. Resolves with the answer, or with what there is instead of an account that may be used. */
export async function syncAccount(
  engine: Engine,
  keys: readonly string[],
  { batch, order, isNew, isModest, dead, limits, ...amounts }: Report,
): Promise<Reply | 'no account' | 'first count'> {
  const { quota = Number.MAX_SAFE_INTEGER, maxFiles = Number.MAX_SAFE_INTEGER } = limits
  const request = {
    server: engine.servers.own,
    seq: batch.number,
    order,
    isNew: isNew ? 1 : 0,
    history: engine.history(),
    ttl,
    added: batch.added.map(tagged),
    removed: batch.removed.map(tagged),
    staged: batch.staged,
    gone: batch.gone,
    spent: pair(batch.spent),
    claim: pair(amounts.claim),
    keep: pair(amounts.keep),
    publishing: pair(amounts.publishing),
    publishable: pair(amounts.publishable),
    wants: amounts.wants.map(pair),
    publish: pair(amounts.publish),
    limits: [quota, maxFiles],
    ahead: isModest ? 0 : partsAhead,
    dead,
  }
  const answer = (await engine.run(syncScript, keys, [JSON.stringify(request)])) as unknown[]
  if (answer.length === 0) return 'no account'
  return answer.length === 2 ? 'first count' : parseReply(answer)
}

interface CountedAccount {
  readonly engine: Engine
  readonly store: BlobStore
  readonly customer: string
  readonly keys: readonly string[]
  /** Has the engine give up a count that failed: others wait for its end otherwise. */
  readonly outbox: Outbox
  /** Returns a number that is larger than all before. */
  readonly nextOrder: () => number
  /** Dead servers of which nothing need be reserved any longer, and the numbers of their deaths. */
  readonly release: readonly (readonly [server: string, death: number])[]
}

/** Counts the store, and begins the account if there is none. Resolves with `false` if another server is counting. */
export async function countAccount(account: CountedAccount): Promise<boolean> {
  const { engine, keys, outbox, nextOrder } = account
  const token = randomUUID()
  try {
    if (!(await beginCount(account, token))) return false
    await endCount(account, token)
    return true
  } catch (error) {
    // It may have begun although the answer was lost.
    const request = JSON.stringify({ token, server: engine.servers.own, order: nextOrder() })
    await outbox.add(() => engine.run(abortCountScript, keys, [request]))
    throw error
  }
}

/** Resolves with `false` if another server is counting that is alive. */
async function beginCount(
  { engine, keys, nextOrder }: CountedAccount,
  token: string,
): Promise<boolean> {
  const { servers } = engine
  const base = { server: servers.own, token, gen: randomUUID(), history: engine.history(), ttl }
  const begin = async (dead: readonly string[]) => {
    const request = JSON.stringify({ ...base, order: nextOrder(), dead })
    const answer = await engine.run(beginCountScript, keys, [request])
    const [, isOurs, owner] = answer as [number, number, string]
    return { isOurs: isOurs === 1, owner }
  }
  const { isOurs, owner } = await begin([])
  return isOurs || (servers.isDead(owner) && (await begin([owner])).isOurs)
}

async function endCount(
  { engine, store, customer, keys, release }: CountedAccount,
  token: string,
): Promise<void> {
  const startedAt = performance.now()
  const staged = createStagedBytes()
  const { bytes, files } = await countUsage(store, customer, staged)
  const uploads = staged.ids().map((id) => [id, staged.of(id)])
  const tookMs = Math.ceil(performance.now() - startedAt)
  const end = { token, ttl, bytes, files, tookMs, staged: uploads, release }
  await engine.run(endCountScript, keys, [JSON.stringify(end)])
}

function tagged({ present, amount }: Tagged): readonly [string, number, number] {
  return [present, ...pair(amount)]
}

function pair({ bytes, files }: Amount): readonly [number, number] {
  return [bytes, files]
}

function parseReply(answer: readonly unknown[]): Reply {
  const [present, count, tooHigh, countingMs] = answer
  const amount = (at: number): Amount => ({
    bytes: Number(answer[at]),
    files: Number(answer[at + 1]),
  })
  const names = answer[12] as readonly string[]
  const others = Array.from({ length: names.length / 4 }, (_, n) => ({
    server: names[4 * n] ?? '',
    granted: { bytes: Number(names[4 * n + 1]), files: Number(names[4 * n + 2]) },
    death: Number(names[4 * n + 3]),
  }))
  return {
    present: String(present),
    count: Number(count),
    isTooHigh: Number(tooHigh) === 1,
    countingMs: Number(countingMs),
    granted: amount(4),
    publishable: amount(6),
    free: amount(8),
    used: amount(10),
    others,
  }
}

/** Whether other servers have something that they might give back. */
export function othersHave(reply: Reply | undefined): boolean {
  return reply?.others.some(({ granted }) => granted.bytes > 0 || granted.files > 0) ?? false
}

/** Knows for how long servers have been dead that hold a part of an account. */
export interface Deaths {
  note(others: readonly Other[]): void
  /** The servers for which nothing need be held any longer, and the numbers of their deaths. */
  over(): readonly (readonly [server: string, death: number])[]
  /** Whether no server is known to be dead. */
  isEmpty(): boolean
}

/** Tracks the deaths of servers. Each death is over `holdMs` milliseconds after it was noted first. */
export function trackDeaths(now: () => number, holdMs: number): Deaths {
  let deaths = new Map<string, { readonly death: number; readonly since: number }>()
  return {
    note(others) {
      const before = deaths
      deaths = new Map()
      for (const { server, death } of others) {
        const known = before.get(server)
        // A server may have come back and died anew.
        if (death > 0) deaths.set(server, known?.death === death ? known : { death, since: now() })
      }
    },
    over: () =>
      [...deaths]
        .filter(([, { since }]) => now() - since >= holdMs)
        .map(([server, { death }]) => [server, death] as const),
    isEmpty: () => deaths.size === 0,
  }
}
