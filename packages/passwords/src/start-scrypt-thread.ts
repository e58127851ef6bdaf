import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { HashingThread } from './hashing-threads.ts'
import type { ScryptInput, ScryptOutput } from './scrypt-thread.ts'

/** Starts a thread that computes scrypt at a lower priority. It keeps the process running only while it computes. */
export function startScryptThread(): HashingThread<ScryptInput, Uint8Array> {
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
