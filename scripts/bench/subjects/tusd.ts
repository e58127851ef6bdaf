import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { findProgram, versionOf } from './find-program.ts'
import { startProcess } from './start-process.ts'
import type { Subject } from './subject.ts'

/** tusd, the server of the tus project in Go, with its files on the disk, as it comes. Built from its source the first time. */
export const tusd: Subject = {
  name: 'tusd',
  lookUp: async () => {
    try {
      const version = await versionOf(await programFor(), '-version')
      return { version: version.replace('Version: ', '') }
    } catch {
      return {
        missing:
          'it could not be built (scripts/bench/build-tusd says why), and HOLDFAST_BENCH_TUSD names none',
      }
    }
  },
  start: async (directory) => {
    const [port, files] = [await findFreePort(), join(directory, 'files')]
    await mkdir(files)
    const child = await startProcess({
      command: await programFor(),
      args: ['-host', '127.0.0.1', '-port', `${port}`, '-upload-dir', files],
      log: join(directory, 'log'),
      port,
    })
    const get = (id: string) => ({ method: 'GET', path: `/files/${id}` })
    const tus = () => ({ method: 'POST', path: '/files/' })
    return { get, tus, ...child, name: 'tusd', port, files }
  },
}

async function programFor(): Promise<string> {
  const found = await findProgram('tusd')
  if (found !== undefined) return found
  const builder = join(import.meta.dirname, '../build-tusd')
  return (await promisify(execFile)(builder)).stdout.trim()
}
