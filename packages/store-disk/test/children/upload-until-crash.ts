import { subscribe } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { uploadWorks, type UploadWork } from '../resumable/upload-works.ts'

// Does one thing with an upload, and writes each step; kills itself when it has reached the given step so many times.
const [directory = '', work = '', id = '', crashAt, times = '1'] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
let reached = 0

subscribe('holdfast:store-disk:step', (step) => {
  writeSync(1, `${String(step)}\n`)
  if (step === crashAt && ++reached === Number(times)) process.kill(process.pid, 'SIGKILL')
})

await uploadWorks[work as UploadWork].run(store, { customer: 'alice', id })
process.exit()
