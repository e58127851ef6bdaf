import {
  createKeyedCounter,
  having,
  requireCount,
  requireFunction,
  requireOptions,
  requireText,
  type UseCounter,
} from '@holdfast/core'
import { type Engine } from '../engine/engine.ts'
import { requireMs } from '../engine/engine-settings.ts'

type MessagingEngine = Pick<Engine, 'servers' | 'notify' | 'onMessage' | 'onMissed' | 'onChange'>

export interface SharedUseCounterOptions {
  /** Names the counter: equal on all servers. */
  readonly name: string
  /** The limit that is enforced by the counts of all servers together. */
  readonly limit: number
  /** How often a server repeats what it has reported, about, in milliseconds. Default: 2,000. */
  readonly repeatMs?: number
  /** After how long without a message a server counts no more, in milliseconds. Default: three times `repeatMs`. */
  readonly silenceMs?: number
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
}

/** Counts the uses of this server and those that others have reported. */
export interface SharedUseCounter extends UseCounter {
  /** Sets how many uses this server has, for a server that counts its uses otherwise. */
  set(key: string, count: number): void
  /** The uses that other servers have reported. */
  countOfOthers(key: string): number
  /** The keys of which others have uses. */
  keysOfOthers(): readonly string[]
  /** Calls `listener` when {@link countOfOthers} of the key has changed. */
  onOthers(listener: (key: string) => void): void
  /** Reports that this server has no more uses. */
  close(): void
}

/** What servers send each other. */
interface UseReport {
  /** All uses of the sender; instead of what it has reported before. */
  readonly all?: readonly Use[]
  readonly changes?: readonly Use[]
  /** The sender wants to know all uses of the others. */
  readonly asks?: true
}

type Use = readonly [key: string, count: number]

/**
 * By how much the count of a key may change before one of `servers` reports it.
 *
 * What all servers together have not reported is less than an eighth of `limit`: n × (step - 1) < `limit` / 8. One more server is
 * included, which the others do not know yet. A limit of less than 8 × (`servers` + 1) has a step of 1: everything is reported.
 */
export function stepOfLimit(limit: number, servers: number): number {
  return Math.max(1, Math.floor(limit / (8 * (servers + 1))))
}

/**
 * Makes a {@link SharedUseCounter}. A server reports a key when its count has moved by a step, or is zero again, in one message per
 * tick. So `limit` is exceeded or missed by less than an eighth, and by what begins while a message is on its way; see
 * {@link stepOfLimit}. If several servers start at the same time, it may be a quarter for about two seconds.
 *
 * Nothing is kept in the engine. A lost message is healed by the next repetition. While the engine is away, a server counts its own
 * uses only, as soon as the others have been silent for `silenceMs`. `change` costs two look-ups, unless the count moves by a step.
 *
 * @throws TypeError or RangeError that names what is missing or wrong
 */
export function createSharedUseCounter(
  engine: MessagingEngine,
  options: SharedUseCounterOptions,
): SharedUseCounter {
  requireCounterOptions(engine, options)
  const { name, limit, repeatMs = 2_000, silenceMs = 3 * repeatMs } = options
  const { now = () => performance.now() } = options
  const topic = `uses:${name}`
  const own = createKeyedCounter()
  const reported = createKeyedCounter()
  const others = createOtherUses()
  let step = stepOfLimit(limit, engine.servers.count())
  let timer: NodeJS.Timeout | undefined

  const sender = createReportSender((report) => engine.notify(topic, report), reported)
  const reportIfMoved = (key: string, count: number) => {
    const before = reported.count(key)
    const isOver = count === 0 && before > 0
    if (!isOver && Math.abs(count - before) < step) return
    reported.set(key, count)
    sender.report(key)
  }
  const repeat = () => {
    step = stepOfLimit(limit, engine.servers.count())
    // What is sent anyway is sent exactly.
    for (const key of reported.keys()) reported.set(key, own.count(key))
    for (const key of own.keys()) reportIfMoved(key, own.count(key))
    sender.reportAll()
  }
  const forgetSilent = () => {
    for (const [server, heardAt] of others.servers()) {
      if (now() - heardAt > silenceMs || engine.servers.isDead(server)) others.forget(server)
    }
  }
  const repeatLater = () => {
    // Servers that have started together do not repeat together.
    const afterMs = repeatMs * (0.75 + Math.random() / 2)
    timer = setTimeout(() => {
      forgetSilent()
      repeat()
      repeatLater()
    }, afterMs).unref()
  }
  const ask = () => engine.notify(topic, { asks: true } satisfies UseReport)

  engine.onMessage(topic, (message, server) => {
    const { all, changes = [], asks } = message as UseReport
    if (asks) sender.reportAll()
    else others.apply(server, now(), all ?? changes, all !== undefined)
  })
  engine.onChange((isAway) => {
    if (isAway) return
    ask()
    repeat()
  })
  engine.onMissed(ask)
  ask()
  repeatLater()

  return {
    count: (key) => own.count(key) + others.count(key),
    change: (key, by) => reportIfMoved(key, own.change(key, by)),
    set(key, count) {
      own.set(key, count)
      reportIfMoved(key, count)
    },
    countOfOthers: (key) => others.count(key),
    keysOfOthers: () => others.keys(),
    onOthers: (listener) => others.onChange(listener),
    close() {
      clearTimeout(timer)
      sender.close()
      engine.notify(topic, { all: [] } satisfies UseReport)
    },
  }
}

function requireCounterOptions(engine: unknown, options: unknown): void {
  having('notify', 'onMessage', 'onMissed', 'onChange')('engine', engine)
  requireOptions('createSharedUseCounter(engine, { name, limit })', options, {
    name: requireText,
    limit: (what, value) => requireCount(what, value, 'uses'),
    'repeatMs?': requireMs,
    'silenceMs?': requireMs,
    'now?': requireFunction,
  })
}

/** Sends what is in `reported`, in one message per tick. */
function createReportSender(
  send: (report: UseReport) => void,
  reported: { count(key: string): number; keys(): readonly string[] },
) {
  const changed = new Set<string>()
  let isAllWanted = false
  let mayOthersHaveUses = false
  let sending: NodeJS.Immediate | undefined

  const flush = () => {
    sending = undefined
    const use = (key: string): Use => [key, reported.count(key)]
    const all = isAllWanted ? reported.keys().map(use) : undefined
    const changes = [...changed].map(use)
    changed.clear()
    isAllWanted = false
    if (all === undefined) return send({ changes })
    // After the last use, others need one more message, if that of its end is lost.
    if (all.length > 0 || mayOthersHaveUses) send({ all })
    mayOthersHaveUses = all.length > 0
  }
  const sendSoon = () => {
    sending ??= setImmediate(flush)
  }
  return {
    report(key: string) {
      mayOthersHaveUses = true
      changed.add(key)
      sendSoon()
    },
    reportAll() {
      isAllWanted = true
      sendSoon()
    },
    close: () => clearImmediate(sending),
  }
}

/** The uses of the other servers, by server and in sum. */
function createOtherUses() {
  const sums = createKeyedCounter()
  const servers = new Map<string, { readonly counts: Map<string, number>; heardAt: number }>()
  const listeners: ((key: string) => void)[] = []

  const set = (counts: Map<string, number>, key: string, count: number) => {
    const before = counts.get(key) ?? 0
    if (count === before) return
    if (count === 0) counts.delete(key)
    else counts.set(key, count)
    sums.change(key, count - before)
    for (const listener of listeners) listener(key)
  }
  const clear = (counts: Map<string, number>, without: ReadonlySet<string>) => {
    for (const key of [...counts.keys()]) if (!without.has(key)) set(counts, key, 0)
  }
  return {
    count: (key: string) => sums.count(key),
    keys: () => sums.keys(),
    onChange: (listener: (key: string) => void) => void listeners.push(listener),
    servers: () =>
      [...servers].map(([server, { heardAt }]): readonly [string, number] => [server, heardAt]),
    apply(server: string, heardAt: number, uses: readonly Use[], areAll: boolean) {
      const state = servers.get(server) ?? { counts: new Map<string, number>(), heardAt }
      state.heardAt = heardAt
      servers.set(server, state)
      if (areAll) clear(state.counts, new Set(uses.map(([key]) => key)))
      for (const [key, count] of uses) set(state.counts, key, count)
      if (state.counts.size === 0) servers.delete(server)
    },
    forget(server: string) {
      clear(servers.get(server)?.counts ?? new Map<string, number>(), new Set())
      servers.delete(server)
    },
  }
}
