import { peers } from '../subjects/all-subjects.ts'
import { makeFiles } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Scenario } from './scenario.ts'

export const list1000: Scenario = {
  name: 'list-1000',
  title: 'List of 1 000 names',
  how: 'As JSON, on 8 connections; nginx and dufs tell size and time of each file, too.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...peers])
    for (const { files } of all) makeFiles(files, { pattern: 'file-{n}', count: 1000, size: 0 })
    return all.flatMap((one) => {
      const request = one.list?.()
      if (request === undefined) return []
      return [requestLane(one, 'list', () => ({ request, seconds: bench.seconds, connections: 8 }))]
    })
  },
}
