/**
 * Preloaded into `holdfast serve` by scripts/start: prints the tour when the server's socket listens, never before, and
 * not at all when it cannot. It lives in the server's own process so that the shell can hand itself over to it (signals
 * reach the server) and it is certain which process answers on the port.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { existsSync } from 'node:fs'
import { Server, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { tourText } from './tour-text.ts'

const { TOUR_PASSWORD: password, TOUR_COMMAND: command } = process.env
// A password has no business in the environment of a server that runs for months.
delete process.env['TOUR_PASSWORD']
delete process.env['TOUR_COMMAND']

const { asyncEnd } = tracingChannel('net.server.listen')
asyncEnd.subscribe(printOnce)

function printOnce(message: unknown): void {
  const address = addressIn(message)
  if (address === undefined) return
  asyncEnd.unsubscribe(printOnce)
  console.log(
    tourText({
      address,
      command: command ?? 'scripts/start',
      password: password === '' ? undefined : password,
      file: fileToUpload(),
    }),
  )
}

function addressIn(message: unknown): AddressInfo | undefined {
  if (typeof message !== 'object' || message === null || !('server' in message)) return undefined
  const { server } = message
  const address = server instanceof Server ? server.address() : null
  return typeof address === 'object' ? (address ?? undefined) : undefined
}

function fileToUpload(): string {
  return existsSync('README.md') ? 'README.md' : join(import.meta.dirname, '../../README.md')
}
