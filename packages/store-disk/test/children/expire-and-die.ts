import { channel } from 'node:diagnostics_channel'
import { renameSync } from 'node:fs'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { interceptFileCalls } from '../file-calls-intercepted.ts'

// Removes the blob `a` of alice if it is unchanged, and is killed at the given step. Puts the file `replacement`, if there is one, in its
// place right before the name is moved away.
const [directory = '', last = '', replacement = '', target = ''] = process.argv.slice(2)
const store = await openDiskBlobStore({ directory })
channel('holdfast:store-disk:step').subscribe((step) => {
  if (step === last) process.kill(process.pid, 'SIGKILL')
})
let isReplaced = replacement === ''
await interceptFileCalls({
  before({ name, args }) {
    if (isReplaced || name !== 'rename' || !String(args[1]).endsWith('.away')) return
    isReplaced = true
    renameSync(replacement, target)
  },
})
const key = { customer: 'alice', name: 'a' }
const info = await store.stat(key)
if (info) await store.expiry?.deleteUnchanged('alice', info)
