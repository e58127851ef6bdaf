import { createSite, type HoldfastServer, type Site, startHoldfast, until } from '@holdfast/testing'
import { findFreePort } from '@holdfast/testing'
import { minioKeys } from '@holdfast/testing/minio'
import { createClient } from './client.ts'
import { startProxy, type ProxyKind, type RunningProxy } from './start-proxy.ts'

export interface HouseOptions {
  readonly proxy: ProxyKind
  /** The nodes of MinIO, four of them. */
  readonly endpoints: readonly string[]
  readonly accessKey: string
  readonly secretKey: string
  readonly bucket: string
  /** The customers file. Default: the customer of every site. */
  readonly customers?: string
}

/** Three holdfast servers on one bucket behind a proxy, which also stands between them and MinIO. */
export interface House {
  readonly proxy: RunningProxy
  readonly servers: readonly HoldfastServer[]
  stop(): Promise<void>
}

export async function startHouse(options: HouseOptions): Promise<House> {
  const site = await createSite()
  if (options.customers !== undefined) await site.write('customers.yaml', options.customers)
  const [clients = 0, store = 0, ...holdfast] = await freePorts(5)
  const minio = options.endpoints.map((endpoint) => Number(new URL(endpoint).port))
  // First of all: holdfast looks at the bucket when it starts.
  const proxy = await startProxy(options.proxy, { clients, store, holdfast, minio })
  const starting = await Promise.allSettled(
    holdfast.map((port) => startServer(site, port, `http://127.0.0.1:${store}`, options)),
  )
  const servers = starting.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
  const stop = async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await proxy.stop()
    await site.remove()
  }
  try {
    for (const each of starting) if (each.status === 'rejected') throw each.reason
    await untilReached(proxy)
    return { proxy, servers, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** A proxy that looks after its servers has found them missing when it was started. */
async function untilReached(proxy: RunningProxy): Promise<void> {
  const client = createClient(proxy, {})
  await until('the proxy reaches a server', async () => (await client.ask('/ping')).status === 200)
  client.close()
}

async function startServer(
  site: Site,
  port: number,
  endpoint: string,
  { bucket, ...keys }: HouseOptions,
): Promise<HoldfastServer> {
  const store = ['--store', 'minio', '--minio-endpoint', endpoint, '--minio-bucket', bucket]
  return startHoldfast([...store, '--port', String(port), '--trust-proxy', '127.0.0.1'], {
    cwd: site.path,
    env: minioKeys(keys),
  })
}

/** Free ports, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) ports.add(await findFreePort())
  return [...ports]
}
