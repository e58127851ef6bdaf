import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../machine.ts'
import { until } from '../until.ts'
import { endServer, runCli, startRedis, startServer, type RunningRedis } from './start-redis.ts'

/** A master with replicas, and Sentinels that watch them. */
export interface RunningSentinels {
  /** For holdfast: `redis+sentinel://…/main`. */
  readonly url: string
  readonly masterName: string
  readonly ports: readonly number[]
  /** The servers; the first was the master at the start. */
  readonly servers: readonly RunningRedis[]
  /** The server that the Sentinels call the master. */
  master(): Promise<RunningRedis>
  /** Has the Sentinels make another server the master; resolves when all of them say so. The old one becomes its replica. */
  failover(): Promise<void>
  /** Ends all of them, and removes their data. */
  stop(): Promise<void>
}

const masterName = 'main'

/** Starts one master, `replicas` replicas, and as many Sentinels as there are servers. All are on the loopback. */
export async function startSentinels({ replicas = 1 } = {}): Promise<RunningSentinels> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-sentinels-'))
  const servers: RunningRedis[] = []
  const sentinels: ChildProcess[] = []
  const stop = async () => {
    await Promise.all([...sentinels.map(endServer), ...servers.map((server) => server.stop())])
    await rm(dir, { recursive: true, force: true })
  }
  try {
    const master = await startRedis(['--repl-diskless-sync-delay', '0'])
    servers.push(master)
    for (let nth = 0; nth < replicas; nth++) {
      servers.push(await startRedis(['--replicaof', `127.0.0.1 ${master.port}`]))
    }
    const ports: number[] = []
    for (const _ of servers) {
      const port = await findFreePort()
      sentinels.push(await startSentinel(dir, port, master.port, servers.length))
      ports.push(port)
    }
    await until('the Sentinels know each other and the replicas', async () => {
      const known = await Promise.all(ports.map(knownTo))
      const others = servers.length - 1
      return known.every((counts) => counts.sentinels === others && counts.replicas === replicas)
    })
    return sentinelsOf(ports, servers, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function startSentinel(
  dir: string,
  port: number,
  masterPort: number,
  count: number,
): Promise<ChildProcess> {
  const file = join(dir, `${port}.conf`)
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} ${Math.floor(count / 2) + 1}`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 5000`,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return startServer([file, '--sentinel'], '+monitor master')
}

async function knownTo(port: number): Promise<{ sentinels: number; replicas: number }> {
  const text = await runCli(['-p', `${port}`, 'SENTINEL', 'MASTER', masterName])
  const lines = text.split('\n')
  const field = (name: string) => Number(lines[lines.indexOf(name) + 1])
  return { sentinels: field('num-other-sentinels'), replicas: field('num-slaves') }
}

function sentinelsOf(
  ports: readonly number[],
  servers: readonly RunningRedis[],
  stop: () => Promise<void>,
): RunningSentinels {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  const masterPort = async (sentinel: number) => {
    const command = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName]
    return Number((await runCli(['-p', `${sentinel}`, ...command])).split('\n')[1])
  }
  const master = async () => {
    const port = await masterPort(ports[0] ?? 0)
    const found = servers.find((server) => server.port === port)
    if (found === undefined) throw new Error(`No server of this test has the port ${port}`)
    return found
  }
  return {
    url: `redis+sentinel://${hosts}/${masterName}`,
    masterName,
    ports,
    servers,
    master,
    async failover() {
      const before = await master()
      // Until the replica has reported to a Sentinel that it is in sync, the answer is NOGOODSLAVE.
      await until('the Sentinels begin a failover', async () => {
        const begun = runCli(['-p', `${ports[0]}`, 'SENTINEL', 'FAILOVER', masterName])
        return begun.then(
          () => true,
          () => false,
        )
      })
      await until('all Sentinels name another master', async () => {
        const named = await Promise.all(ports.map(masterPort))
        return named.every((port) => port !== before.port && port === named[0])
      })
    },
    stop,
  }
}
