import { scryptSync, type ScryptOptions } from 'node:crypto'
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** The input of one computation of scrypt in a thread. */
export interface ScryptInput {
  readonly password: string
  readonly salt: Uint8Array
  readonly length: number
  readonly options: ScryptOptions
}

/** The thread's answer: the derived bytes; `undefined` if the computation failed. */
export type ScryptOutput = Uint8Array | undefined

/**
 * How much the thread's priority is lowered. Normal threads then get three times as much of a processor, and get it at once. With a
 * still lower priority, logins would wait long on a busy machine.
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
    // A sandbox may forbid this; the thread still works, at normal priority.
  }
}

function compute({ password, salt, length, options }: ScryptInput): ScryptOutput {
  try {
    return scryptSync(password, salt, length, options)
  } catch {
    return undefined
  }
}
