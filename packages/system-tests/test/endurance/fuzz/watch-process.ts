/** Errors that nobody caught, from its making to its end. */
export interface ProcessFaults {
  /** Throws the first one there was since the last call. */
  throwFirst(): void
  [Symbol.dispose](): void
}

export function watchProcess(): ProcessFaults {
  const faults: unknown[] = []
  const note = (error: unknown) => void faults.push(error)
  process.prependListener('uncaughtException', note)
  process.prependListener('unhandledRejection', note)
  return {
    throwFirst() {
      const [first] = faults.splice(0)
      if (first !== undefined) throw new Error('Nobody caught an error', { cause: first })
    },
    [Symbol.dispose]() {
      process.off('uncaughtException', note)
      process.off('unhandledRejection', note)
    },
  }
}
