import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { existsSync, readFileSync } from 'node:fs'
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { findFreePort, packageFolder } from '../machine.ts'
import type { S3ServerKind } from './known-failures.ts'

/** An S3 server for one suite, on 127.0.0.1 only. */
export interface RunningS3Server {
  readonly kind: S3ServerKind
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** An S3 client of the administrator. */
  readonly client: S3Client
  /** Makes an empty bucket with a new name, and resolves with that. */
  createBucket(): Promise<string>
  /** The first thousand keys of `bucket`, as the server lists them. */
  keys(bucket: string): Promise<string[]>
  /** The keys of the multipart uploads into `bucket` that have neither become objects nor been aborted. */
  unfinishedUploads(bucket: string): Promise<string[]>
  /** Ends the process, and removes its data. */
  stop(): Promise<void>
}

const credentials = {
  accessKey: 'holdfast-tests',
  secretKey: 'correct-horse-battery-staple',
  region: 'us-east-1',
} as const

const startLimitMs = 60_000

/** Starts a server; resolves when it answers. Otherwise rejects with its output. */
export async function startS3Server(kind: S3ServerKind): Promise<RunningS3Server> {
  const programs = findPrograms()
  const folder = await mkdtemp(join(tmpdir(), `holdfast-${kind}-`))
  await mkdir(join(folder, 'data'))
  const port = await findFreePort()
  const start = { programs, port, folder, ...credentials }
  const process = runCommand(s3ServerCommands[kind](start), folder)
  const endpoint = `http://127.0.0.1:${port}`
  const client = connect(endpoint)
  const stop = async () => {
    client.destroy()
    await process.end()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await answering(endpoint, process)
  } catch (error) {
    await stop()
    throw error
  }
  return { kind, endpoint, ...credentials, client, ...bucketsOf(client), stop }
}

function connect(endpoint: string): S3Client {
  const { accessKey: accessKeyId, secretKey: secretAccessKey, region } = credentials
  return new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
  })
}

function bucketsOf(client: S3Client) {
  return {
    async createBucket() {
      const Bucket = `test-${randomUUID()}`
      await client.send(new CreateBucketCommand({ Bucket }))
      return Bucket
    },
    async keys(bucket: string) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
      return Contents.map(({ Key = '' }) => Key)
    },
    async unfinishedUploads(bucket: string) {
      const command = new ListMultipartUploadsCommand({ Bucket: bucket })
      const { Uploads = [] } = await client.send(command).catch((error: unknown) => {
        // Rclone's answer for an empty list.
        if (error instanceof Error && error.name === 'NoSuchUpload') return { Uploads: [] }
        throw error
      })
      return Uploads.map(({ Key = '' }) => Key)
    },
  }
}

interface RunningProcess {
  readonly isOver: () => boolean
  /** The end of its output. */
  readonly output: () => string
  readonly end: () => Promise<void>
}

function runCommand([program, ...args]: readonly [string, ...string[]], cwd: string) {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const listen = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4000))
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  child.on('error', (error) => (output += String(error)))
  const closed = once(child, 'close').catch(() => {})
  const kill = () => child.kill('SIGKILL')
  // Runs even if the tests end by an exception.
  process.once('exit', kill)
  return {
    isOver: () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null,
    output: () => output,
    end: async () => {
      kill()
      if (child.pid !== undefined) await closed
      process.removeListener('exit', kill)
    },
  } satisfies RunningProcess
}

async function answering(endpoint: string, { isOver, output }: RunningProcess): Promise<void> {
  const limit = Date.now() + startLimitMs
  while (!isOver() && Date.now() < limit) {
    const signal = AbortSignal.timeout(5_000)
    const answer = await fetch(endpoint, { signal }).catch(() => undefined)
    if (answer) {
      await answer.arrayBuffer()
      return
    }
    await delay(50)
  }
  throw new Error(`The server at ${endpoint} does not answer. It said: ${output()}`)
}

/**
 * The folder of the servers, into which `scripts/test` puts them, in the user's cache directory.
 *
 * @throws Error that says how to get them
 */
function findPrograms(): string {
  const caches = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const folder = join(caches, 'holdfast/s3-servers')
  if (existsSync(folder)) return folder
  throw new Error(`There is no ${folder}: scripts/test makes it, with --all.`)
}

/** The parameters for starting a server. */
interface S3ServerStart {
  /** The folder in which `scripts/test` keeps the programs. */
  readonly programs: string
  /** On 127.0.0.1. */
  readonly port: number
  /** An empty folder; the server keeps everything below it. */
  readonly folder: string
  readonly accessKey: string
  readonly secretKey: string
}

const versions = join(packageFolder, 's3-server-versions')

/** The exact version of `kind` that `scripts/test` builds, without a `v`. */
export function s3ServerVersion(kind: S3ServerKind): string {
  return readFileSync(join(versions, kind), 'utf8').trim().replace(/^v/, '')
}

/** The command that runs a server in the foreground. */
const s3ServerCommands: Record<
  S3ServerKind,
  (start: S3ServerStart) => readonly [program: string, ...args: string[]]
> = {
  versitygw: ({ programs, port, folder, accessKey, secretKey }) => [
    join(programs, `versitygw-v${s3ServerVersion('versitygw')}`, 'versitygw'),
    ...['--port', `127.0.0.1:${port}`, '--access', accessKey, '--secret', secretKey, '--quiet'],
    ...['posix', join(folder, 'data')],
  ],
  rclone: ({ programs, port, folder, accessKey, secretKey }) => [
    join(programs, `rclone-v${s3ServerVersion('rclone')}`, 'rclone'),
    ...['serve', 's3', '--addr', `127.0.0.1:${port}`, '--auth-key', `${accessKey},${secretKey}`],
    ...['--config', '/dev/null', '--cache-dir', join(folder, 'cache')],
    // Otherwise rclone treats names that differ only in their Unicode normalisation as equal.
    '--no-unicode-normalization',
    join(folder, 'data'),
  ],
}
