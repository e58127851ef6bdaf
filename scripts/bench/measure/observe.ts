import { cpuSecondsOf, memoryOf, resetPeak } from './process-figures.ts'

/** What a server used for some work. */
export interface Usage {
  readonly cpuSeconds: number
  /** The most memory that was resident, and how much more that was than before, in MiB. */
  readonly peakMiB: number
  readonly growthMiB: number
}

const MiB = 1024 ** 2

/** Has `work` done and watches the process `pid`, and those it has started, meanwhile. */
export async function observe<T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly usage: Usage }> {
  await resetPeak(pid)
  const [cpu, memory] = [await cpuSecondsOf(pid), await memoryOf(pid, 'VmRSS')]
  const result = await work()
  const peak = await memoryOf(pid, 'VmHWM')
  const cpuSeconds = (await cpuSecondsOf(pid)) - cpu
  return {
    result,
    usage: { cpuSeconds, peakMiB: peak / MiB, growthMiB: (peak - memory) / MiB },
  }
}
