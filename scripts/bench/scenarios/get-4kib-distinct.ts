import { peers } from '../subjects/all-subjects.ts'
import { layOut } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Scenario } from './scenario.ts'

export const get4KibDistinct: Scenario = {
  name: 'get-4kib-distinct',
  title: 'GET of 100 000 files of 4 KiB',
  how:
    'All in one directory, each as often as the others, in an order that jumps; on 32 connections. `@fastify/static` reads ' +
    'the whole directory for each request, to look how the name is spelt in it, since version 10.1.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...peers])
    const count = bench.isQuick ? 10_000 : 100_000
    await layOut(bench.directory, all, { pattern: 'file-{n}', count, size: 4096 })
    return all.map((one) =>
      requestLane(one, 'GET', (round) => ({
        request: one.get('file-{n}'),
        seconds: bench.seconds,
        count,
        step: 61_803,
        start: round * 7919,
      })),
    )
  },
}
