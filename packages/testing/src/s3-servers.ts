import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CreateBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { findFreePort, packageFolder } from './machine.ts'

const startLimitMs = 120_000
const testLimitMs = 180_000

/** How a server differs in the tests of a suite. */
export interface S3ServerSuiteOptions {
  /** Each must name a test of the suite, and that test must fail in that way. Default: none. */
  readonly failures?: readonly KnownFailure[]
  /** Titles of tests and suites that do not run, in the form of `KnownFailure`. Default: none. */
  readonly leftOut?: readonly string[]
}

/**
 * Declares a mocha suite whose tests share a server of `kind`.
 *
 * Like the suites of `describeWithContainers`, it is left out if `HOLDFAST_WITHOUT_CONTAINERS` names a file.
 */
export function describeWithS3Server(
  kind: S3ServerKind,
  title: string,
  body: (server: () => RunningS3Server) => void,
  { failures = [], leftOut = [] }: S3ServerSuiteOptions = {},
): void {
  const leftOutFile = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (leftOutFile) return appendFileSync(leftOutFile, `${title}\n`)
  describe(title, function () {
    // These servers are slower than MinIO, one of them by far.
    this.timeout(testLimitMs)
    let running: RunningS3Server | undefined
    before(`starts ${kind}`, async function () {
      this.timeout(startLimitMs)
      running = await startS3Server(kind)
    })
    after(`stops ${kind}`, async function () {
      this.timeout(startLimitMs)
      await running?.stop()
    })
    body(() => {
      if (running) return running
      throw new Error(`${kind} runs during the tests of "${title}" only`)
    })
    leaveOut(this, leftOut)
    invertFailures(this, failures)
  })
}

/** Precedes the title of a test that must fail. */
const knownFailureMark = 'fails as known: '

/**
 * Makes the tests of `suite` that `failures` names pass if they fail in the known way, and fail if they pass.
 *
 * @throws Error for a title that no test has, or that two entries have
 */
export function invertFailures(suite: Mocha.Suite, failures: readonly KnownFailure[]): void {
  const depth = suite.titlePath().length
  const known = new Map<string, KnownFailure>()
  for (const failure of failures) {
    for (const title of failure.tests) {
      if (known.has(title)) throw new Error(`Known to fail twice: ${title}`)
      known.set(title, failure)
    }
  }
  suite.eachTest((test) => {
    const title = test.titlePath().slice(depth).join(' > ')
    const failure = known.get(title)
    if (!failure) return
    known.delete(title)
    invert(test, failure)
  })
  const [missing] = known.keys()
  if (missing !== undefined) throw new Error(`Known to fail, but no test: ${missing}`)
}

function invert(test: Mocha.Test, { cannot, error: expected }: KnownFailure): void {
  const run: ((this: Mocha.Context, done: Mocha.Done) => unknown) | undefined = test.fn
  test.title = knownFailureMark + test.title
  test.fn = async function (this: Mocha.Context) {
    const failure = await attempt(() => run?.call(this, () => {}))
    if (!failure) throw new Error(`Passes, although this is known of the server: ${cannot}`)
    if (expected.test(failure.text)) return
    throw new Error(`Fails otherwise than is known (${expected}): ${failure.text}`)
  }
}

async function attempt(run: () => unknown): Promise<{ readonly text: string } | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return { text: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}

/**
 * Removes the tests and suites with these titles from `suite`, so that they do not run. A title includes those of the suites around it,
 * below `suite`, joined by ` > `.
 *
 * @throws Error for a title that neither a test nor a suite has
 */
export function leaveOut(suite: Mocha.Suite, titles: readonly string[]): void {
  const missing = new Set(titles)
  const isWanted = (path: string) => !missing.delete(path)
  const prune = (parent: Mocha.Suite, prefix: string) => {
    const pathOf = ({ title }: { readonly title: string }) => `${prefix}${title}`
    parent.tests = parent.tests.filter((test) => isWanted(pathOf(test)))
    parent.suites = parent.suites.filter((child) => isWanted(pathOf(child)))
    for (const child of parent.suites) prune(child, `${pathOf(child)} > `)
  }
  prune(suite, '')
  const [first] = missing
  if (first !== undefined) throw new Error(`To be left out, but there is no such test: ${first}`)
}

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

const answerLimitMs = 60_000

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
  const limit = Date.now() + answerLimitMs
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

/** The kinds of S3 servers that tests run, beside MinIO. */
export type S3ServerKind = 'versitygw' | 'rclone'

/** Tests that fail on a server because it lacks a feature. */
export interface KnownFailure {
  /** What the server cannot do, as a sentence without a full stop. */
  readonly cannot: string
  /** A part of the message of each test's error. */
  readonly error: RegExp
  /** The titles of the tests, each with those of the suites around it from `describeWithS3Server` on, joined by ` > `. */
  readonly tests: readonly string[]
}

/** The known differences of a server. */
export interface KnownServer {
  /** What operators must know, for docs/minio.md; sentences without a full stop. */
  readonly remarks: readonly string[]
  /** The tests of the contract suite that it fails. */
  readonly contract: readonly KnownFailure[]
  /**
   * The tests of the contract suite that it passes or fails by chance, as in a race; titles as in `KnownFailure`. These tests do not run:
   * neither a pass nor a failure would prove anything.
   */
  readonly byChance: readonly string[]
  /** The problems that an inspection finds, as `check: mark`. */
  readonly findings: readonly string[]
  /** The checks of an inspection that it passes or fails by chance, as in a race. Default: none. */
  readonly findingsByChance?: readonly string[]
}

const notInXml = {
  cannot: 'Lists leave out files called `. `, ` .` or `.. `, and give U+FFFD for U+FFFF in names',
  error: /^AssertionError: expected \[/,
}

// Seen: on versitygw names in wrong order, on rclone names missing or repeated, and more blobs counted than exist.
const listsChange = 'Lists may leave out, repeat or disorder files that are overwritten meanwhile'

const testsOfLists = [
  'listing > gives each of 1100 names exactly once while they are overwritten',
  'listing > gives every name that stays exactly once while others come and go, with details',
  'listing > gives the details of one blob under each name while it is replaced',
  'listing > fills a limit with details though blobs go meanwhile',
]

const replacesInPlace = 'Replaces files in place: who reads one meanwhile may get a broken download'

const testsOfReplacing = [
  'overwriting > keeps one of ten blobs put at once, whole',
  'overwriting > shows whole blobs only while ten puts replace each other',
  'overwriting > publishes a put that was overtaken by another put and by a delete',
  ...[
    'replaced by a longer one',
    'replaced by one of the same size',
    'replaced by an empty one',
    'deleted',
    'deleted and put anew',
  ].map((change) => `overwriting > reads an opened blob to its end after it is ${change}`),
  'create-only > lets exactly one of twenty puts at once succeed',
  'ranges > reads a range of the blob that was opened after that is replaced',
  'absence > deletes a blob once, however many deletes come at once',
  'absence > has deleted a blob after deletes at once through two openings',
  'absence > stores under a name while its blob is deleted over and over',
  'listing > gives every name that stays exactly once while others come and go',
  'sharing > lets exactly one of twenty create-only puts through two openings succeed',
  'sharing > leaves a blob that is being read alone when another opening replaces it',
]

/** What each server cannot do. A test that starts to pass fails here until its line is removed. */
export const knownFailures: Readonly<Record<S3ServerKind, KnownServer>> = {
  versitygw: {
    remarks: [notInXml.cannot, listsChange],
    contract: [
      {
        ...notInXml,
        tests: [
          ...['. ', ' .', '.. ', '\uffff'].map(
            (name) => `naming > keeps a blob called "${name}" of a customer called the same`,
          ),
          'naming > keeps names apart that differ in case, normalisation, dots, spaces or escapes',
          'customers > lists customers of any name, each once, in the order of their UTF-8 bytes',
        ].map((test) => `versitygw as a BlobStore > ${test}`),
      },
    ],
    byChance: testsOfLists.map((test) => `versitygw as a BlobStore > ${test}`),
    findings: ['names: warning'],
  },
  rclone: {
    remarks: [
      replacesInPlace,
      listsChange,
      'Has to be started with `--no-unicode-normalization`; otherwise customers and files whose names look alike are one',
      'Files called `. `, ` .` or `.. ` are gone from view when it reads its folder anew, after some minutes',
    ],
    contract: [],
    byChance: [...testsOfLists, ...testsOfReplacing].map(
      (test) => `rclone as a BlobStore > ${test}`,
    ),
    findings: ['names: warning'],
    findingsByChance: ['writers at once'],
  },
}
