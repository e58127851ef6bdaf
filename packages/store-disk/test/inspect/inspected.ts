import { join } from 'node:path'
import type { Finding } from '@holdfast/core'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import {
  inspectDataDirectory,
  type InspectionOptions,
} from '../../src/inspect/inspect-data-directory.ts'
import { collect } from '../collect.ts'

export async function* text(content: string) {
  yield Buffer.from(content)
}

/** All that an inspection of `directory` finds. */
export const inspect = (directory: string, options: Partial<InspectionOptions> = {}) =>
  collect(inspectDataDirectory({ directory, ...options }))

/** What was found by one check. */
export const found = (findings: readonly Finding[], check: string) =>
  findings.find((each) => each.check === check)

/** What is not as it should be. */
export const faults = (findings: readonly Finding[]) => findings.filter(({ mark }) => mark !== 'ok')

/** A directory with two files of Alice and one of Bob. */
export async function makeUsedDirectory() {
  const place = await makeTemporaryDirectory()
  const store = await openDiskBlobStore({ directory: place.path })
  for (const [customer, name] of [
    ['alice', 'a'],
    ['alice', 'b'],
    ['bob', 'a'],
  ] as const) {
    await store.put({ customer, name }, text('content'))
  }
  await store.close()
  return { ...place, alice: join(place.path, 'files', 'alice') }
}
