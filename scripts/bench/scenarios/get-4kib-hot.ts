import { peers } from '../subjects/all-subjects.ts'
import { layOut } from './files.ts'
import { requestLane } from './lanes.ts'
import type { Scenario } from './scenario.ts'

export const get4KibHot: Scenario = {
  name: 'get-4kib-hot',
  title: 'GET of one file of 4 KiB',
  how: 'One file, over and over, on 32 connections; `/ping` is holdfast without a file and without authentication.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const holdfasts = await bench.start(bench.holdfasts)
    const all = [...holdfasts, ...(await bench.start(peers))]
    await layOut(bench.directory, all, { pattern: 'small', count: 1, size: 4096 })
    const load = (request: ReturnType<(typeof all)[0]['get']>) => () => ({
      request,
      seconds: bench.seconds,
    })
    return [
      ...holdfasts.flatMap((one) =>
        one.ping ? [requestLane(one, '/ping', load(one.ping()))] : [],
      ),
      ...all.map((one) => requestLane(one, 'GET', load(one.get('small')))),
    ]
  },
}
