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
