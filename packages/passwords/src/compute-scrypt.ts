import { scrypt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type ScryptCost, scryptMemory } from './scrypt-hash.ts'
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
