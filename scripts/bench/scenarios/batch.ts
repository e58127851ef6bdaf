import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { formOf, withForm } from '../load/form.ts'
import { credentials } from '../subjects/holdfast.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { requestLane } from './lanes.ts'
import type { Lane, Scenario } from './scenario.ts'
import { settled } from './settled.ts'
import { bareLane, uploadLanes } from './upload-small.ts'

const batchSize = 100
const request = { method: 'POST', path: '/upload/batch', headers: credentials }

export const batch: Scenario = {
  name: 'batch',
  title: 'Files of 4 KiB in batches of 100',
  how:
    'Each file under a new name, in batches on 4 connections, and one at a time on 32; what counts is files, not requests. ' +
    'All are synced before the answer says so. `disk` makes files durable without a server around it.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const holdfasts = await bench.start(bench.holdfasts)
    const content = randomBytes(4096)
    const lanes = holdfasts.map(async (one) => {
      await tryOnce(one, content)
      return [batchLane(one, content, bench.seconds), ...uploadLanes(one, content, bench.seconds)]
    })
    const bare = bareLane(join(bench.directory, 'bare'), content.length, bench.seconds)
    return [...(await Promise.all(lanes)).flat(), { ...bare, work: 'batch' }]
  },
}

const namesOf = (begin: string) => Array.from({ length: batchSize }, (_, at) => `${begin}-${at}`)

function batchLane(one: RunningSubject, content: Buffer, seconds: number): Lane {
  const lane = requestLane(one, 'batch', (round) => ({
    request: withForm(request, formOf(namesOf(`batch-${round}-{n}`), content)),
    seconds,
    connections: 4,
    count: 1_000_000,
  }))
  const measure = async (round: number) => {
    const { perSecond = NaN, cpuMicroseconds = NaN, peakMiB = NaN } = await lane.measure(round)
    return {
      perSecond: perSecond * batchSize,
      cpuMicroseconds: cpuMicroseconds / batchSize,
      peakMiB,
    }
  }
  return settled({ ...lane, measure })
}

// A batch is answered with 200 whatever becomes of its files.
async function tryOnce({ port }: RunningSubject, content: Buffer): Promise<void> {
  const { headers, body } = withForm(request, formOf(namesOf('first'), content))
  const answer = await fetch(`http://127.0.0.1:${port}${request.path}`, {
    method: 'POST',
    headers: { ...headers },
    body: new Uint8Array(body ?? []),
  })
  const text = await answer.text()
  const stored = text.split('\n').filter((line) => line.includes('"statusCode":200'))
  if (stored.length !== batchSize) throw new Error(`A batch was answered ${text}`)
}
