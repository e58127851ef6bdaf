import { randomUUID } from 'node:crypto'
import {
  requireFunction,
  requireOptions,
  type FailureCount,
  type FailureCounter,
} from '@holdfast/core'
import { script, type Engine, requireEngine } from '../engine/engine.ts'
import { requireMs } from '../engine/engine-settings.ts'
import { createFailureReplica, noFailures, type SharedFailure } from './failure-replica.ts'
import { keyDigest } from '../engine/keys-and-scripts.ts'
import { createOutbox } from '../engine/outbox.ts'

export interface SharedFailureOptions {
  /** How long the period of a key is, in milliseconds: equal on all servers. */
  readonly windowMs: number
  /**
   * A short text that stands for a key, in memory and in messages: equal on all servers, and for equal keys only. An unknown name
   * may be as long as the headers of a request.
   */
  readonly keyOf: (key: string) => string
  /** A time in milliseconds that never goes back. Default: that of `performance.now`. */
  readonly now?: () => number
}

/**
 * Counts the failures of all servers. Its `read` answers at once from a replica, which messages update: what another server has
 * counted may be missing for as long as a message takes, or longer if the message is lost.
 */
export interface SharedFailureCounter extends FailureCounter {
  read(key: string): FailureCount
  /**
   * The same counter, whose `read` asks the engine: it knows every failure whose `add` has resolved on any server. Reads of one tick
   * are one round trip. While the engine is away, it answers from the replica.
   */
  readonly exact: FailureCounter
  /**
   * The same counter, whose `add` does nothing: for the outer one of two brakes, whose failures the inner one has counted by
   * {@link SharedFailureCounter.exact} before.
   */
  readonly outer: FailureCounter
  /** Calls `listener` when this server knows of more failures of a key, its own or those of others, before `add` resolves. */
  onFailure(listener: (failure: SharedFailure) => void): void
  /** All failures that this server knows and that are not forgotten. */
  all(): readonly SharedFailure[]
}

/** Returns the failures and the rest of the period of each key. */
const read = script(`
local found = {}
for at, key in ipairs(KEYS) do
  found[2 * at - 1] = tonumber(redis.call('GET', key) or '0')
  found[2 * at] = redis.call('PTTL', key)
end
return found
`)

/**
 * Adds failures, once for each token in KEYS[1], and returns what `read` does. ARGV: how long the token is known, and for each key
 * how many failures, and how long its period is if it begins now.
 */
const add = script(`
local isNew = redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1])
local found = {}
for at = 2, #KEYS do
  local key = KEYS[at]
  if isNew then
    redis.call('INCRBY', key, ARGV[2 * at - 2])
    if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ARGV[2 * at - 1]) end
  end
  found[2 * at - 3] = tonumber(redis.call('GET', key) or '0')
  found[2 * at - 2] = redis.call('PTTL', key)
end
return found
`)

/** Raises the failures of each key to at least as many. ARGV: for each key how many, and how long its period is if it begins now. */
const raise = script(`
for at, key in ipairs(KEYS) do
  if tonumber(redis.call('GET', key) or '0') < tonumber(ARGV[2 * at - 1]) then
    local left = redis.call('PTTL', key)
    if left < 0 then left = ARGV[2 * at] end
    redis.call('SET', key, ARGV[2 * at - 1], 'PX', left)
  end
end
`)

const topic = 'failures'

/** How many keys one script has at most. */
const perScript = 200

/** How many keys of failures are kept for the engine while it is away. */
const mostUnsent = 100_000

/** All keys of failures are on one node of a cluster, so that one script may have several. No customer has a slash in the name. */
const node = '/failures'

/**
 * Makes a {@link SharedFailureCounter}. `add` resolves when the engine has counted the failure, so that an {@link
 * SharedFailureCounter.exact} read on any server finds it.
 *
 * While the engine is away, this server counts for itself, beginning with what it knew; when the engine is back, it adds what it has
 * counted meanwhile, each failure once. An engine that has lost its data gets back the highest count that a server knows.
 *
 * Logins take two brakes. The one around all logins has `outer`, so that remembered passwords ask no server. The one around the
 * verification of the others has `exact`, so that all servers together allow as many guesses as one. The brake on links has the
 * counter itself.
 *
 * @throws TypeError or RangeError that names what is missing or wrong
 */
export function createSharedFailureCounter(
  engine: Engine,
  options: SharedFailureOptions,
): SharedFailureCounter {
  requireEngine(engine)
  requireOptions('createSharedFailureCounter(engine, { windowMs, keyOf })', options, {
    windowMs: requireMs,
    keyOf: requireFunction,
    'now?': requireFunction,
  })
  const { windowMs, keyOf, now = () => performance.now() } = options
  const replica = createFailureReplica({ windowMs, now })
  const listeners: ((failure: SharedFailure) => void)[] = []
  const engineKey = (key: string) => engine.key(`failures:${keyDigest(key)}`, node)

  /** Changes the replica by `change`, and reports the key to the listeners if it has more failures. */
  const changing = (key: string, change: () => void) => {
    const before = replica.read(key).failures
    change()
    const after = replica.read(key)
    if (after.failures <= before) return
    for (const listener of listeners) listener({ key, ...after })
  }
  const learn = (failure: SharedFailure) => changing(failure.key, () => replica.learn(failure))

  const outbox = createOutbox(engine, { maxAgeMs: windowMs })
  const raisePart = (part: readonly SharedFailure[]) => {
    const since = now()
    const left = ({ forgottenInMs }: SharedFailure) => Math.ceil(forgottenInMs - (now() - since))
    return outbox.add(async () => {
      const some = part.filter((failure) => left(failure) > 0)
      if (some.length === 0) return
      const keys = some.map(({ key }) => engineKey(key))
      await engine.run(
        raise,
        keys,
        some.flatMap((one) => [one.failures, left(one)]),
      )
    })
  }
  let history = engine.history()
  const restore = async () => {
    if (history !== engine.history()) {
      history = engine.history()
      await Promise.all(parts(replica.counted()).map(raisePart))
    }
    // What was counted while the engine was away comes on top of what was counted before.
    sender.sendKept()
  }
  engine.onChange((isAway) => {
    if (!isAway) void restore()
  })
  const exactReads = createExactReads(engine, engineKey, learn)
  const sender = createSender(engine, {
    windowMs,
    now,
    engineKey,
    addToOutbox: (work) => outbox.add(work),
    onUnsent(key, count) {
      changing(key, () => replica.addUnsent(key, count))
    },
    onCounted(failures, unsent) {
      for (const failure of failures) {
        changing(failure.key, () => replica.confirm(failure, unsent.get(failure.key) ?? 0))
      }
      engine.notify(topic, failures)
    },
  })
  engine.onMessage(topic, (message) => {
    for (const failure of message as readonly SharedFailure[]) learn(failure)
  })

  const counter = {
    add: (key: string) => sender.send(keyOf(key)),
    sharers: () => engine.servers.count(),
  }
  // The usual case, at every request: there was no failure recently.
  const readReplica = (key: string) => (replica.isEmpty() ? noFailures : replica.read(keyOf(key)))
  return {
    ...counter,
    read: readReplica,
    outer: { ...counter, read: readReplica, add: async () => {} },
    exact: {
      ...counter,
      read(key) {
        const text = keyOf(key)
        return engine.isAway() ? replica.read(text) : readExactly(text)
      },
    },
    onFailure: (listener) => void listeners.push(listener),
    all: () => replica.all(),
  }

  async function readExactly(text: string): Promise<FailureCount> {
    await exactReads(text)
    return replica.read(text)
  }
}

/** Asks the engine for the failures of a key, those of all calls of a tick at once. Resolves also if the engine does not answer. */
function createExactReads(
  engine: Engine,
  engineKey: (key: string) => string,
  learn: (failure: SharedFailure) => void,
): (key: string) => Promise<void> {
  const ask = async (keys: readonly string[]) => {
    const reply = await engine.run(read, keys.map(engineKey))
    for (const failure of failuresOf(keys, reply)) learn(failure)
  }
  const askAll = async (keys: ReadonlySet<string>) => {
    await Promise.allSettled(parts([...keys]).map(ask))
  }
  return createBatches<Set<string>>(
    () => new Set(),
    (keys, key) => keys.add(key),
    askAll,
  )
}

interface SenderOptions extends Pick<Required<SharedFailureOptions>, 'windowMs' | 'now'> {
  readonly engineKey: (key: string) => string
  readonly addToOutbox: (work: () => Promise<unknown>) => Promise<void>
  /** Called with failures that the engine has not confirmed. */
  readonly onUnsent: (key: string, count: number) => void
  /** Called with what the engine has counted in all, and how many of them `onUnsent` has had. */
  readonly onCounted: (
    failures: readonly SharedFailure[],
    unsent: ReadonlyMap<string, number>,
  ) => void
}

/** How many failures of a key are sent, and when the first was. */
interface Sent {
  readonly key: string
  count: number
  readonly since: number
}

type Batch = Map<string, Sent>

interface Sender {
  /**
   * Has one failure of a key counted by the engine, those of all calls of a tick at once. Resolves when the engine has counted it,
   * or does not answer; then it is counted later.
   */
  send(key: string): Promise<void>
  /** Sends what has failed while the engine was away. */
  sendKept(): void
}

function createSender(engine: Engine, options: SenderOptions): Sender {
  const { now, addToOutbox, onUnsent } = options
  // What has failed while the engine was away, so that it was not sent for certain. It is added up: an outage may last.
  const kept: Batch = new Map()

  const put = (batch: Batch, key: string, count: number, since: number) => {
    const known = batch.get(key)
    if (known) known.count += count
    else if (batch.size < mostUnsent) batch.set(key, { key, count, since })
  }
  const sendAll = async (batch: Batch, isUnsent: boolean) => {
    const all = [...batch.values()]
    await Promise.all(
      parts(all).map((part) => addToOutbox(counting(engine, part, isUnsent, options))),
    )
  }
  const send = createBatches<Batch>(
    () => new Map(),
    (batch, key) => put(batch, key, 1, now()),
    async (batch) => {
      if (!engine.isAway()) return sendAll(batch, false)
      for (const { key, count, since } of batch.values()) {
        onUnsent(key, count)
        put(kept, key, count, since)
      }
    },
  )
  return {
    send,
    sendKept() {
      const batch = new Map(kept)
      kept.clear()
      void sendAll(batch, true)
    },
  }
}

/** Makes the work that counts the failures of `part` once, however often it is repeated. */
function counting(
  engine: Engine,
  part: readonly Sent[],
  isUnsent: boolean,
  { windowMs, now, engineKey, onUnsent, onCounted }: SenderOptions,
): () => Promise<void> {
  const tokenKey = engine.key(`failures-token:${randomUUID()}`, node)
  let unsent = new Map(isUnsent ? part.map(({ key, count }) => [key, count]) : [])
  return async () => {
    const left = ({ since }: Sent) => Math.ceil(windowMs - (now() - since))
    const some = part.filter((one) => left(one) > 0)
    if (some.length === 0) return
    const keys = some.map(({ key }) => key)
    const args = some.flatMap((one) => [one.count, left(one)])
    try {
      const reply = await engine.run(
        add,
        [tokenKey, ...keys.map(engineKey)],
        [Math.ceil(windowMs), ...args],
      )
      onCounted(failuresOf(keys, reply), unsent)
    } catch (error) {
      if (unsent.size === 0) {
        unsent = new Map(part.map(({ key, count }) => [key, count]))
        for (const [key, count] of unsent) onUnsent(key, count)
      }
      throw error
    }
  }
}

/** Collects the keys of all calls of a tick in one batch, and resolves when `work` on it has settled. */
function createBatches<Keys>(
  make: () => Keys,
  put: (batch: Keys, key: string) => void,
  work: (batch: Keys) => Promise<void>,
): (key: string) => Promise<void> {
  let next: { readonly batch: Keys; readonly done: Promise<void> } | undefined
  const start = () => {
    const batch = make()
    const done = Promise.resolve().then(() => {
      next = undefined
      return work(batch)
    })
    return { batch, done }
  }
  return (key) => {
    next ??= start()
    put(next.batch, key)
    return next.done
  }
}

/** The reply of the scripts: for each key its failures, and the rest of its period. */
function failuresOf(keys: readonly string[], reply: unknown): SharedFailure[] {
  const numbers = (reply as readonly unknown[]).map(Number)
  return keys.map((key, at) => ({
    key,
    failures: numbers[2 * at] ?? 0,
    forgottenInMs: Math.max(0, numbers[2 * at + 1] ?? 0),
  }))
}

function parts<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / perScript) }, (_, part) =>
    all.slice(part * perScript, (part + 1) * perScript),
  )
}
