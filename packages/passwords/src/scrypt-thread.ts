import { scryptSync, type ScryptOptions } from 'node:crypto'
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** One computation of scrypt, as a thread takes it. */
export interface ScryptInput {
  readonly password: string
  readonly salt: Uint8Array
  readonly length: number
  readonly options: ScryptOptions
}

/** What the thread answers: the derived bytes; `undefined` if the computation failed. */
export type ScryptOutput = Uint8Array | undefined

/**
 * Normal threads get three times as much of a processor, and get it as soon as they want it. A lower one would keep logins
 * waiting for long where the machine is busy.
 */
const nicer = 5
const nicest = 19

lowerPriority()
parentPort?.on('message', (input: ScryptInput) => parentPort?.postMessage(compute(input)))

/** On Linux each thread has a priority of its own; elsewhere the call would lower that of the process. */
function lowerPriority() {
  try {
    if (process.platform === 'linux') setPriority(Math.min(getPriority() + nicer, nicest))
  } catch {
    // A sandbox may forbid it. The thread hashes all the same.
  }
}

function compute({ password, salt, length, options }: ScryptInput): ScryptOutput {
  try {
    return scryptSync(password, salt, length, options)
  } catch {
    return undefined
  }
}
