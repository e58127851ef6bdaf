import { randomUUID } from 'node:crypto'
import { finding, type Finding, isLoopbackHost } from '@holdfast/core'
import type { HostPort } from './engine-address.ts'
import { EngineAwayError, reasonOf, within, explainAnswer } from './engine-errors.ts'
import { type EngineNode, evictionRemedy, type NodeState, productOf } from './engine-node.ts'
import {
  connectTimeoutMs,
  type EngineOptions,
  type EngineSettings,
  resolveEngineSettings,
} from './engine-settings.ts'
import { evaluate, script, checkFormat, keyFormat } from './keys-and-scripts.ts'
import { openSession, type Session } from './session.ts'

/**
 * Checks whether servers can share an engine, and how well. Yields each finding as it is made, with a remedy where something should be
 * changed. Harmless at any time, also beside running servers: it changes no key.
 *
 * @throws SetupError for wrong options, and for an engine that cannot be used until a person has changed something; the reason of
 * `signal`
 */
export async function* examineEngine(
  options: EngineOptions,
  signal?: AbortSignal,
): AsyncGenerator<Finding> {
  const settings = resolveEngineSettings(options)
  yield encryptionFinding(settings)
  yield passwordFinding(settings)
  let session: Session
  try {
    session = await openSession(settings)
  } catch (error) {
    if (!(error instanceof EngineAwayError)) throw error
    const message = `cannot be reached: ${reasonOf(error)}; until it can, each server counts for itself`
    yield finding('problem', 'engine', message, 'Start it, or correct --shared-url')
    return
  }
  try {
    yield finding('ok', 'engine', describeServers(session))
    for await (const found of findingsOf(session, settings)) {
      signal?.throwIfAborted()
      yield found
    }
  } finally {
    session.destroy()
  }
}

async function* findingsOf(session: Session, settings: EngineSettings): AsyncGenerator<Finding> {
  for (const [nth, node] of session.nodes.entries()) {
    const state = session.states[nth] ?? new Map<string, string>()
    const where = session.nodes.length > 1 ? `${node.name}: ` : ''
    yield memoryFinding(state, where)
    yield persistenceFinding(state, await readSave(node), where)
    if (settings.address.kind !== 'cluster') yield replicasFinding(state)
  }
  yield await keysFinding(session, settings)
  yield await latencyFinding(session, settings)
}

function describeServers({ nodes, states }: Session): string {
  const products = [...new Set(states.map(productOf))].join(', ')
  return `${products} at ${nodes.map(({ name }) => name).join(', ')}`
}

/** Whether what servers say to the engine is encrypted, if it leaves this machine. */
function encryptionFinding({ address: { tls, hosts } }: EngineSettings): Finding {
  const check = 'encryption'
  if (tls) return finding('ok', check, 'TLS on the way to the engine')
  const far = hosts.find((at) => !isNear(at))
  if (far === undefined) return finding('ok', check, 'not needed: the engine is on this machine')
  const message = `names of customers, addresses of clients and any password go to ${far.host} without encryption`
  return finding(
    'warning',
    check,
    message,
    'Write rediss:// in the URL, unless the network is private',
  )
}

/** Whether the host is this machine. */
function isNear({ host }: HostPort): boolean {
  return isLoopbackHost(host.includes(':') ? `[${host}]` : host)
}

function passwordFinding({ login, address: { hosts } }: EngineSettings): Finding {
  const check = 'engine password'
  if (login.password) return finding('ok', check, 'is set')
  if (hosts.every(isNear)) {
    return finding('ok', check, 'not needed: the engine is on this machine')
  }
  const message = 'none: whoever reaches the engine can change what servers count'
  const remedy =
    'Set requirepass in the configuration of the engine, and HOLDFAST_SHARED_PASSWORD here'
  return finding('warning', check, message, remedy)
}

function memoryFinding(state: NodeState, where: string): Finding {
  const check = 'engine memory'
  const policy = state.get('maxmemory_policy') ?? 'unknown'
  const limit = Number(state.get('maxmemory') ?? 0)
  const usedBytes = Number(state.get('used_memory') ?? 0)
  const used = `${mebibytes(usedBytes)} in use`
  // A server that drops keys is refused before.
  if (policy !== 'noeviction') {
    const message = `${where}${used}, without a limit; with one, keys would be dropped (maxmemory-policy ${policy})`
    return finding('warning', check, message, evictionRemedy)
  }
  if (limit > 0 && usedBytes >= limit) {
    const message = `${where}${used}, at most ${mebibytes(limit)}: it is full, and refuses changes, so that each server counts for itself`
    return finding('problem', check, message, 'Raise maxmemory in its configuration')
  }
  const room = limit === 0 ? 'without a limit' : `at most ${mebibytes(limit)}`
  return finding('ok', check, `${where}${used}, ${room}, and drops no keys`)
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MiB`
}

/** The setting `save`; `undefined` where settings cannot be read, as with many managed services. */
async function readSave(node: EngineNode): Promise<string | undefined> {
  try {
    const answer = await within(node.send(['CONFIG', 'GET', 'save']), connectTimeoutMs)
    // A map in RESP3, which the client gives as an object.
    return typeof answer === 'object' && answer !== null
      ? String(Object.values(answer).at(-1) ?? '')
      : undefined
  } catch {
    return undefined
  }
}

function persistenceFinding(state: NodeState, save: string | undefined, where: string): Finding {
  const check = 'persistence'
  if (
    state.get('rdb_last_bgsave_status') === 'err' ||
    state.get('aof_last_write_status') === 'err'
  ) {
    const message = `${where}the engine cannot write to its disk, and will refuse changes`
    return finding('problem', check, message, 'Look into the log of the engine')
  }
  if (state.get('aof_enabled') === '1') return finding('ok', check, `${where}append-only file`)
  if (save === undefined) {
    return finding(
      'skipped',
      check,
      `${where}no append-only file; the engine does not show its settings`,
    )
  }
  const kept = save === '' ? 'none' : `snapshots (save ${save})`
  return finding('ok', check, `${where}${kept}; after a restart of the engine, servers count anew`)
}

function replicasFinding(state: NodeState): Finding {
  const check = 'replicas'
  const count = Number(state.get('connected_slaves') ?? 0)
  if (count === 0) {
    return finding('ok', check, 'none: while the engine is down, each server counts for itself')
  }
  // The field is there only where the setting is above 0.
  if (state.has('min_slaves_good_slaves'))
    return finding('ok', check, `${count}, which must follow`)
  const message = `${count}, but a master that is cut off from them goes on to take changes, which a failover loses`
  return finding('warning', check, message, 'redis-cli CONFIG SET min-replicas-to-write 1')
}

const readFormat = script(`
local found = redis.pcall('GET', KEYS[1])
if type(found) == 'table' then return 'another type of value' end
return found
`)

/** Tries everything that a server does, without a change. */
async function keysFinding(
  session: Session,
  { prefix, address }: EngineSettings,
): Promise<Finding> {
  const key = `${prefix}:format`
  const channel = `${prefix}:messages:${address.database}`
  // Servers ignore the empty topic.
  const message = JSON.stringify({ server: randomUUID(), number: 1, topic: '', message: null })
  const [node] = session.nodes
  try {
    const found = await within(evaluate(session, readFormat, [key]), connectTimeoutMs)
    await within(session.send(undefined, ['PUBLISH', channel, message]), connectTimeoutMs)
    if (node)
      await within(
        node.subscribe(channel, () => {}),
        connectTimeoutMs,
      )
    if (found !== null) checkFormat(found, key, prefix)
    const summary =
      found === null ? 'no server has used them yet' : `used by servers (${keyFormat})`
    return finding('ok', `keys ${prefix}:…`, summary)
  } catch (error) {
    throw (node && explainAnswer(error, node.at, prefix)) ?? error
  }
}

const rounds = 20

/** A median above this, in milliseconds, slows every request down. */
const slowMedianMs = 20

async function latencyFinding(session: Session, settings: EngineSettings): Promise<Finding> {
  const check = 'latency'
  const { timeoutMs, prefix } = settings
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const began = performance.now()
    try {
      await within(evaluate(session, readFormat, [`${prefix}:format`]), connectTimeoutMs)
    } catch (error) {
      return finding('problem', check, `the engine has stopped to answer: ${reasonOf(error)}`)
    }
    times.push(performance.now() - began)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const [median = 0, worst = 0] = [sorted[rounds / 2], sorted.at(-1)]
  const message = `median ${median.toFixed(1)} ms, worst ${worst.toFixed(1)} ms of ${rounds} rounds`
  if (median <= slowMedianMs && worst <= timeoutMs / 2) return finding('ok', check, message)
  const remedy = `Servers wait ${timeoutMs} ms at most, and count for themselves afterwards: place the engine nearer to them`
  return finding('warning', check, message, remedy)
}
