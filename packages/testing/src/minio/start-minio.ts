import { Agent } from 'node:https'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { GenericContainer, PullPolicy, Wait, type WaitStrategy } from 'testcontainers'
import {
  CreateBucketCommand,
  PutBucketVersioningCommand,
  ListMultipartUploadsCommand,
  PutBucketPolicyCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { makeCertificate, type Certificate } from '../tls-site.ts'
import { findFreePort } from '../machine.ts'
import { prepareEngine, ensureMinioImage, ignoringMissing, ownershipLabels } from './engine.ts'
import { deployedFile } from '../documents.ts'

/** A MinIO server for one test, which may stop and break it. */
export interface OwnMinio extends RunningMinio, ControlledContainer {}

export interface StartMinioOptions {
  /** Whether to serve HTTPS, with a self-signed certificate for 127.0.0.1 and localhost. Default: false. */
  readonly tls?: boolean
  /** The size in MiB, 8 or more, of a memory drive, which `kill` empties. Default: the engine's disk. */
  readonly driveMiB?: number | undefined
}

/**
 * Starts a MinIO server with one drive; resolves when it answers, after about a second. For tests that break it or need special options;
 * others share one by `describeWithMinio`. The caller stops it.
 */
export async function startMinio({
  tls = false,
  driveMiB,
}: StartMinioOptions = {}): Promise<OwnMinio> {
  const certificate = tls ? await makeCertificate() : undefined
  const node = await startNode({ command: ['/data'], certificate, driveMiB })
  return createOwnMinio(node, certificate?.certificate)
}

/** Adds to a node what all test servers have. */
export function createOwnMinio(node: Node, certificate?: string): OwnMinio {
  const minio = createRunningMinio(node.endpoint, certificate)
  return {
    ...minio,
    ...node,
    stop: async () => {
      minio.client.destroy()
      await node.stop()
    },
  }
}

/** A container that tests may break. Its endpoint and its data stay the same until `stop`; a memory drive loses its data by `kill`. */
export interface ControlledContainer {
  /** Its id in the engine, for tests that ask the engine about it. */
  readonly containerId: string
  /** Ends the container and removes it with its data. Also works right after `kill` and `pause`, and repeatedly. */
  stop(): Promise<void>
  /** Freezes the container: it accepts connections, but does not answer. */
  pause(): Promise<void>
  unpause(): Promise<void>
  /** Kills the container by SIGKILL, as a power cut would; resolves when it refuses connections. */
  kill(): Promise<void>
  /** Starts it again after `kill`; resolves when it answers. */
  start(): Promise<void>
}

export interface NodeOptions {
  /** The arguments after `minio server`. */
  readonly command: readonly string[]
  readonly certificate?: Certificate | undefined
  /** The Docker network of a cluster, and the node's name in it. */
  readonly network?: { readonly name: string; readonly alias: string }
  readonly environment?: Readonly<Record<string, string>>
  /** The size in MiB of a memory drive at `/data`, which `kill` empties. Default: none; the data are on the engine's disk. */
  readonly driveMiB?: number | undefined
  /** The path that answers 200 when the server is ready. Default: `/minio/health/live`. */
  readonly health?: string
}

export interface Node extends ControlledContainer {
  readonly endpoint: string
}

const startupMs = 90_000

/** Starts one MinIO process in a new container; resolves when it answers. */
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
    // In the library, `restart` means "start and wait until it is ready", whatever state the container is in.
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
    // This process itself removes what it makes: the library's reaper would be one more image to pull, and listens on all addresses of the
    // machine.
    .withAutoCleanup(false)
    .withWaitStrategy(healthy(options))
  if (network) container.withAliasIn(network.name, network.alias)
  if (certificate) container.withCopyContentToContainer(certificateFiles(certificate))
  if (driveMiB !== undefined) {
    // MinIO refuses such small drives except in tests.
    container.withTmpFs({ '/data': `rw,size=${driveMiB}m` }).withEnvironment({ MINIO_CI_CD: '1' })
  }
  return container
}

function healthy({ certificate, health = '/minio/health/live' }: NodeOptions): WaitStrategy {
  const wait = Wait.forHttp(health, 9000, { abortOnContainerExit: true })
    .withStartupTimeout(startupMs)
    // This is also the pause between two attempts.
    .withReadTimeout(500)
  return certificate ? wait.usingTls().allowInsecure() : wait
}

function certificateFiles({ certificate, privateKey }: Certificate) {
  return [
    { content: certificate, target: '/certs/public.crt' },
    { content: privateKey, target: '/certs/private.key' },
  ]
}

/** The administrator's account, and the region. */
const credentials = {
  accessKey: 'holdfast-tests',
  secretKey: 'correct-horse-battery-staple',
  region: 'us-east-1',
} as const

const settings = {
  MINIO_ROOT_USER: credentials.accessKey,
  MINIO_ROOT_PASSWORD: credentials.secretKey,
  MINIO_REGION: credentials.region,
  MINIO_BROWSER: 'off',
  // No update checks, no telemetry.
  MINIO_UPDATE: 'off',
  MINIO_CALLHOME_ENABLE: 'off',
  // Above this the garbage collector works harder, so that several servers fit on a small machine.
  GOMEMLIMIT: '512MiB',
}

/**
 * A container that is reachable only on 127.0.0.1, and by alias from the other containers of its network. It is a class because
 * testcontainers gives only its subclasses access to both.
 */
class LoopbackContainer extends GenericContainer {
  /** Publishes a port on 127.0.0.1. The library would let the engine choose the addresses, by default all. */
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

/** A MinIO server that tests can use. */
export interface RunningMinio {
  /** `http://127.0.0.1:<port>`, or `https://…` if it was started with TLS. Other machines cannot reach it. */
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** The certificate in PEM of the authority that clients must trust; `undefined` without TLS. */
  readonly certificate: string | undefined
  /** An S3 client of the administrator, to prepare a test and to inspect what it has stored. */
  readonly client: S3Client
  /** Makes an empty bucket with a new name, and resolves with that. Each test makes its own, and leaves it there. */
  createBucket(): Promise<string>
  /** The same, of a bucket with versioning. */
  createVersionedBucket(): Promise<string>
  /** Lets all clients read and write the objects of `bucket`, without credentials. */
  openToAll(bucket: string): Promise<void>
  /** The keys of the multipart uploads into `bucket` that have neither become objects nor been aborted. */
  unfinishedUploads(bucket: string): Promise<string[]>
}

/** Describes the server at `endpoint` to tests. */
export function createRunningMinio(endpoint: string, certificate?: string): RunningMinio {
  const client = new S3Client({
    endpoint,
    region: credentials.region,
    credentials: { accessKeyId: credentials.accessKey, secretAccessKey: credentials.secretKey },
    forcePathStyle: true,
    ...(certificate !== undefined && {
      requestHandler: { httpsAgent: new Agent({ ca: certificate }) },
    }),
  })
  const createBucket = async () => {
    const bucket = `test-${randomUUID()}`
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
    return bucket
  }
  return {
    endpoint,
    ...credentials,
    certificate,
    client,
    createBucket,
    createVersionedBucket: async () => {
      const bucket = await createBucket()
      const VersioningConfiguration = { Status: 'Enabled' } as const
      await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }))
      return bucket
    },
    openToAll: async (bucket) => {
      const statement = {
        Effect: 'Allow',
        Principal: '*',
        Action: ['s3:GetObject', 's3:PutObject'],
        Resource: `arn:aws:s3:::${bucket}/*`,
      }
      const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] })
      await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy: policy }))
    },
    unfinishedUploads: async (bucket) => {
      const { Uploads: uploads = [] } = await client.send(
        new ListMultipartUploadsCommand({ Bucket: bucket }),
      )
      return uploads.map(({ Key: key }) => key ?? '')
    },
  }
}

/** The keys of MinIO as environment variables of `holdfast`. */
export function minioKeys({
  accessKey,
  secretKey,
}: Pick<RunningMinio, 'accessKey' | 'secretKey'>): Readonly<Record<string, string>> {
  return { HOLDFAST_MINIO_ACCESS_KEY: accessKey, HOLDFAST_MINIO_SECRET_KEY: secretKey }
}

/** The environment of a server that uses `bucket` as its store. */
export function minioEnvironment(
  minio: Pick<RunningMinio, 'endpoint' | 'accessKey' | 'secretKey'>,
  bucket: string,
): Readonly<Record<string, string>> {
  return {
    HOLDFAST_STORE: 'minio',
    HOLDFAST_MINIO_ENDPOINT: minio.endpoint,
    HOLDFAST_MINIO_BUCKET: bucket,
    ...minioKeys(minio),
  }
}

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

export interface Policy {
  readonly Statement: readonly { readonly Action: readonly string[] }[]
}

/** docs/deploy/bucket-policy.json for `bucket`. */
export const policyOf = (bucket: string) =>
  JSON.parse(
    deployedFile('bucket-policy.json', { 'arn:aws:s3:::files': `arn:aws:s3:::${bucket}` }),
  ) as Policy

/** The same with docs/deploy/bucket-versions-policy.json: what restoring earlier versions needs. */
export const policyWithVersionsOf = (bucket: string): Policy => {
  const names = { 'arn:aws:s3:::files': `arn:aws:s3:::${bucket}` }
  const more = JSON.parse(deployedFile('bucket-versions-policy.json', names)) as Policy
  const policy = policyOf(bucket)
  return { ...policy, Statement: [...policy.Statement, ...more.Statement] }
}

/** `policy` without the right `action`. */
export const withoutRight = (policy: Policy, action: string): Policy => {
  const less = policy.Statement.map((statement) => ({
    ...statement,
    Action: statement.Action.filter((each) => each !== action),
  }))
  return { ...policy, Statement: less.filter(({ Action }) => Action.length > 0) }
}

/** Access keys with the rights of `policy` and no others. */
export async function temporaryKeys(
  { endpoint, accessKey, secretKey, region }: RunningMinio,
  policy: Policy,
) {
  // Few of the tests that use MinIO need it.
  const { AssumeRoleCommand, STSClient } = await import('@aws-sdk/client-sts')
  const sts = new STSClient({
    endpoint,
    region,
    credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
  })
  const command = new AssumeRoleCommand({
    RoleArn: 'arn:aws:iam::000000000000:role/any',
    RoleSessionName: 'holdfast',
    Policy: JSON.stringify(policy),
  })
  const { Credentials: keys } = await sts.send(command)
  sts.destroy()
  return {
    accessKey: keys?.AccessKeyId ?? '',
    secretKey: keys?.SecretAccessKey ?? '',
    sessionToken: keys?.SessionToken ?? '',
  }
}
