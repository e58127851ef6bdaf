/**
 * Loaded into a server before its program: at SIGUSR2 it writes into the file PROBE how long the event loop was blocked
 * at most since the last SIGUSR2, in milliseconds.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const { PROBE = '' } = process.env
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
process.on('SIGUSR2', () => {
  // In one step, so that whoever waits for the file reads all of it.
  writeFileSync(`${PROBE}.new`, `${delay.max / 1e6}`)
  renameSync(`${PROBE}.new`, PROBE)
  delay.reset()
})
