import { settle } from './files.ts'
import type { Lane } from './scenario.ts'

/** The lane on a disk that has nothing else to write: what others wrote and did not sync would be synced in its time. */
export function settled(lane: Lane): Lane {
  return {
    ...lane,
    measure: async (round) => {
      await settle()
      return lane.measure(round)
    },
  }
}
