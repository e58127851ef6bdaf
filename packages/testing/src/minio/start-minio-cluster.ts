import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { ignoringMissing, ownershipLabels, prepareEngine } from './engine.ts'
import { createOwnMinio, type OwnMinio, startNode, type Node } from './start-minio.ts'

/** Several MinIO servers in one erasure-coded cluster; each can answer all requests. */
export interface MinioCluster {
  /** Each node as a server with its own endpoint, which tests may kill and start again. */
  readonly nodes: readonly OwnMinio[]
  /** Resolves when all nodes are up and each sees all others; rejects after a minute. */
  untilWhole(): Promise<void>
  /** Ends all nodes and removes their data. */
  stop(): Promise<void>
}

export interface StartMinioClusterOptions {
  /** Default: 4, which stay readable and writable if any one of them is down. */
  readonly nodes?: number
}

const wholeLimitMs = 60_000

/**
 * Starts a cluster whose nodes are containers in a network of their own; resolves when it is complete, after some five seconds. All drives
 * are on the disk of this machine.
 */
export async function startMinioCluster({
  nodes: size = 4,
}: StartMinioClusterOptions = {}): Promise<MinioCluster> {
  const network = await createNetwork()
  const aliases = Array.from({ length: size }, (_, index) => `mn${index + 1}`)
  const starting = await Promise.allSettled(
    aliases.map((alias) => startMember({ name: network.name, alias }, aliases)),
  )
  const nodes = starting.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await network.remove()
  }
  const failed = starting.find((result) => result.status === 'rejected')
  if (!failed) {
    const cluster = { nodes, stop, untilWhole: () => untilWhole(nodes) }
    await cluster.untilWhole()
    return cluster
  }
  await stop()
  throw failed.reason
}

interface Network {
  readonly name: string
  remove(): Promise<void>
}

async function createNetwork(): Promise<Network> {
  const { container } = await prepareEngine()
  const name = `holdfast-${randomUUID()}`
  const network = await container.dockerode.createNetwork({ Name: name, Labels: ownershipLabels })
  return { name, remove: () => ignoringMissing(network.remove()) }
}

async function startMember(
  network: { readonly name: string; readonly alias: string },
  aliases: readonly string[],
): Promise<OwnMinio> {
  const node: Node = await startNode({
    command: aliases.map((alias) => `http://${alias}:9000/data`),
    network,
    // Without this, MinIO refuses drives on the system's disk.
    environment: { MINIO_CI_CD: '1' },
    health: '/minio/health/cluster',
  })
  return createOwnMinio(node)
}

async function untilWhole(nodes: readonly OwnMinio[]): Promise<void> {
  const signal = AbortSignal.timeout(wholeLimitMs)
  await Promise.all(nodes.map((node) => untilCanLeave(node, signal)))
}

/** Waits until the cluster could work without this node, which means that it sees all others up. */
async function untilCanLeave({ endpoint }: OwnMinio, signal: AbortSignal): Promise<void> {
  while (true) {
    const health = fetch(`${endpoint}/minio/health/cluster?maintenance=true`, { signal })
    const answer = await health.catch(() => undefined)
    if (answer?.ok) return
    await setTimeout(250, undefined, { signal })
  }
}
