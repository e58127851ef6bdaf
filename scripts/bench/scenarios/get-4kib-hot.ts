import { bareHttp } from '../subjects/floors.ts'
import type { BenchRequest, RunningSubject } from '../subjects/subject.ts'
import { layOut } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Over } from './over.ts'
import type { Scenario } from './scenario.ts'

export const get4KibHot = (over: Over): Scenario => ({
  name: `${over.prefix}get-4kib-hot`,
  title: `GET of one file of 4 KiB${over.suffix}`,
  how:
    'One file, over and over, on 32 connections; `/ping` is holdfast without a file and without authentication. `bare http` is ' +
    'Node.js, which answers from memory.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const all = await over.start(bench, [bareHttp])
    const isOursOrBare = ({ name }: RunningSubject) =>
      [bareHttp, ...bench.holdfasts].some((one) => one.name === name)
    await layOut(bench.directory, all, { pattern: 'small', count: 1, size: 4096 })
    const load = (request: BenchRequest) => () => ({ request, seconds: bench.seconds })
    return [
      ...all
        .filter(isOursOrBare)
        .flatMap((one) => (one.ping ? [requestLane(one, '/ping', load(one.ping()))] : [])),
      ...all.map((one) => requestLane(one, 'GET', load(one.get('small')))),
    ]
  },
})
