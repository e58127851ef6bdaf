import { settingNames } from '../../../packages/server/dist/config/settings.js'
import type { RunningSubject } from '../subjects/subject.ts'
import { layOut } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Bench, Scenario } from './scenario.ts'

export const workers: Scenario = {
  name: 'workers',
  title: 'One worker and two',
  how:
    'GET of one file of 4 KiB on 32 connections, and the list of 1 000 names, which asks less of the client, on 8. The ' +
    'client has no processor of its own where the machine has two.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const names: readonly string[] = settingNames
    if (!names.includes('workers')) {
      bench.miss('two workers', 'this holdfast has no setting --workers')
      return []
    }
    const started = [await startWith(bench, 1), await startWith(bench, 2)].flat()
    const all = started.map(({ one }) => one)
    await layOut(bench.directory, all, { pattern: 'file-{n}', count: 1000, size: 4096 })
    return started.flatMap(({ one, kind }) => [
      requestLane(one, `GET, ${kind}`, () => ({
        request: one.get('file-000000'),
        seconds: bench.seconds,
      })),
      ...(one.list ? [listLane(one, `list, ${kind}`, bench.seconds)] : []),
    ])
  },
}

async function startWith(bench: Bench, count: number) {
  const environment = { HOLDFAST_WORKERS: `${count}` }
  const running = await bench.start(bench.holdfasts, { environment })
  return running.map((one) => ({ one, kind: count === 1 ? '1 worker' : `${count} workers` }))
}

function listLane(one: RunningSubject, work: string, seconds: number) {
  const request = { method: 'GET', path: '/list', headers: one.get('').headers ?? {} }
  return requestLane(one, work, () => ({ request, seconds, connections: 8 }))
}
