import {
  having,
  isLimited,
  requireFunction,
  requireOptions,
  type BlobStore,
  type Customer,
  type SharedQuotas,
} from '@holdfast/core'
import { createCustomerMessages } from './customer-messages.ts'
import { type Engine, requireEngine } from '../engine/engine.ts'
import { requireMs } from '../engine/engine-settings.ts'
import { createNameLocks } from './name-locks.ts'
import { createOutbox } from '../engine/outbox.ts'
import { openSharedAccount, type SharedQuotaAccount } from './quota-account.ts'
import { createSharedUploadCounter } from './unfinished-uploads.ts'

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
  const setup = { ...shared, now, recountAfterMs, holdMs, onError }

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
    if (hasLeft && open.get(name)?.account === account && !isUsed(name)) open.delete(name)
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
      account.outdate()
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
