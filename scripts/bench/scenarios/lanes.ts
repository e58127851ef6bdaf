import { observe } from '../measure/observe.ts'
import type { Figures } from '../measure/figures.ts'
import { sendRequests, type Load } from '../load/send-requests.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import type { Lane } from './scenario.ts'

/** A lane in which small requests are sent for some time. `load` says which in a round. */
export function requestLane(
  subject: RunningSubject,
  work: string,
  load: (round: number) => Omit<Load, 'port'>,
): Lane {
  return {
    subject: subject.name,
    work,
    measure: async (round) => {
      const { result, usage } = await observe(subject.pid, () =>
        sendRequests({ ...load(round), port: subject.port }),
      )
      return {
        perSecond: result.requests / result.seconds,
        cpuMicroseconds: (usage.cpuSeconds / result.requests) * 1e6,
        p99Ms: result.p99Ms,
        peakMiB: usage.peakMiB,
      }
    },
  }
}

/** A lane in which `bytes` are moved; `work` resolves with the seconds. */
export function transferLane(
  subject: RunningSubject,
  work: string,
  bytes: number,
  transfer: (round: number) => Promise<number>,
): Lane {
  return {
    subject: subject.name,
    work,
    measure: async (round): Promise<Figures> => {
      const { result: seconds, usage } = await observe(subject.pid, () => transfer(round))
      return {
        seconds,
        mibPerSecond: bytes / 1024 ** 2 / seconds,
        cpuPerGiB: (usage.cpuSeconds * 1024 ** 3) / bytes,
        peakMiB: usage.peakMiB,
        growthMiB: usage.growthMiB,
      }
    },
  }
}
