import { readFile, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'

/** How many bytes the peer of a connection has not acknowledged; `undefined` where the system does not say so. */
export type SendQueueOf = (socket: Socket) => Promise<number | undefined>

/** Node has no other way to say which connection of the system a socket is. */
type SocketWithHandle = Socket & { readonly _handle?: { readonly fd?: number } | null }

/**
 * Reads the send queues of connections as Linux shows them. The kernel takes megabytes from a server before the client has
 * read any, and takes no more until a third of them is acknowledged: only there it shows that a slow reader goes on.
 *
 * To read them takes longer the more connections there are, so one reading serves all that ask within `maxAgeMs`.
 */
export function createSendQueues(maxAgeMs: number): SendQueueOf {
  let reading: Promise<ReadonlyMap<string, number> | undefined> | undefined
  const read = () => {
    setTimeout(() => (reading = undefined), maxAgeMs).unref()
    return readQueues()
  }
  return async (socket) => {
    const inode = await inodeOf(socket)
    if (inode === undefined) return undefined
    const queues = await (reading ??= read())
    return queues && (queues.get(inode) ?? 0)
  }
}

async function inodeOf(socket: SocketWithHandle): Promise<string | undefined> {
  const fd = socket._handle?.fd ?? -1
  if (fd < 0) return undefined
  const target = await readlink(`/proc/self/fd/${fd}`).catch(() => '')
  return /^socket:\[(\d+)\]$/.exec(target)?.[1]
}

/** Number, addresses, state, both queues, timer, retransmissions, user, timeout and inode. */
const row = /^ *\d+: \S+ \S+ \S+ ([0-9A-F]{8}):\S+ \S+ +\S+ +\d+ +\d+ (\d+) /gm

/** The queues that are not empty, by the inodes of their sockets. */
async function readQueues(): Promise<ReadonlyMap<string, number> | undefined> {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) =>
    readFile(path, 'latin1').catch(() => ''),
  )
  const [ipv4, ipv6] = await Promise.all(tables)
  if (!ipv4 && !ipv6) return undefined
  const queues = new Map<string, number>()
  for (const [, bytes = '', inode = ''] of `${ipv4}\n${ipv6}`.matchAll(row)) {
    if (bytes !== '00000000') queues.set(inode, Number.parseInt(bytes, 16))
  }
  return queues
}
