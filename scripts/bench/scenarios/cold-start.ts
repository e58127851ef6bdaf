import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { download } from '../load/download.ts'
import { emptyFastify, peers } from '../subjects/all-subjects.ts'
import { createExecutable } from '../subjects/executable.ts'
import type { Subject } from '../subjects/subject.ts'
import type { Bench, Lane, Scenario } from './scenario.ts'

export const coldStart: Scenario = {
  name: 'cold-start',
  title: 'From the start of the process to the first answer',
  how:
    'To `/ping`, or to the list of no files where there is no such thing. Whether the port takes connections is tried every ' +
    'two milliseconds. `node …/holdfast serve`, with programs and data in the page cache, as after a restart; `executable` is the ' +
    'single executable, which has the same program as one script, compiled; `fastify-empty` is an application with nothing but `/ping`.',
  compared: 'ms',
  prepare: async (bench) => {
    const executable = createExecutable(bench.directory)
    const all = await bench.available([...bench.holdfasts, executable, ...peers, emptyFastify])
    return all.map((one) => startLane(one, bench))
  },
}

function startLane(subject: Subject, { directory }: Bench): Lane {
  return {
    subject: subject.name,
    work: 'start',
    measure: async (round) => {
      const home = join(directory, `start-${subject.name}-${round}`)
      await mkdir(home)
      const one = await subject.start(home)
      try {
        const request = one.ping?.() ?? one.list?.() ?? one.get('')
        const { seconds } = await download(one.port, request)
        return { ms: one.startMs + seconds * 1000 }
      } finally {
        await one.stop()
      }
    },
  }
}
