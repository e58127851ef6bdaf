import { formAround, withForm } from '../load/form.ts'
import { upload } from '../load/upload.ts'
import { peers } from '../subjects/all-subjects.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { removeFiles } from './files.ts'
import { transferLane } from './lanes.ts'
import type { Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'

const MiB = 1024 ** 2

export const upload64AtOnce: Scenario = {
  name: 'upload-64-at-once',
  title: '64 uploads of 100 MiB at once',
  how: 'All begin together, as forms and as bodies of PUTs; what counts is how much memory it takes.',
  compared: 'seconds',
  rounds: 1,
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...peers])
    const size = (bench.isQuick ? 10 : 100) * MiB
    return all.flatMap((one) => lanesOf(one, size))
  },
}

function lanesOf(one: RunningSubject, size: number): Lane[] {
  const { form, put } = one
  const lane = (work: string, send: (name: string, size: number) => Promise<number>) =>
    settled(
      transferLane(one, work, 64 * size, async (round) => {
        const names = Array.from({ length: round === 0 ? 8 : 64 }, (_, at) => `large-${at}`)
        const begin = performance.now()
        await Promise.all(names.map((name) => send(name, round === 0 ? MiB : size)))
        const seconds = (performance.now() - begin) / 1000
        await removeFiles(one.files)
        return seconds
      }),
    )
  return [
    ...(form
      ? [lane('form', (name, size) => upload(one.port, withForm(form()), size, formAround(name)))]
      : []),
    ...(put ? [lane('PUT', (name, size) => upload(one.port, put(name), size))] : []),
  ]
}
