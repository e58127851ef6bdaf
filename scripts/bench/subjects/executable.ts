import { join } from 'node:path'
import { startHoldfast } from './holdfast.ts'
import type { Subject } from './subject.ts'

const root = join(import.meta.dirname, '../../..')

/** The single executable of this checkout, which is made below `directory` when it is looked up. */
export function createExecutable(directory: string): Subject {
  const [name, file] = ['executable', join(directory, 'holdfast')]
  return {
    name,
    lookUp: async () => {
      try {
        const { makeExecutable } = await import('../../program/make-executable.ts')
        const { nodeBinary } = await import('../../program/node-binary.ts')
        await makeExecutable(root, await nodeBinary(process.arch), file)
        return { version: 'of this checkout' }
      } catch (error) {
        return { missing: error instanceof Error ? error.message : String(error) }
      }
    },
    start: (home, options) => startHoldfast(name, [file], home, options),
  }
}
