import { setTimeout as delay } from 'node:timers/promises'

/**
 * Waits until `condition` holds; after half a minute or `limitMs`, rejects with `what`, evaluated then. It checks less often the longer it
 * waits, but notices within a twentieth of that time: a condition may be a request, which takes processor time.
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

/** The error with which `promise` rejects; throws if it resolves, or rejects with something else. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error) return error
    throw new Error(`Rejected with ${typeof error}, which is no error`, { cause: error })
  }
  throw new Error('Resolved where it should have rejected')
}

/** The calls of `console.error` until this is disposed of. */
export interface CaughtErrors extends Disposable {
  readonly calls: readonly (readonly unknown[])[]
}

/** Makes `console.error` print nothing, and records its calls. */
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
