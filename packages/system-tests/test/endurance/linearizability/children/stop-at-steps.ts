import { subscribe } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'

// Imported into a server before its own code. STOP_AT has numbers of steps: at each of them, counted from the first upload
// in pieces, the process stops until another one continues it.
const stops = new Set((process.env['STOP_AT'] ?? '').split(' ').map(Number))
let count = 0

subscribe('holdfast:store-disk:step', (step) => {
  if (count === 0 && step !== 'upload-begun') return
  if (!stops.has(count++)) return
  writeSync(2, `stopped: ${String(step)}\n`)
  process.kill(process.pid, 'SIGSTOP')
})
