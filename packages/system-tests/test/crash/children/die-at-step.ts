import { subscribe } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'

// Imported into a server before its own code. Tells every step on standard error; once those in CRASH_AFTER have come, in
// that order with others in between, the process ends itself before it does anything else.
const awaited = (process.env['CRASH_AFTER'] ?? '').split(' ')

function reach(step: string): void {
  writeSync(2, `step: ${step}\n`)
  if (awaited[0] !== step) return
  awaited.shift()
  if (awaited.length === 0) process.kill(process.pid, 'SIGKILL')
}

subscribe('holdfast:store-disk:step', (step) => reach(String(step)))
subscribe('holdfast:http-koa:step', (step) => reach(String(step)))
// Node's own: the system has the whole answer.
subscribe('http.server.response.finish', () => reach('answer-sent'))
