import { writeSync } from 'node:fs'
import type { ResumableUpload } from '@holdfast/core'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { seeded, piece } from '@holdfast/testing'

/**
 * Appends to uploads, publishes them, and begins others, several at a time, until the disk fails. Takes the data directory and a seed; writes a
 * line for each thing that was acknowledged: `begun ID`, `offset ID BYTES` or `published ID BYTES`.
 */
const [directory = '', seed = '1'] = process.argv.slice(2)
const customer = 'alice'
const chance = seeded(Number(seed))
const { resumable } = await openDiskBlobStore({ directory })
const tell = (...words: readonly (string | number)[]) => writeSync(1, `${words.join(' ')}\n`)
const waiting: Pick<ResumableUpload, 'id' | 'offset' | 'plan'>[] = []
for await (const page of resumable.list(customer)) waiting.push(...page)
let names = 0

async function work(): Promise<void> {
  const { id, offset, plan } = waiting.shift() ?? (await begin())
  const { length = Infinity } = plan
  if (offset === length || (offset > 600_000 && length === Infinity && chance(3) === 0)) {
    const { size } = await resumable.publish({ customer, id })
    return void tell('published', id, size)
  }
  const size = Math.min(length - offset, 1 + chance(chance(3) === 0 ? 400_000 : 3000))
  const reached = await resumable.append({ customer, id }, offset, piece(offset, size))
  tell('offset', id, reached)
  const next = { id, offset: reached, plan }
  // What is complete is published at once, as a rule.
  if (reached === length && chance(4) > 0) waiting.unshift(next)
  else waiting.push(next)
}

async function begin() {
  const name = `file-${process.pid}-${names++}`
  const createOnly = chance(2) === 0
  const hasLength = chance(2) === 0
  const upload = await resumable.begin(customer, {
    ...{ name, createOnly, expiresAfterMs: 3_600_000 },
    ...(hasLength && { length: 1 + chance(5000) }),
  })
  tell('begun', upload.id)
  return upload
}

async function workOn(): Promise<void> {
  for (;;) await work()
}

await Promise.all([workOn(), workOn(), workOn()]).catch((error: unknown) => {
  writeSync(2, `${String(error)}\n`)
})
// The disk is gone; whoever has cut the power ends this process.
setInterval(() => {}, 1000)
