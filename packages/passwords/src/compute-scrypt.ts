import { scrypt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { createHashingThreads, type HashingThread } from './hashing-threads.ts'
import { type ScryptCost, scryptMemory } from './scrypt-hash.ts'
import type { ScryptInput, ScryptOutput } from './scrypt-thread.ts'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Computes scrypt (RFC 7914) of a password's UTF-8 bytes; resolves to `length` bytes. */
export type ComputeScrypt = (
  password: string,
  salt: Uint8Array,
  length: number,
  cost: ScryptCost,
) => Promise<Buffer>

/**
 * {@link ComputeScrypt} off the caller's thread: a computation alone on Node's thread pool, several at once in threads of
 * their own, at most one for each processor. On Linux these have a lower priority, so that other work goes first. Where
 * they cannot be started, the thread pool computes.
 */
export const computeScrypt: ComputeScrypt = async (password, salt, length, cost) => {
  // OpenSSL refuses at 32 MiB by default, and counts a few blocks more than the algorithm's own.
  const maxmem = scryptMemory(cost) + 128 * cost.r * 4 + 1024
  const options = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem }
  // A copy, because a message has all of the memory that a `Buffer` is a part of.
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

/** One for the process: so many verifiers share the processors. */
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
    // Flags of the process, such as modules to load first, are not meant for it.
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
