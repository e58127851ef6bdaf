import { childrenOf } from '../measure/process-figures.ts'
import { ration } from '../measure/ration.ts'
import type { Subject } from './subject.ts'

/** `subject`, each of whose workers, or itself if it has none, may use the part `share` of one processor. */
export function rationed(subject: Subject, share: number): Subject {
  return {
    ...subject,
    start: async (directory, options) => {
      const running = await subject.start(directory, options)
      const workers = await childrenOf(running.pid)
      const ends: (() => Promise<void>)[] = []
      const stop = async () => {
        await running.stop()
        for (const end of ends) await end()
      }
      try {
        for (const pid of workers.length > 0 ? workers : [running.pid]) {
          ends.push(await ration(pid, share))
        }
      } catch (error) {
        await stop()
        throw error
      }
      return { ...running, stop }
    },
  }
}
