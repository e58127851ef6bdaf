import { authenticatedPing } from '../subjects/authenticated-ping.ts'
import { credentials } from '../subjects/holdfast.ts'
import { requestLane } from './lanes.ts'
import type { Scenario } from './scenario.ts'

export const authentication: Scenario = {
  name: 'authentication',
  title: 'What authentication costs each request',
  how:
    'The application of holdfast, without a log, with two more paths: `/plain` is `/ping`, `/authenticated` is `/ping` ' +
    'behind the authentication. Both are asked with credentials that have been checked before; the difference in CPU time ' +
    'is the cost, to be held against that of `/ping` on the server as it is.',
  compared: 'cpuMicroseconds',
  prepare: async (bench) => {
    const lane = (one: Parameters<typeof requestLane>[0], path: string) =>
      requestLane(one, path, () => ({
        request: { method: 'GET', path, headers: credentials },
        seconds: bench.seconds,
      }))
    const applications = await bench.start([authenticatedPing])
    return [
      ...(await bench.start(bench.holdfasts)).map((one) => lane(one, '/ping')),
      ...applications.flatMap((one) => [lane(one, '/plain'), lane(one, '/authenticated')]),
    ]
  },
}
