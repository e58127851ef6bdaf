import { peers } from '../subjects/all-subjects.ts'
import { diskAndHttp } from '../subjects/floors.ts'
import { makeFiles, removeFiles } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Scenario } from './scenario.ts'
import { settled } from './settled.ts'

const count = 100_000

export const remove: Scenario = {
  name: 'delete',
  title: 'Deletion',
  how:
    'Of empty files, out of a directory with 100 000 of them, on 32 connections, for a second. holdfast syncs the directory before it ' +
    'answers, and so does `disk+http`, which is Node.js with nothing else; the others do not.',
  compared: 'perSecond',
  rounds: 2,
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...peers, diskAndHttp])
    return all.flatMap((one) => {
      const { remove, files } = one
      if (remove === undefined) return []
      const deleting = settled(
        requestLane(one, 'DELETE', () => ({ request: remove('file-{n}'), seconds: 1, count })),
      )
      const measure = async (round: number) => {
        makeFiles(files, { pattern: 'file-{n}', count, size: 0 })
        const figures = await deleting.measure(round)
        await removeFiles(files)
        return figures
      }
      return [{ ...deleting, measure }]
    })
  },
}
