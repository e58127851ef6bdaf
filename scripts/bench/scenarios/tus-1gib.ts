import { upload } from '../load/upload.ts'
import { uploadByTus } from '../load/upload-by-tus.ts'
import { tusPeers } from '../subjects/all-subjects.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { removeFiles } from './files.ts'
import { transferLane } from './lanes.ts'
import type { Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'

const MiB = 1024 ** 2

export const tus1Gib: Scenario = {
  name: 'tus-1gib',
  title: 'Upload of 1 GiB by tus',
  how:
    'One at a time, on a disk that has nothing else to write: as a POST and one PATCH, as one POST (creation-with-upload), and ' +
    'in PATCHes of 64 MiB; beside a PUT. holdfast syncs each piece before it answers; the others do not.',
  compared: 'seconds',
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...tusPeers])
    const size = (bench.isQuick ? 256 : 1024) * MiB
    return all.flatMap((one) => lanesOf(one, size))
  },
}

function lanesOf(one: RunningSubject, size: number): Lane[] {
  const { port, put, tus } = one
  const lane = (work: string, send: () => Promise<number>) =>
    settled(
      transferLane(one, work, size, async () => {
        const seconds = await send()
        await removeFiles(one.files)
        return seconds
      }),
    )
  const byTus = (work: string, pieces: readonly number[]) =>
    tus ? [lane(work, () => uploadByTus(port, tus(), pieces))] : []
  return [
    ...(put ? [lane('PUT', () => upload(port, put('large'), size))] : []),
    ...byTus('PATCH', [0, size]),
    ...byTus('POST', [size]),
    ...byTus('64 MiB', [0, ...Array.from({ length: size / (64 * MiB) }, () => 64 * MiB)]),
  ]
}
