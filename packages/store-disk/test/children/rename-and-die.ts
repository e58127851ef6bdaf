import { channel } from 'node:diagnostics_channel'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Renames the blob `before` of alice to `after`, and is killed at the given step.
const [directory = '', createOnly = '', last = ''] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
channel('holdfast:store-disk:step').subscribe((step) => {
  if (step === last) process.kill(process.pid, 'SIGKILL')
})
const key = { customer: 'alice', name: 'before' }
await store.rename?.(key, 'after', { createOnly: createOnly === 'create-only' })
