import { writeSync } from 'node:fs'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { seeded } from '../../../../core/test/seeded.ts'
import { piece } from '../../../../store-disk/test/resumable/upload-works.ts'

/**
 * Appends to uploads, publishes them, and begins others, several at a time, until the disk fails. Takes the data directory and a seed; writes a
 * line for each thing that was acknowledged: `begun ID`, `offset ID BYTES` or `published ID BYTES`.
 */
const [directory = '', seed = '1'] = process.argv.slice(2)
const customer = 'alice'
const chance = seeded(Number(seed))
const { resumable } = await openDiskBlobStore({ directory })
const tell = (...words: readonly (string | number)[]) => writeSync(1, `${words.join(' ')}\n`)
const waiting: { readonly id: string; readonly offset: number }[] = []
for await (const page of resumable.list(customer)) waiting.push(...page)
let names = 0

async function work(): Promise<void> {
  const { id, offset } = waiting.shift() ?? (await begin())
  if (offset > 600_000 && chance(3) === 0) {
    const { size } = await resumable.publish({ customer, id })
    return void tell('published', id, size)
  }
  const length = 1 + chance(chance(3) === 0 ? 400_000 : 3000)
  const reached = await resumable.append({ customer, id }, offset, piece(offset, length))
  tell('offset', id, reached)
  waiting.push({ id, offset: reached })
}

async function begin() {
  const name = `file-${process.pid}-${names++}`
  const createOnly = chance(2) === 0
  const { id } = await resumable.begin(customer, { name, createOnly, expiresAfterMs: 3_600_000 })
  tell('begun', id)
  return { id, offset: 0 }
}

async function workOn(): Promise<void> {
  for (;;) await work()
}

await Promise.all([workOn(), workOn(), workOn()]).catch((error: unknown) => {
  writeSync(2, `${String(error)}\n`)
})
// The disk is gone; whoever has cut the power ends this process.
setInterval(() => {}, 1000)
