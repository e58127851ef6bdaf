import { settingNames } from '../../../packages/server/src/config/settings.ts'
import { rationed } from '../subjects/rationed.ts'
import type { RunningSubject, Subject } from '../subjects/subject.ts'
import { layOut } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Bench, Scenario } from './scenario.ts'

/** So small that a load generator beside two workers has more than enough of two processors. */
const share = 0.3

export const workers: Scenario = {
  name: 'workers',
  title: 'One worker and two',
  how:
    'GET of one file of 4 KiB on 32 connections, and the list of 1 000 names, which asks less of the client, on 8. First ' +
    'with all processors, of which the client needs one, too; then with three tenths of a processor for each worker, by ' +
    'a control group, so that the client is not what limits two of them.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const names: readonly string[] = settingNames
    if (!names.includes('workers')) {
      bench.miss('two workers', 'this holdfast has no setting --workers')
      return []
    }
    const free = [
      ...(await startWith(bench, bench.holdfasts, 1, '1 worker')),
      ...(await startWith(bench, bench.holdfasts, 2, '2 workers')),
    ]
    const started = [...free, ...(await startRationed(bench))]
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

async function startRationed(bench: Bench) {
  const subjects = bench.holdfasts.map((subject) => rationed(subject, share))
  try {
    return [
      ...(await startWith(bench, subjects, 1, '1 rationed worker')),
      ...(await startWith(bench, subjects, 2, '2 rationed workers')),
    ]
  } catch (error) {
    bench.miss('workers with rations', (error as Error).message)
    return []
  }
}

async function startWith(bench: Bench, subjects: readonly Subject[], count: number, kind: string) {
  const environment = { HOLDFAST_WORKERS: `${count}` }
  const running = await bench.start(subjects, { environment })
  return running.map((one) => ({ one, kind }))
}

function listLane(one: RunningSubject, work: string, seconds: number) {
  const request = { method: 'GET', path: '/list', headers: one.get('').headers ?? {} }
  return requestLane(one, work, () => ({ request, seconds, connections: 8 }))
}
