import { peers } from '../subjects/all-subjects.ts'
import { layOut } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Scenario } from './scenario.ts'

const size = 1024 ** 3
// The digits of a range's two ends begin alike, so that one number makes both.
const rangeBytes = 100_000

export const ranges: Scenario = {
  name: 'ranges',
  title: 'Ranges of 100 kB of a file of 1 GiB',
  how: 'From all over the file, in an order that jumps, on 32 connections.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...peers])
    await layOut(bench.directory, all, { pattern: 'large', count: 1, size })
    return all.map((one) => {
      const request = one.get('large')
      const headers = { ...request.headers, range: 'bytes={n}00000-{n}99999' }
      return requestLane(one, 'GET', () => ({
        request: { ...request, headers },
        seconds: bench.seconds,
        count: Math.floor(size / rangeBytes),
        step: 6_131,
      }))
    })
  },
}
