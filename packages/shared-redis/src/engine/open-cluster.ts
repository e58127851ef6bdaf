import { SetupError } from '@holdfast/core'
import { connectNode, type EngineNode } from './engine-node.ts'
import { hostPortText, type HostPort } from './engine-address.ts'
import { answerKind, EngineAwayError } from './engine-errors.ts'
import type { EngineSettings } from './engine-settings.ts'
import { accessOf, firstOf, openNode } from './open-node.ts'
import { joinNodes, type Session } from './session.ts'

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
export async function openCluster(settings: EngineSettings): Promise<Session> {
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
