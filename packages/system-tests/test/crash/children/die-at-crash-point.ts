import { subscribe } from 'node:diagnostics_channel'
import { writeSync } from 'node:fs'

// Imported into a server before its own code. Writes every crash point to standard error. When the server has reached those in CRASH_AFTER,
// in that order with others in between, the process kills itself before it does anything else.
const awaited = (process.env['CRASH_AFTER'] ?? '').split(' ')

function reach(crashPoint: string): void {
  writeSync(2, `crash point: ${crashPoint}\n`)
  if (awaited[0] !== crashPoint) return
  awaited.shift()
  if (awaited.length === 0) process.kill(process.pid, 'SIGKILL')
}

subscribe('holdfast:store-disk:step', (crashPoint) => reach(String(crashPoint)))
subscribe('holdfast:http-koa:step', (crashPoint) => reach(String(crashPoint)))
// Node's own: the system has the whole answer.
subscribe('http.server.response.finish', () => reach('answer-sent'))
