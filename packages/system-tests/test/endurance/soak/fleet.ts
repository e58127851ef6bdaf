import type { RunningSoakServer } from './soak-site.ts'

/** A server that clients ask. */
export interface Member {
  /** Which server of the run it is, counted from 1. */
  readonly number: number
  readonly server: RunningSoakServer
  /** Whether it was told to end. */
  isDoomed: boolean
}

/** The servers that clients may ask at the moment, and the gate that clients wait at while they may ask none. */
export interface Fleet {
  /** Waits until the gate is open, and then until `work` has ended; `undefined` once the run is over. */
  enter<T>(work: (members: readonly Member[]) => Promise<T>): Promise<T | undefined>
  /** Opens the gate, to these servers. */
  open(members: readonly Member[]): void
  /** Closes the gate. Resolves when all who were inside have left. */
  close(): Promise<void>
  /** Lets all who wait go home. */
  end(): void
}

/** A fleet of no servers, with its gate closed. */
export function createFleet(): Fleet {
  let members: readonly Member[] = []
  let isOver = false
  let inside = 0
  let changed = Promise.withResolvers<undefined>()
  const change = () => {
    changed.resolve(undefined)
    changed = Promise.withResolvers()
  }
  return {
    async enter(work) {
      while (members.length === 0 && !isOver) await changed.promise
      if (isOver) return undefined
      inside++
      try {
        return await work(members)
      } finally {
        inside--
        change()
      }
    },
    open(those) {
      members = those
      change()
    },
    async close() {
      members = []
      while (inside > 0) await changed.promise
    },
    end() {
      isOver = true
      change()
    },
  }
}
