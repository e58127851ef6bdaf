import { channel } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { changes } from '../history/changes.ts'

// Makes all changes, and is killed when it reaches the given step for the given time. Prints each change that was acknowledged, and with
// no step to die at each step.
const [directory = '', last = '', times = '1'] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
let reached = 0
channel('holdfast:store-disk:step').subscribe((step) => {
  if (last === '') writeSync(1, `step ${String(step)}\n`)
  if (step !== last) return
  reached++
  if (reached === Number(times)) process.kill(process.pid, 'SIGKILL')
})
for (const [name, change] of Object.entries(changes)) {
  await change(store)
  writeSync(1, `done ${name}\n`)
}
await store.close()
