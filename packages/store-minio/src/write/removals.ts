/** Which objects this process removes, for those who have to know whether one was there meanwhile. */
export interface Removals {
  /** Runs `remove`, which removes the object of `key`. */
  run<T>(key: string, remove: () => Promise<T>): Promise<T>
  /** Watches `key` until `end`. */
  watch(key: string): RemovalWatch
}

export interface RemovalWatch {
  /** Whether a removal has run since the watch began. */
  readonly seen: () => boolean
  readonly end: () => void
}

interface Record {
  running: number
  ended: number
  watches: number
}

/** Keeps no memory for keys without a watcher. */
export function createRemovals(): Removals {
  const records = new Map<string, Record>()
  const recordOf = (key: string): Record => {
    const record = records.get(key) ?? { running: 0, ended: 0, watches: 0 }
    records.set(key, record)
    return record
  }
  const forgetIfUnused = (key: string, { running, watches }: Record) => {
    if (running === 0 && watches === 0) records.delete(key)
  }
  return {
    async run(key, remove) {
      const record = recordOf(key)
      record.running++
      try {
        return await remove()
      } finally {
        record.running--
        record.ended++
        forgetIfUnused(key, record)
      }
    },
    watch(key) {
      const record = recordOf(key)
      const { ended } = record
      record.watches++
      return {
        seen: () => record.running > 0 || record.ended > ended,
        end: () => {
          record.watches--
          forgetIfUnused(key, record)
        },
      }
    },
  }
}
