import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { download } from '../load/download.ts'
import { sendRequests } from '../load/send-requests.ts'
import { cpuSecondsOf, memoryOf } from '../measure/process-figures.ts'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { startProcess } from '../subjects/start-process.ts'
import type { BenchRequest } from '../subjects/subject.ts'
import type { Curve, Start } from './curve.ts'

/** What is asked: a server, and the request for 4 KiB. */
interface Asked {
  readonly pid: number
  readonly port: number
  readonly request: BenchRequest
}

/** More connections that ask for 4 KiB at the same time, of holdfast and of Node's HTTP server with nothing behind it. */
export const connections: Curve = {
  name: 'connections',
  title: 'Connections at once',
  unit: 'connections',
  sizes: [1, 10, 100, 1000, 5000],
  async measure(size, start, directory) {
    const holdfast = await startHoldfast(start, directory)
    const own = await askWarm(holdfast, size)
    const memory = await memoryOf(holdfast.pid, 'VmHWM')
    const bare = await startBare(directory)
    try {
      const theirs = await askWarm({ ...bare, request: holdfast.request }, size)
      return {
        'requests/s': own.perSecond,
        'bare Node.js, requests/s': theirs.perSecond,
        'p99, ms': own.p99Ms,
        'CPU per request, µs': own.cpuMicroseconds,
        'bare Node.js, CPU per request, µs': theirs.cpuMicroseconds,
        'memory, MiB': memory / 1024 ** 2,
      }
    } finally {
      await bare.stop()
    }
  },
}

async function startHoldfast(start: Start, directory: string): Promise<Asked> {
  // The default, 1000 requests at once, is for refusing; here all are to be answered.
  const limits = { HOLDFAST_MAX_REQUESTS: '10000', HOLDFAST_MAX_REQUESTS_PER_CUSTOMER: '10000' }
  const { pid, port, files, get } = await start(directory, { environment: limits })
  await writeFile(join(files, 'file'), Buffer.alloc(4096, 'holdfast'))
  // The login: a few hundred at a time may wait for it.
  await download(port, get('file'))
  return { pid, port, request: get('file') }
}

async function startBare(directory: string) {
  const port = await findFreePort()
  const child = await startProcess({
    command: process.execPath,
    args: [join(import.meta.dirname, '../servers/bare-http.ts')],
    environment: { PORT: `${port}` },
    log: join(directory, 'bare-log'),
    port,
  })
  return { ...child, port }
}

/** What requests take once the server has compiled its code. The connections are opened in that time, too. */
async function askWarm({ pid, port, request }: Asked, size: number) {
  await sendRequests({ port, request, connections: 10, seconds: 3 })
  const before = await cpuSecondsOf(pid)
  const { requests, seconds, p99Ms } = await sendRequests({
    port,
    request,
    connections: size,
    seconds: 6,
  })
  const cpuSeconds = (await cpuSecondsOf(pid)) - before
  return {
    perSecond: requests / seconds,
    p99Ms,
    cpuMicroseconds: (cpuSeconds / requests) * 1e6,
  }
}
