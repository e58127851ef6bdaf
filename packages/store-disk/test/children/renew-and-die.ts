import { channel } from 'node:diagnostics_channel'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Begins a generation of links of alice, and is killed at the given step.
const [directory = '', last = ''] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
channel('holdfast:store-disk:step').subscribe((step) => {
  if (step === last) process.kill(process.pid, 'SIGKILL')
})
await store.linkGenerations?.renew('alice')
