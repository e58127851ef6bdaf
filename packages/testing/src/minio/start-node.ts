import { GenericContainer, PullPolicy, Wait, type WaitStrategy } from 'testcontainers'
import type { Certificate } from '../make-certificate.ts'
import { prepareEngine } from './prepare-engine.ts'
import { findFreePort } from '../find-free-port.ts'
import { ensureMinioImage } from './ensure-minio-image.ts'
import { ignoringMissing, ownershipLabels } from './ownership.ts'
import { credentials } from './running-minio.ts'

/** A container that tests may break. Its endpoint and its data stay the same until `stop`, but for a drive in memory. */
export interface ControlledContainer {
  /** Its id in the engine, for tests that ask the engine about it. */
  readonly containerId: string
  /** Ends it and removes it with its data. Also right after `kill` and `pause`, and a second time. */
  stop(): Promise<void>
  /** Freezes it: connections are accepted, and nothing answers. */
  pause(): Promise<void>
  unpause(): Promise<void>
  /** Kills it by SIGKILL, as a power cut would, and resolves when it is down: connections are refused. */
  kill(): Promise<void>
  /** Starts it again after `kill` and resolves when it answers. */
  start(): Promise<void>
}

export interface NodeOptions {
  /** What comes after `minio server`. */
  readonly command: readonly string[]
  readonly certificate?: Certificate | undefined
  /** The Docker network of a cluster, and the node's name in it. */
  readonly network?: { readonly name: string; readonly alias: string }
  readonly environment?: Readonly<Record<string, string>>
  /** The size of a drive in memory at `/data`, which `kill` empties. Default: none; data lie on the disk of the engine. */
  readonly driveMiB?: number | undefined
  /** The path that answers 200 when the server is ready. Default: `/minio/health/live`. */
  readonly health?: string
}

export interface Node extends ControlledContainer {
  readonly endpoint: string
}

const startupMs = 90_000

/** Starts one MinIO process in a container of its own and resolves when it answers. */
export async function startNode(options: NodeOptions): Promise<Node> {
  const engine = await prepareEngine()
  const port = await findFreePort()
  const started = await (await describeContainer(options, port)).start()
  const container = engine.container.getById(started.getId())
  return {
    containerId: started.getId(),
    endpoint: `${options.certificate ? 'https' : 'http'}://127.0.0.1:${port}`,
    stop: () => ignoringMissing(container.remove({ force: true, v: true })),
    pause: async () => {
      await container.pause()
    },
    unpause: async () => {
      await container.unpause()
    },
    kill: async () => {
      await container.kill()
      await container.wait()
    },
    // The library's word for "start and wait until it is ready", whatever state the container is in.
    start: () => started.restart(),
  }
}

async function describeContainer(options: NodeOptions, port: number): Promise<LoopbackContainer> {
  const image = await ensureMinioImage(await prepareEngine())
  const { certificate, network, driveMiB } = options
  const container = new LoopbackContainer(image)
    .withPullPolicy(PullPolicy.neverPull())
    .withCommand(['server', '--certs-dir', '/certs', ...options.command])
    .withEnvironment({ ...settings, ...options.environment })
    .publish(9000, port)
    .withLabels(ownershipLabels)
    // What this process makes it removes itself: the library's reaper would be one more image to pull, and listens on
    // all addresses of the machine.
    .withAutoCleanup(false)
    .withWaitStrategy(healthy(options))
  if (network) container.withAliasIn(network.name, network.alias)
  if (certificate) container.withCopyContentToContainer(certificateFiles(certificate))
  if (driveMiB !== undefined) {
    // MinIO refuses drives as small as that unless it is being tested.
    container.withTmpFs({ '/data': `rw,size=${driveMiB}m` }).withEnvironment({ MINIO_CI_CD: '1' })
  }
  return container
}

function healthy({ certificate, health = '/minio/health/live' }: NodeOptions): WaitStrategy {
  const wait = Wait.forHttp(health, 9000, { abortOnContainerExit: true })
    .withStartupTimeout(startupMs)
    // Also the time between two attempts.
    .withReadTimeout(500)
  return certificate ? wait.usingTls().allowInsecure() : wait
}

function certificateFiles({ certificate, privateKey }: Certificate) {
  return [
    { content: certificate, target: '/certs/public.crt' },
    { content: privateKey, target: '/certs/private.key' },
  ]
}

const settings = {
  MINIO_ROOT_USER: credentials.accessKey,
  MINIO_ROOT_PASSWORD: credentials.secretKey,
  MINIO_REGION: credentials.region,
  MINIO_BROWSER: 'off',
  // No question about newer versions, no telemetry.
  MINIO_UPDATE: 'off',
  MINIO_CALLHOME_ENABLE: 'off',
  // The collector works harder above this; several servers fit a small machine.
  GOMEMLIMIT: '512MiB',
}

/**
 * A container that is reachable on 127.0.0.1 only, and by alias from its network's other containers. A class, since
 * testcontainers keeps what it takes for either to its subclasses.
 */
class LoopbackContainer extends GenericContainer {
  /** Publishes a port on 127.0.0.1. The library leaves the address to the engine, whose default is all of them. */
  publish(container: number, host: number): this {
    this.withExposedPorts({ container, host })
    const binding = { HostIp: '127.0.0.1', HostPort: String(host) }
    this.hostConfig.PortBindings = { [`${container}/tcp`]: [binding] }
    return this
  }

  /**
   * Puts the container into the network `name` as `alias`. The library's own aliases would put it into the engine's
   * default network, too.
   */
  withAliasIn(name: string, alias: string): this {
    this.createOpts.NetworkingConfig = { EndpointsConfig: { [name]: { Aliases: [alias] } } }
    return this.withNetworkMode(name)
  }
}
