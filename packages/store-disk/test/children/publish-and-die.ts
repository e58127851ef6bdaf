import { channel } from 'node:diagnostics_channel'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'

// Publishes an upload, and is killed as soon as the file has its name.
const [directory = '', id = ''] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
channel('holdfast:store-disk:step').subscribe((step) => {
  if (step === 'named') process.kill(process.pid, 'SIGKILL')
})
await store.resumable.publish({ customer: 'alice', id })
