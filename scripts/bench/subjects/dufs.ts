import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { findProgram, lookUpProgram } from './find-program.ts'
import { startProcess } from './start-process.ts'
import type { Subject } from './subject.ts'
import { webDav } from './web-dav.ts'

/** dufs, a file server in Rust, as it comes, with everything allowed. */
export const dufs: Subject = {
  name: 'dufs',
  lookUp: lookUpProgram('dufs', '--version', 'cargo install dufs --locked'),
  start: async (directory) => {
    const [port, files] = [await findFreePort(), join(directory, 'files')]
    await mkdir(files)
    const child = await startProcess({
      command: (await findProgram('dufs')) ?? 'dufs',
      args: ['--allow-all', '--bind', '127.0.0.1', '--port', `${port}`, files],
      log: join(directory, 'log'),
      port,
    })
    const list = () => ({ method: 'GET', path: '/?json' })
    return { ...webDav, list, ...child, name: 'dufs', port, files }
  },
}
