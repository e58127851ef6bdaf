import { randomBytes } from 'node:crypto'
import { tusCreation } from '../load/upload-by-tus.ts'
import { tusPeers } from '../subjects/all-subjects.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { requestLane } from './lanes.ts'
import type { Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'

export const tus4Kib: Scenario = {
  name: 'tus-4kib',
  title: 'Uploads of 4 KiB by tus',
  how:
    'Each under a new name, on 32 connections, as one POST (creation-with-upload); beside a PUT. holdfast syncs the file before it ' +
    'answers; the others do not.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const all = await bench.start([...bench.holdfasts, ...tusPeers])
    const content = randomBytes(4096)
    return all.flatMap((one) => lanesOf(one, content, bench.seconds))
  },
}

function lanesOf(one: RunningSubject, body: Buffer, seconds: number): Lane[] {
  const { put, tus } = one
  const what = { name: '{n64}', size: body.length, isWithUpload: true }
  const requests = [
    ...(put ? [['PUT', put('PUT-{n}')] as const] : []),
    ...(tus ? [['POST', tusCreation(tus(), what)] as const] : []),
  ]
  return requests.map(([work, request]) => {
    const start = (round: number) => round * 100_000
    const load = (round: number) => ({
      request: { ...request, body },
      seconds,
      start: start(round),
    })
    return settled(requestLane(one, work, (round) => ({ ...load(round), count: 1_000_000 })))
  })
}
