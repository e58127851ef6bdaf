import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from '../../../packages/credentials-file/dist/index.js'
import { download } from '../load/download.ts'
import { sendRequests } from '../load/send-requests.ts'
import { cpuSecondsOf, memoryOf } from '../measure/process-figures.ts'
import { credentials } from '../subjects/holdfast.ts'
import type { Curve } from './curve.ts'

/** More customers in the file; the last of them asks. */
export const customers: Curve = {
  name: 'customers',
  title: 'Customers',
  unit: 'customers',
  sizes: [1, 10, 100, 1000, 10_000],
  async measure(size, start, directory) {
    const path = join(directory, 'many.yaml')
    const hash = await hashPassword(credentials['x-auth-password'])
    const entries = Array.from({ length: size }, (_, at) => {
      const name = at === size - 1 ? credentials['x-auth-name'] : `customer-${at}`
      return `  - name: ${name}\n    password: ${hash}\n`
    })
    await writeFile(path, `customers:\n${entries.join('')}`, { mode: 0o600 })
    const server = await start(directory, { environment: { HOLDFAST_CUSTOMERS: path } })
    const rss = await memoryOf(server.pid, 'VmRSS')
    const request = { method: 'GET', path: '/list?limit=1&prefix=none', headers: credentials }
    const login = await download(server.port, request)
    const before = await cpuSecondsOf(server.pid)
    const { requests } = await sendRequests({ port: server.port, request, seconds: 2 })
    return {
      'start, ms': server.startMs,
      'memory, MiB': rss / 1024 ** 2,
      'first login, ms': login.seconds * 1000,
      'CPU per request, µs': (((await cpuSecondsOf(server.pid)) - before) / requests) * 1e6,
    }
  },
}
