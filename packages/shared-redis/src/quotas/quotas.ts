import {
  having,
  isLimited,
  requireFunction,
  requireOptions,
  type BlobStore,
  type Customer,
  type SharedQuotas,
  createUploadCounter,
  uploadsExceeded,
  type UploadCounter,
} from '@holdfast/core'
import { requireMs } from '../engine/engine-settings.ts'
import { type Engine, requireEngine, EngineAwayError, script } from '../engine/engine.ts'
import { createOutbox } from '../engine/outbox.ts'
import { createCustomerMessages } from './customer-messages.ts'
import { createNameLocks } from './name-locks.ts'
import { openSharedAccount, type SharedQuotaAccount } from './quota-account.ts'
import { trackDeaths, type Deaths } from './sync-account.ts'

export interface SharedQuotasOptions {
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
  /** How old a count of the store may be, in milliseconds, before it is counted again in the background. Default: one minute. */
  readonly recountAfterMs?: number
  /** How long the space of a dead server stays reserved for uploads that it may have been publishing, in milliseconds. Default: ten minutes. */
  readonly holdMs?: number
  /** How long an account stays open after its last use, in milliseconds. Default: ten seconds. */
  readonly idleMs?: number
  /** Called with what failed in the background, such as a count. Default: it is ignored, and tried again by the next upload. */
  readonly onError?: (error: unknown) => void
}

/** Accounts of quotas that all servers with the same engine share. */
export interface OpenSharedQuotas extends SharedQuotas {
  /** Gives back everything that this server has reserved. */
  close(): Promise<void>
}

/**
 * Opens the accounts. Stored bytes and reserved ones never exceed a quota together while the engine keeps its data, whatever messages are
 * lost, late or doubled. Each server has 1/64 of what is free in advance, so that a small upload seldom waits for the engine. While
 * the engine is away, a server uses its own part, and its share of what was free.
 *
 * @throws TypeError or RangeError that names what is missing or wrong
 */
export function openSharedQuotas(
  engine: Engine,
  store: BlobStore,
  options: SharedQuotasOptions = {},
): OpenSharedQuotas {
  requireQuotasOptions(engine, store, options)
  const { now = () => performance.now(), recountAfterMs = 60_000, holdMs = 600_000 } = options
  const { idleMs = 10_000, onError = () => {} } = options
  const open = new Map<
    string,
    { customer: Customer; account: SharedQuotaAccount; usedAt: number }
  >()
  /** Kept while an account is closed: one that is opened seldom would never see a death that is long ago. */
  const deaths = new Map<string, Deaths>()
  const deathsOf = (customer: string) => {
    const known = deaths.get(customer) ?? trackDeaths(now, holdMs)
    deaths.set(customer, known)
    return known
  }
  const messages = createCustomerMessages(engine, {
    onAsked: async (customer) => open.get(customer)?.account.giveBack().catch(onError),
    onCounted: (customer) => open.get(customer)?.account.refresh(),
  })
  const nameLocks = createNameLocks(engine)
  const outbox = createOutbox(engine)
  // All accounts of this server, since one may be opened again before the engine has forgotten the last.
  let order = 0
  const nextOrder = () => ++order
  const shared = { engine, messages, nameLocks, outbox, store, nextOrder }
  const setup = { ...shared, now, recountAfterMs, holdMs, deathsOf, onError }

  const openAccount = (customer: Customer): SharedQuotaAccount => {
    const { name } = customer
    const known = open.get(name)
    const account = known?.account ?? openSharedAccount(customer, setup)
    if (known === undefined) {
      // A failed count is dropped, so that the next upload retries.
      account.counted.catch(() => {
        if (open.get(name)?.account === account) open.delete(name)
      })
    }
    open.set(name, { customer, account, usedAt: now() })
    account.visit(customer)
    return account
  }
  const isUsed = (name: string): boolean => {
    const one = open.get(name)
    if (one === undefined) return false
    return one.account.users > 0 || now() - one.usedAt < idleMs || !one.account.isIdle()
  }
  /** The account stays open until the engine has forgotten it: other servers ask for what it keeps otherwise. */
  const leaveIdle = async (name: string, account: SharedQuotaAccount) => {
    const hasLeft = await account.leave()
    if (!hasLeft || open.get(name)?.account !== account || isUsed(name)) return
    open.delete(name)
    if (deathsOf(name).isEmpty()) deaths.delete(name)
  }
  const tidy = () => {
    for (const [name, { account }] of open) {
      if (isUsed(name)) account.refresh()
      else void leaveIdle(name, account).catch(onError)
    }
  }
  const timer = setInterval(tidy, idleMs)
  timer.unref()
  engine.onChange((isAway) => {
    if (isAway) return
    for (const { account } of open.values()) {
      account.invalidateCount()
      account.refresh()
    }
  })

  return {
    accounts: {
      open: openAccount,
      find: (customer) => (isLimited(customer) ? openAccount(customer) : undefined),
      customers: () => [...open.values()].map(({ customer }) => customer),
    },
    uploads: createSharedUploadCounter(engine, store, now),
    async close() {
      clearInterval(timer)
      await Promise.all([...open.values()].map(({ account }) => account.leave().catch(onError)))
      open.clear()
    },
  }
}

function requireQuotasOptions(engine: unknown, store: unknown, options: unknown): void {
  requireEngine(engine)
  having('usage', 'stat')('store', store)
  requireOptions('openSharedQuotas(engine, store, { holdMs })', options, {
    'now?': requireFunction,
    'recountAfterMs?': requireMs,
    'holdMs?': requireMs,
    'idleMs?': requireMs,
    'onError?': requireFunction,
  })
}

/**
 * Counts the unfinished uploads of each customer for all servers. While the engine is away, each server counts for itself.
 */
export function createSharedUploadCounter(
  engine: Engine,
  store: BlobStore,
  now: () => number,
): UploadCounter {
  const list = (customer: string) => store.resumable?.list(customer) ?? none()
  const own = createUploadCounter({ list }, now)
  const listed = new Map<string, { at: number; tookMs: number }>()
  const keyOf = (customer: string) => engine.key('unfinished', customer)
  const slots = new Set<string>()
  const outbox = createOutbox(engine)
  let slotNumber = 0
  /** Whether it is a slot whose server is dead, or one of this server that was taken by a question which came late. */
  const isGone = (id: string) => {
    const holder = /^begin:([^:]+):/.exec(id)?.[1]
    if (holder === undefined) return false
    return holder === engine.servers.own ? !slots.has(id) : engine.servers.isDead(holder)
  }

  const listUploads = async (customer: string) => {
    const key = keyOf(customer)
    const at = now()
    // If the engine loses its data meanwhile, what others have counted there is missing: the next upload lists again.
    const history = engine.history()
    const [number, counted] = (await engine.run(beginListScript, [key], [ttl])) as [
      number,
      string[],
    ]
    const ids: string[] = []
    for await (const uploads of list(customer)) ids.push(...uploads.map(({ id }) => id))
    const request = { list: number, history, ttl, ids, gone: counted.filter(isGone) }
    await engine.run(countListScript, [key], [JSON.stringify(request)])
    listed.set(customer, { at, tookMs: now() - at })
  }
  const isOld = (customer: string) => {
    const { at, tookMs } = listed.get(customer) ?? { at: -Infinity, tookMs: 0 }
    return now() - at >= Math.max(shortestAgeMs, timesListing * tookMs)
  }
  /** Other servers count the slot as long as this one lives, so that it must be freed in the end. */
  const freeSlot = (customer: string, slot: string, upload: string) =>
    outbox.add(() => engine.run(freeSlotScript, [keyOf(customer)], [slot, upload]))
  /** Takes a slot. @throws FileServiceError `quota-exceeded`; EngineAwayError */
  const takeSlot = async (customer: string, most: number, slot: string): Promise<void> => {
    while (true) {
      const count = Number(
        await engine.run(takeSlotScript, [keyOf(customer)], [engine.history(), most, slot, ttl]),
      )
      if (count === -1) return
      if (count >= 0 && !isOld(customer)) throw uploadsExceeded(count, most)
      await listUploads(customer)
    }
  }

  return {
    async begin(customer, most, begin) {
      if (most === Infinity) return begin()
      const slot = `begin:${engine.servers.own}:${++slotNumber}`
      slots.add(slot)
      let begun = ''
      try {
        await takeSlot(customer, most, slot)
      } catch (error) {
        slots.delete(slot)
        if (!(error instanceof EngineAwayError)) throw error
        // It may have been taken although the answer was lost.
        void freeSlot(customer, slot, '')
        return own.begin(customer, most, begin)
      }
      try {
        const upload = await begin()
        begun = upload.id
        return upload
      } finally {
        slots.delete(slot)
        await freeSlot(customer, slot, begun)
      }
    },
    async end(customer, upload) {
      await own.end(customer, upload)
      await outbox.add(() => engine.run(endUploadScript, [keyOf(customer)], [upload]))
    },
    forget() {
      own.forget()
      listed.clear()
    },
  }
}

async function* none() {}

/**
 * Takes a slot for an upload that is about to begin. Returns -1; or how many there are, if they are too many; or -2 if the uploads must be
 * listed first. Arguments: history, most, the slot, time to live.
 */
const takeSlotScript = script(`
if redis.call('HGET', KEYS[1], 'history') ~= ARGV[1] then return -2 end
local count = redis.call('HLEN', KEYS[1]) - 2
if count >= tonumber(ARGV[2]) then return count end
redis.call('HSET', KEYS[1], ARGV[3], redis.call('HGET', KEYS[1], 'list'))
redis.call('EXPIRE', KEYS[1], ARGV[4])
return -1
`)

/** Frees a slot, and counts the upload that has begun, if one has. Arguments: the slot, the upload or nothing. */
const freeSlotScript = script(`
redis.call('HDEL', KEYS[1], ARGV[1])
if ARGV[2] ~= '' and redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[2], redis.call('HGET', KEYS[1], 'list') or '0')
end
return 1
`)

const endUploadScript = script(`return redis.call('HDEL', KEYS[1], ARGV[1])`)

/**
 * Begins a list. What is counted from then on stays although the list may miss it. Returns its number, and all that is counted. Argument:
 * time to live.
 */
const beginListScript = script(`
local list = redis.call('HINCRBY', KEYS[1], 'list', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return { list, redis.call('HKEYS', KEYS[1]) }
`)

/** Counts what was listed. The request: `list, history, ttl`; `ids`; `gone`: slots whose servers are dead or have forgotten them. */
const countListScript = script(`
local request = cjson.decode(ARGV[1])
local listed = {}
for _, id in ipairs(request.ids) do listed[id] = true end
for _, slot in ipairs(request.gone) do redis.call('HDEL', KEYS[1], slot) end
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local id, list = all[at], tonumber(all[at + 1])
  local isSlot = string.match(id, '^begin:')
  if not isSlot and id ~= 'history' and id ~= 'list' and not listed[id] and list and list < request.list then
    redis.call('HDEL', KEYS[1], id)
  end
end
for id in pairs(listed) do redis.call('HSETNX', KEYS[1], id, request.list) end
redis.call('HSET', KEYS[1], 'history', request.history)
redis.call('EXPIRE', KEYS[1], request.ttl)
return 1
`)

/** How old a list may be that refuses an upload, in milliseconds; or twenty times as old as it took to make. */
const shortestAgeMs = 1_000
const timesListing = 20

const ttl = 24 * 3600
