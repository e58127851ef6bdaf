/** Resolves when everything that could go on without timers and I/O has done so. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
