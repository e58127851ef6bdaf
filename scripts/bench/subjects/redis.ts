import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { findProgram, lookUpProgram } from './find-program.ts'
import { startProcess } from './start-process.ts'
import type { Subject } from './subject.ts'

/** Redis without persistence, in which several holdfast servers count together. It takes no HTTP, and is no lane of its own. */
export const redis: Subject = {
  name: 'redis-server',
  lookUp: lookUpProgram('redis-server', '--version', 'Debian: redis-server'),
  start: async (directory) => {
    const port = await findFreePort()
    const child = await startProcess({
      command: (await findProgram('redis-server')) ?? 'redis-server',
      args: ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', directory, '--save', ''],
      log: `${directory}/log`,
      port,
    })
    const get = () => {
      throw new TypeError('redis-server takes no HTTP')
    }
    return { ...child, name: 'redis-server', port, files: directory, get }
  },
}
