import { access, constants, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Layout } from '../directory/layout.ts'
import { noReplacements } from '../temp/replacement-journal.ts'
import { atomicWrite, type AtomicWrite } from './atomic-write.ts'
import { removeFile } from './remove-file.ts'

/** The parts of a store that a probe uses. */
export type ProbedDirectory = Pick<AtomicWrite, 'calls' | 'tempDirectory' | 'writer'> & {
  readonly layout: Layout
}

const content = Buffer.from('holdfast')

let probes = 0

/**
 * Writes a small file durably, reads it, and removes it durably, by the same calls as a blob's. It does so in the
 * store's temporary directory, so that the next start removes what a killed process leaves. It also checks that this
 * user may read and write where the blobs are. Rejects with the first failure.
 */
export async function probeDirectory({ layout, ...store }: ProbedDirectory): Promise<void> {
  await access(layout.root, constants.R_OK | constants.W_OK | constants.X_OK)
  // No name of a temporary file has a dot.
  const target = join(store.tempDirectory.path, `probe.${probes++}`)
  try {
    await atomicWrite({ ...plainly, ...store, target, content: chunks(), beforeReplacing: nothing })
    if (!content.equals(await readFile(target))) {
      throw new Error('What was written has come back as something else')
    }
    await removeFile(target, store.calls, nothing)
  } catch (error) {
    await store.tempDirectory.remove(target)
    throw error
  }
}

/** No upload has to do with the probe. */
const nothing = async () => {}

async function* chunks() {
  yield content
}

/**
 * The other options of a write, switched off. The temporary directory exists, since it holds the file that is renamed.
 */
const plainly = {
  directories: { within: (_: string, change: () => Promise<void>) => change() },
  journal: noReplacements,
  createOnly: false,
  signal: undefined,
  release: undefined,
  onReadable: undefined,
}
