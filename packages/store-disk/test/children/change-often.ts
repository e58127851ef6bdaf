import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Changes the same few names of alice as often as asked, and prints each content that was acknowledged, each once.
const [directory = '', count = '', label = ''] = process.argv.slice(2)
const names = ['a', 'b', 'c']
const keep = { keepReplaced: true }
const store = await openDiskBlobStore({ directory })
const pick = () => ({ customer: 'alice', name: names[Math.floor(Math.random() * 3)] ?? 'a' })

async function* text(content: string) {
  yield Buffer.from(content)
}

for (let turn = 0; turn < Number(count); turn++) {
  const key = pick()
  const to = pick().name
  const content = `${label} ${turn}`
  const isStored = await store
    .put(key, text(content), { ...keep, createOnly: turn % 4 === 0 })
    .then(() => true, ignoreTaken)
  if (isStored) console.log(content)
  if (turn % 3 === 0 && to !== key.name) {
    await store.rename?.(key, to, { ...keep, createOnly: turn % 2 === 0 }).catch(ignoreTaken)
  }
  if (turn % 5 === 0) await store.delete(pick(), keep)
}
await store.close()

function ignoreTaken(error: unknown): false {
  if (!String(error).includes('taken')) throw error
  return false
}
