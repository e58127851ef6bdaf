import { join } from 'node:path'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { customersFile, holdfastDialect } from './holdfast.ts'
import { startProcess } from './start-process.ts'
import type { Subject } from './subject.ts'

/** The application of holdfast in which one may ping with and without authentication; keeps files in memory. */
export const authenticatedPing: Subject = {
  name: 'application',
  lookUp: async () => ({ version: 'of this checkout' }),
  start: async (directory) => {
    const port = await findFreePort()
    const child = await startProcess({
      command: process.execPath,
      args: [join(import.meta.dirname, '../servers/authenticated-ping.ts')],
      environment: { PORT: `${port}`, CUSTOMERS: await customersFile(directory) },
      log: join(directory, 'log'),
      port,
    })
    return { ...holdfastDialect, ...child, name: 'application', port, files: directory }
  },
}
