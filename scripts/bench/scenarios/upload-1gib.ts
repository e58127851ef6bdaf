import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { formAround, withForm } from '../load/form.ts'
import { upload } from '../load/upload.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { transferLane } from './lanes.ts'
import type { Over } from './over.ts'
import type { Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'

export const upload1Gib = (over: Over): Scenario => ({
  name: `${over.prefix}upload-1gib`,
  title: `Upload of 1 GiB${over.suffix}`,
  how:
    'One at a time, as a form and as the body of a PUT, on a disk that has nothing else to write. holdfast syncs the file ' +
    'before it answers; the others do not.',
  compared: 'seconds',
  prepare: async (bench) => {
    const all = await over.start(bench)
    const size = bench.isQuick ? 256 * 1024 ** 2 : 1024 ** 3
    return all.flatMap((one) => lanesOf(one, size))
  },
})

function lanesOf(one: RunningSubject, size: number): Lane[] {
  const { form, put } = one
  const lane = (work: string, send: () => Promise<number>) =>
    settled(
      transferLane(one, work, size, async () => {
        const seconds = await send()
        await rm(join(one.files, 'large'))
        return seconds
      }),
    )
  return [
    ...(form
      ? [lane('form', () => upload(one.port, withForm(form()), size, formAround('large')))]
      : []),
    ...(put ? [lane('PUT', () => upload(one.port, put('large'), size))] : []),
  ]
}
