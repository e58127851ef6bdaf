import { Worker as Thread, type WorkerOptions } from 'node:worker_threads'
import { embeddedFile } from './embedded-file.ts'

export * from 'node:worker_threads'

/** A thread that may run a file of the executable. */
export const Worker = function (file: string | URL, options: WorkerOptions): Thread {
  const code = embeddedFile(file)
  return code ? new Thread(code.toString(), { ...options, eval: true }) : new Thread(file, options)
}
