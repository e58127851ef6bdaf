import { SetupError } from '@holdfast/core'
import { type HostPort, hostPortText } from './engine-address.ts'
import { EngineAwayError, answerKind } from './engine-errors.ts'
import {
  type EngineNode,
  connectNode,
  historyOf,
  isReplica,
  type NodeState,
  readState,
  openNode,
  accessOf,
  explained,
  firstOf,
} from './engine-node.ts'
import { type EngineSettings, connectTimeoutMs } from './engine-settings.ts'

/** Connections to all servers of an engine that take changes. All of a session belongs to one history; it ends as a whole. */
export interface Session {
  readonly history: string
  /** One, or the masters of a Cluster. */
  readonly nodes: readonly EngineNode[]
  /** The fields of each of `nodes`, as they were when the session began. */
  readonly states: readonly NodeState[]
  /** Sends a command to the server that has `key`. */
  send(key: string | undefined, args: readonly string[]): Promise<unknown>
  /** Whether all servers still answer, have the data of this session, and take changes. Rejects, and ends the session, otherwise. */
  check(): Promise<void>
  /** Resolves with the reason when one of the connections has ended. */
  readonly lost: Promise<Error>
  isLost(): boolean
  destroy(reason?: Error): void
}

/**
 * Finds the servers of the engine, connects to them and examines them.
 *
 * @throws SetupError for what a person must mend; EngineAwayError for what may pass
 */
export async function openSession(settings: EngineSettings): Promise<Session> {
  if (settings.address.kind === 'cluster') return openCluster(settings)
  const at = await findServer(settings)
  const { node, state } = await openNode(at, settings)
  const { address, leaseMs, now } = settings
  let askedAt = now()
  const base = joinNodes([node], [state])
  if (address.kind === 'sentinel') watchSentinels(node, settings)
  return {
    ...base,
    send: (_key, args) => node.send(args),
    async check() {
      await base.check()
      if (address.kind !== 'sentinel' || now() - askedAt < leaseMs) return
      askedAt = now()
      // A master that is cut off from its Sentinels does not know that another one is in its place. Not awaited: a Sentinel may be slow.
      void leaveFormerMaster(node, settings)
    },
  }
}

async function findServer(settings: EngineSettings): Promise<HostPort> {
  const [first] = settings.address.hosts
  if (first === undefined) throw new TypeError('An engine has a host')
  return settings.address.kind === 'sentinel' ? findMaster(settings) : first
}

/** What sessions of all kinds have in common. */
function joinNodes(
  nodes: readonly EngineNode[],
  states: readonly NodeState[],
): Omit<Session, 'send'> {
  const histories = states.map(historyOf)
  const destroy = (reason?: Error) => {
    for (const node of nodes) node.destroy(reason)
  }
  const checkNode = async (node: EngineNode, nth: number) => {
    const state = await readState(node, 'replication')
    const replid = state.get('master_replid') ?? ''
    if (!isReplica(state) && histories[nth]?.endsWith(`.${replid}`)) return
    const reason = isReplica(state)
      ? `READONLY ${node.name} was made a replica`
      : `${node.name} has begun a new history of its data`
    const error = new EngineAwayError(reason)
    node.destroy(error)
    throw error
  }
  return {
    history: histories.toSorted().join(' '),
    nodes,
    states,
    async check() {
      await Promise.all(nodes.map(checkNode))
    },
    lost: Promise.race(nodes.map(({ lost }) => lost)),
    isLost: () => nodes.some((node) => node.isLost()),
    destroy,
  }
}

/**
 * Asks all Sentinels at once which server is the master; the first answer counts.
 *
 * @throws SetupError if none answers, and one has a problem that a person must mend; EngineAwayError if none answers
 */
async function findMaster(settings: EngineSettings): Promise<HostPort> {
  return firstOf(settings.address.hosts.map((at) => askSentinel(at, settings)))
}

/** Ends the connection to `node` if the Sentinels name another master. Never rejects. */
async function leaveFormerMaster(node: EngineNode, settings: EngineSettings): Promise<void> {
  const { host, port } = await findMaster(settings).catch(() => node.at)
  if (host === node.at.host && port === node.at.port) return
  node.destroy(new EngineAwayError(`the Sentinels have named another master, ${host}:${port}`))
}

/** Has the Sentinels report another master, and ends the connection to `node` then. Ends with that connection. */
function watchSentinels(node: EngineNode, settings: EngineSettings): void {
  const { hosts, masterName } = settings.address
  for (const at of hosts) {
    const watched = connectSentinel(at, settings).then(async (sentinel) => {
      void node.lost.then(() => sentinel.destroy())
      await sentinel.subscribe('+switch-master', (text) => {
        if (text.startsWith(`${masterName} `)) void leaveFormerMaster(node, settings)
      })
    })
    // The session asks from time to time, too.
    watched.catch(() => {})
  }
}

function connectSentinel(at: HostPort, settings: EngineSettings): Promise<EngineNode> {
  return connectNode(at, { ...accessOf(settings), login: settings.sentinelLogin, database: 0 })
}

async function askSentinel(at: HostPort, settings: EngineSettings): Promise<HostPort> {
  const { address } = settings
  let sentinel: EngineNode | undefined
  try {
    sentinel = await connectSentinel(at, settings)
    const asked = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', address.masterName]
    const timer = setTimeout(() => sentinel?.destroy(), connectTimeoutMs)
    const answer = await sentinel.send(asked).finally(() => clearTimeout(timer))
    if (Array.isArray(answer)) return { host: String(answer[0]), port: Number(answer[1]) }
    throw new SetupError(
      `The Sentinel ${sentinel.name} watches no master called ${address.masterName}`,
      [`redis-cli -p ${at.port} SENTINEL MASTERS`],
    )
  } catch (error) {
    throw explainedSentinel(error, at) ?? (await explained(error, at, settings))
  } finally {
    sentinel?.destroy()
  }
}

function explainedSentinel(error: unknown, at: HostPort): SetupError | undefined {
  const name = hostPortText(at)
  if (['WRONGPASS', 'NOAUTH'].includes(answerKind(error))) {
    return new SetupError(
      `The Sentinel ${name} refuses the user or the password`,
      [
        'Set the password of the Sentinels in HOLDFAST_SHARED_SENTINEL_PASSWORD, or in a file that HOLDFAST_SHARED_SENTINEL_PASSWORD_FILE names',
      ],
      error,
    )
  }
  if (answerKind(error) !== 'ERR' || !String(error).includes('unknown command')) return undefined
  return new SetupError(
    `${name} is no Sentinel`,
    ['Name the Sentinels in the URL, whose usual port is 26379'],
    error,
  )
}

/** Which master has which slots. */
interface SlotRange {
  readonly first: number
  readonly last: number
  readonly master: HostPort
}

/**
 * Connects to all masters of a Cluster.
 *
 * The client's own `createCluster` repeats commands at other servers, and connects again by itself: a script might run on a server that
 * has lost data before `history` shows that.
 */
async function openCluster(settings: EngineSettings): Promise<Session> {
  let ranges = await firstOf(settings.address.hosts.map((at) => askSlots(at, settings)))
  const opened = await openAll(mastersOf(ranges), settings)
  const base = joinNodes(
    opened.map(({ node }) => node),
    opened.map(({ state }) => state),
  )
  const byName = new Map(base.nodes.map((node) => [node.name, node]))

  const nodeOf = (key: string | undefined): EngineNode => {
    const slot = key === undefined ? 0 : slotOf(key)
    const range = ranges.find(({ first, last }) => first <= slot && slot <= last)
    const node = range && byName.get(hostPortText(range.master))
    if (node === undefined) throw new EngineAwayError(`CLUSTERDOWN no server has the slot ${slot}`)
    return node
  }
  let refreshing: Promise<void> | undefined
  const refresh = async (node: EngineNode) => {
    ranges = parseSlots(await node.send(['CLUSTER', 'SLOTS']), node.at)
    if (mastersOf(ranges).every((master) => byName.has(hostPortText(master)))) return
    base.destroy(new EngineAwayError('the Cluster has other masters'))
  }
  const send = async (
    key: string | undefined,
    args: readonly string[],
    isRepeated = false,
  ): Promise<unknown> => {
    const node = nodeOf(key)
    try {
      return await node.send(args)
    } catch (error) {
      // Neither answer comes from a command that was run.
      const kind = answerKind(error)
      if (kind === 'ASK') return askedAt(error, args)
      if (kind !== 'MOVED' || isRepeated) throw error
      refreshing ??= refresh(node).finally(() => (refreshing = undefined))
      await refreshing
      return send(key, args, true)
    }
  }
  const askedAt = (error: unknown, args: readonly string[]) => {
    const target = byName.get(String(error).split(' ').at(-1) ?? '')
    if (target === undefined) throw error
    // In one tick, so that no other command comes between.
    void target.send(['ASKING']).catch(() => {})
    return target.send(args)
  }
  return { ...base, send: (key, args) => send(key, args) }
}

async function askSlots(at: HostPort, settings: EngineSettings): Promise<readonly SlotRange[]> {
  const { node } = await openAny(at, settings)
  try {
    const ranges = parseSlots(await node.send(['CLUSTER', 'SLOTS']), at)
    if (ranges.length > 0) return ranges
    throw new EngineAwayError(`CLUSTERDOWN the Cluster has no servers yet (${node.name})`)
  } catch (error) {
    if (!String(error).includes('cluster support disabled')) throw error
    throw new SetupError(`The engine ${node.name} is not a node of a Cluster`, [
      `Write redis://${node.name}`,
    ])
  } finally {
    node.destroy()
  }
}

/** A replica, too, knows who has which slots. */
async function openAny(at: HostPort, settings: EngineSettings) {
  try {
    return await openNode(at, settings)
  } catch (error) {
    if (!(error instanceof EngineAwayError) || !error.message.startsWith('READONLY')) throw error
    return { node: await connectNode(at, accessOf(settings)) }
  }
}

async function openAll(masters: readonly HostPort[], settings: EngineSettings) {
  const attempts = await Promise.allSettled(masters.map((at) => openNode(at, settings)))
  const opened = attempts.flatMap((attempt) =>
    attempt.status === 'fulfilled' ? [attempt.value] : [],
  )
  const errors = attempts.flatMap((attempt) =>
    attempt.status === 'rejected' ? [attempt.reason as unknown] : [],
  )
  if (errors.length === 0) return opened
  for (const { node } of opened) node.destroy()
  throw errors.find((error) => error instanceof SetupError) ?? errors[0]
}

function mastersOf(ranges: readonly SlotRange[]): readonly HostPort[] {
  return [...new Map(ranges.map(({ master }) => [hostPortText(master), master])).values()]
}

/** Parses the answer to `CLUSTER SLOTS` of the server `asked`. */
function parseSlots(answer: unknown, asked: HostPort): readonly SlotRange[] {
  if (!Array.isArray(answer)) throw new EngineAwayError('CLUSTER SLOTS is no list')
  return answer.map((row: unknown) => {
    const [first, last, master] = row as [number, number, [string | null, number]]
    // A server that does not know the address leaves it out, or says "?" for the name.
    const host = master[0] === null || ['', '?'].includes(master[0]) ? asked.host : master[0]
    return { first, last, master: { host, port: master[1] } }
  })
}

const slotCount = 16_384

/** The slot of a key in a Cluster (Redis Cluster specification, "Key distribution model" and "Hash tags"). */
export function slotOf(key: string): number {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key
  return crc16(Buffer.from(hashed)) % slotCount
}

/** CRC-16/XMODEM: polynomial 0x1021, initial value 0. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) crc = ((crc << 8) & 0xff_ff) ^ (table[(crc >> 8) ^ byte] ?? 0)
  return crc
}

const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80_00 ? (crc << 1) ^ 0x10_21 : crc << 1
  return crc & 0xff_ff
})
