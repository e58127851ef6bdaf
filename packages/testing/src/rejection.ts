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
