import { scrypt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ScryptInput, ScryptOutput } from './scrypt-thread.ts'

/** Computes scrypt (RFC 7914) of a password's UTF-8 bytes; resolves with `length` bytes. */
export type ComputeScrypt = (
  password: string,
  salt: Uint8Array,
  length: number,
  cost: ScryptCost,
) => Promise<Buffer>

/**
 * {@link ComputeScrypt} outside the caller's thread. A single computation runs on Node's thread pool; further concurrent ones run in
 * separate threads, at most one for each processor. On Linux these threads have a lower priority, so that other work goes first. If
 * they cannot be started, the thread pool computes.
 */
export const computeScrypt: ComputeScrypt = async (password, salt, length, cost) => {
  // By default OpenSSL refuses more than 32 MiB, and it counts a few blocks more than the algorithm needs.
  const maxmem = scryptMemory(cost) + 128 * cost.r * 4 + 1024
  const options = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem }
  // Copied, because a message includes the whole memory of which a `Buffer` is a part.
  const input = { password, salt: Uint8Array.from(salt), length, options }
  return Buffer.from(await computeInThread(input))
}

const computeInPool = ({ password, salt, length, options }: ScryptInput) =>
  new Promise<Uint8Array>((resolve, reject) => {
    scrypt(password, salt, length, options, (error, derived) => {
      if (error) reject(error)
      else resolve(derived)
    })
  })

/** One for the whole process, so that several verifiers share the processors. */
const computeInThread = createHashingThreads<ScryptInput, Uint8Array>({
  max: availableParallelism(),
  start: startScryptThread,
  instead: computeInPool,
})

/** Starts a thread that computes scrypt at a lower priority. It keeps the process running only while it computes. */
function startScryptThread(): HashingThread<ScryptInput, Uint8Array> {
  const extension = extname(import.meta.url)
  const worker = new Worker(new URL(`./scrypt-thread${extension}`, import.meta.url), {
    name: 'holdfast-scrypt',
    // The thread does not need the flags of the process, such as modules to load first.
    execArgv: [],
  })
  worker.unref()
  let hasFailed = false
  let answer: (output: ScryptOutput) => void = () => {}
  const fail = () => {
    hasFailed = true
    answer(undefined)
  }
  worker.on('message', (output: ScryptOutput) => answer(output))
  worker.on('error', fail)
  worker.on('exit', fail)

  return {
    compute: async (input) => {
      if (hasFailed) return undefined
      worker.ref()
      const output = await new Promise<ScryptOutput>((resolve) => {
        answer = resolve
        worker.postMessage(input)
      })
      worker.unref()
      if (output === undefined) void worker.terminate()
      return output
    },
    stop: () => void worker.terminate(),
  }
}

/** A thread that runs one computation after another. */
interface HashingThread<Input, Output> {
  /** Resolves with `undefined` if the thread has failed; it is not usable then. */
  compute(input: Input): Promise<Output | undefined>
  stop(): void
}

export interface HashingThreadsOptions<Input, Output> {
  /** The most computations at a time, and so the most threads. */
  readonly max: number
  /** Starts a thread. May throw. */
  readonly start: () => HashingThread<Input, Output>
  /** Computes without a thread: a single computation, and one for which a thread has failed. */
  readonly instead: (input: Input) => Promise<Output>
  /** How long an idle thread is kept, in milliseconds. Default: 30,000. */
  readonly idleMs?: number
  /** How long no thread is started after one has failed, in milliseconds. Default: 60,000. */
  readonly pauseMs?: number
}

interface IdleThread<Input, Output> {
  readonly thread: HashingThread<Input, Output>
  readonly timer: NodeJS.Timeout
}

/**
 * Makes a function that computes in threads, which start when they are needed and stop when they are idle. A single computation uses
 * no thread: it disturbs other work little, and to start a thread costs as much as the computation. Beyond `max`, computations wait
 * in the order of their arrival.
 */
export function createHashingThreads<Input, Output>({
  max,
  start,
  instead,
  idleMs = 30_000,
  pauseMs = 60_000,
}: HashingThreadsOptions<Input, Output>): (input: Input) => Promise<Output> {
  // The thread that worked last is at the end and is used first, so that the others may stop.
  const idle: IdleThread<Input, Output>[] = []
  const waiting: (() => void)[] = []
  let busy = 0
  let pausedUntil = -Infinity

  const pause = () => void (pausedUntil = performance.now() + pauseMs)

  const takeThread = () => {
    const last = idle.pop()
    clearTimeout(last?.timer)
    if (last || performance.now() < pausedUntil) return last?.thread
    try {
      return start()
    } catch {
      pause()
      return undefined
    }
  }

  const keep = (thread: HashingThread<Input, Output>) => {
    const stop = () => {
      idle.splice(idle.indexOf(one), 1)
      thread.stop()
    }
    const one = { thread, timer: setTimeout(stop, idleMs) }
    one.timer.unref()
    idle.push(one)
  }

  const computeInThread = async (input: Input) => {
    const thread = takeThread()
    const output = await thread?.compute(input)
    if (output === undefined) {
      if (thread) pause()
      return instead(input)
    }
    if (thread) keep(thread)
    return output
  }

  return async (input) => {
    const isAlone = busy === 0
    if (busy < max) busy++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await (isAlone ? instead(input) : computeInThread(input))
    } finally {
      const next = waiting.shift()
      if (next) next()
      else busy--
    }
  }
}

/** The parts of a password's scrypt hash. */
export interface ScryptHash {
  readonly cost: ScryptCost
  readonly salt: Buffer
  readonly hash: Buffer
}

const phcForm =
  /^\$scrypt\$ln=(\d{1,3}),r=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{1,100})\$([A-Za-z0-9+/]{1,100})$/

/** The PHC string: `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, both in base64 without padding. */
export function formatScryptHash({ cost, salt, hash }: ScryptHash): string {
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`
}

/**
 * Parses a PHC string. Salts may have 8 to 64 bytes, hashes 16 to 64 bytes, and costs must be within the limits of
 * `scryptCostProblem`.
 *
 * @throws RangeError whose message can end a sentence, and does not contain the string.
 */
export function parseScryptHash(text: string): ScryptHash {
  const [, ln, r, p, salt, hash] = phcForm.exec(text) ?? []
  if (salt === undefined || hash === undefined) {
    throw new RangeError('is not of the form $scrypt$ln=15,r=8,p=1$<salt>$<hash>')
  }
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) }
  const problem = scryptCostProblem(cost)
  if (problem !== undefined) throw new RangeError(`asks for an unacceptable cost: ${problem}`)
  return { cost, salt: decode(salt, 'salt', 8), hash: decode(hash, 'hash', 16) }
}

function decode(base64: string, what: string, minBytes: number): Buffer {
  const bytes = Buffer.from(base64, 'base64')
  // Node skips characters that it cannot decode, so only a canonical text is equal after decoding and encoding.
  if (unpadded(bytes) !== base64) throw new RangeError(`has a ${what} that is not base64`)
  if (bytes.length < minBytes || bytes.length > 64) {
    throw new RangeError(`has a ${what} of ${bytes.length} bytes; ${minBytes} to 64 are accepted`)
  }
  return bytes
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}

/**
 * The cost of one scrypt computation (RFC 7914 §2): it takes `128 * r * 2^ln` bytes of memory, and time in proportion to that times
 * `p`.
 */
export interface ScryptCost {
  /** Binary logarithm of the CPU and memory cost N. */
  readonly ln: number
  /** Block size. */
  readonly r: number
  /** Parallelisation. */
  readonly p: number
}

/**
 * The cost of new hashes: 32 MiB of memory, and about 60 ms of one processor. It makes guesses expensive for a thief of the file, but
 * even the smallest server can afford two computations at a time.
 */
export const standardScryptCost: ScryptCost = { ln: 15, r: 8, p: 1 }

const maxMemoryBytes = 256 * 2 ** 20
const maxWork = 2 ** 22

/**
 * Why `cost` is not allowed, as the end of a sentence; `undefined` if it is. Besides the limits of RFC 7914, one computation may take
 * at most 256 MiB and sixteen times the work of {@link standardScryptCost}, so that no file of hashes can overload the server.
 */
export function scryptCostProblem({ ln, r, p }: ScryptCost): string | undefined {
  if (![ln, r, p].every((value) => Number.isSafeInteger(value) && value >= 1)) {
    return 'ln, r and p must be whole numbers of at least 1'
  }
  if (ln > 24 || r > 64 || p > 64) return 'ln may be at most 24, r and p at most 64'
  if (ln >= 16 * r) return `ln must be below ${16 * r} where r is ${r}`
  if (scryptMemory({ ln, r, p }) > maxMemoryBytes) return 'it takes more than 256 MiB of memory'
  if (2 ** ln * r * p > maxWork) return 'it takes more than sixteen times the standard work'
  return undefined
}

/** The memory of one computation in bytes, without the overhead of the library. */
export function scryptMemory({ ln, r, p }: ScryptCost): number {
  return 128 * r * (2 ** ln + p)
}

/** Whether two costs are equal, so that their computations take the same time. */
export function isSameScryptCost(one: ScryptCost, other: ScryptCost): boolean {
  return one.ln === other.ln && one.r === other.r && one.p === other.p
}
