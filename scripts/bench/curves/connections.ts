import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sendRequests } from '../load/send-requests.ts'
import { cpuSecondsOf, memoryOf } from '../measure/process-figures.ts'
import type { Curve } from './curve.ts'

/** More connections that ask for 4 KiB at the same time. */
export const connections: Curve = {
  name: 'connections',
  title: 'Connections at once',
  sizes: [1, 10, 100, 1000, 5000],
  async measure(size, start, directory) {
    // The default, 1000 requests at once, is for refusing; here all are to be answered.
    const limits = { HOLDFAST_MAX_REQUESTS: '10000', HOLDFAST_MAX_REQUESTS_PER_CUSTOMER: '10000' }
    const { pid, port, files, get } = await start(directory, { environment: limits })
    await writeFile(join(files, 'file'), Buffer.alloc(4096, 'holdfast'))
    const before = await cpuSecondsOf(pid)
    const load = { port, request: get('file'), seconds: 4, connections: size }
    const { requests, seconds, p99Ms } = await sendRequests(load)
    return {
      'requests/s': requests / seconds,
      'p99, ms': p99Ms,
      'CPU per request, µs': (((await cpuSecondsOf(pid)) - before) / requests) * 1e6,
      'memory, MiB': (await memoryOf(pid, 'VmHWM')) / 1024 ** 2,
    }
  },
}
