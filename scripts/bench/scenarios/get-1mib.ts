import { peers } from '../subjects/all-subjects.ts'
import { layOut } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Scenario } from './scenario.ts'

export const get1Mib: Scenario = {
  name: 'get-1mib',
  title: 'GET of files of 1 MiB',
  how: '64 files, on 8 connections.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...peers])
    await layOut(bench.directory, all, { pattern: 'file-{n}', count: 64, size: 1024 ** 2 })
    return all.map((one) =>
      requestLane(one, 'GET', () => ({
        request: one.get('file-{n}'),
        seconds: bench.seconds,
        connections: 8,
        count: 64,
      })),
    )
  },
}
