import { setTimeout as delay } from 'node:timers/promises'

/**
 * Waits until `condition` holds; rejects with `what`, as it is then, after half a minute or `limitMs`. It looks less often the longer it
 * has waited, and notices within a twentieth of that time: a condition may be a request, which takes the processor's time.
 */
export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
) {
  const begin = Date.now()
  while (!(await condition())) {
    const waited = Date.now() - begin
    if (waited > limitMs)
      throw new Error(`Waited in vain until ${typeof what === 'string' ? what : what()}`)
    await delay(Math.min(Math.max(5, waited / 20), 250))
  }
}

/** What `promise` rejects with, provided that it is an error; throws if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error) return error
    throw new Error(`Rejected with ${typeof error}, which is no error`, { cause: error })
  }
  throw new Error('Resolved where it should have rejected')
}

/** What is given to `console.error` until it is disposed of. */
export interface CaughtErrors extends Disposable {
  readonly calls: readonly (readonly unknown[])[]
}

/** Has `console.error` write nothing, and keeps what it is given. */
export function catchConsoleErrors(): CaughtErrors {
  const calls: unknown[][] = []
  const { error } = console
  console.error = (...given: unknown[]) => void calls.push(given)
  return {
    calls,
    [Symbol.dispose]() {
      console.error = error
    },
  }
}
