import { findFreePort } from '../machine.ts'
import { until } from '../until.ts'
import { runCli, startRedis, type RunningRedis } from './start-redis.ts'

/** A Redis Cluster of masters without replicas. */
export interface RunningCluster {
  /** For holdfast: `redis+cluster://…`. */
  readonly url: string
  readonly servers: readonly RunningRedis[]
  /**
   * Gives a slot, with its keys, from the server that has it to another one. Calls `meanwhile` when the keys have moved, and the slot
   * has not: the old server then answers `ASK` for all keys that it does not have.
   */
  moveSlot(slot: number, to: RunningRedis, meanwhile?: () => Promise<void>): Promise<void>
  /** Ends all servers, and removes their data. */
  stop(): Promise<void>
}

/** Starts three masters on the loopback, which share the slots. */
export async function startRedisCluster(): Promise<RunningCluster> {
  const servers: RunningRedis[] = []
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  try {
    for (let nth = 0; nth < 3; nth++) servers.push(await startNode())
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`)
    await runCli(['--cluster', 'create', ...hosts, '--cluster-yes'])
    await until('each server of the cluster knows all slots', async () => {
      const states = await Promise.all(servers.map((server) => server.run('CLUSTER', 'INFO')))
      return states.every((state) => /cluster_state:ok/.test(state))
    })
    const url = `redis+cluster://${hosts.join(',')}`
    return { url, servers, moveSlot: (...given) => moveSlot(servers, ...given), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startNode(): Promise<RunningRedis> {
  // Otherwise the second port is the first plus 10,000, which may be taken.
  const bus = await findFreePort()
  return startRedis([
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    `${bus}`,
    '--cluster-node-timeout',
    '5000',
  ])
}

async function moveSlot(
  servers: readonly RunningRedis[],
  slot: number,
  to: RunningRedis,
  meanwhile?: () => Promise<void>,
): Promise<void> {
  const ids = await Promise.all(servers.map((server) => server.run('CLUSTER', 'MYID')))
  const target = ids[servers.indexOf(to)] ?? ''
  const owner = await to.run('CLUSTER', 'NODES')
  const from = servers.find((_, nth) => owns(owner, ids[nth] ?? '', slot))
  if (from === undefined || from === to) return
  await to.run('CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', ids[servers.indexOf(from)] ?? '')
  await from.run('CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', target)
  const keys = (await from.run('CLUSTER', 'GETKEYSINSLOT', `${slot}`, '1000')).split('\n')
  for (const key of keys.filter(Boolean)) {
    await from.run('MIGRATE', '127.0.0.1', `${to.port}`, key, '0', '5000')
  }
  await meanwhile?.()
  for (const server of [to, from, ...servers]) {
    await server.run('CLUSTER', 'SETSLOT', `${slot}`, 'NODE', target)
  }
}

function owns(nodes: string, id: string, slot: number): boolean {
  const [, ranges = ''] = new RegExp(`^${id} .* connected ?(.*)$`, 'm').exec(nodes) ?? []
  return ranges.split(' ').some((range) => {
    const [first = NaN, last = first] = range.split('-').map(Number)
    return first <= slot && slot <= last
  })
}
