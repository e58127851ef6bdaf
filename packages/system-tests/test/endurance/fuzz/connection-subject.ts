import { writeFile } from 'node:fs/promises'
import {
  createSite,
  openDescriptors,
  residentMiB,
  startHoldfastByShell,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { connectionBounds } from '../../abuse/connection-bounds.ts'
import type { Subject } from './fuzz-target.ts'
import { password } from './fuzz-service.ts'
import { requestOf, type HeaderLine } from './requests.ts'
import { sendBytes, type Sending } from './send-bytes.ts'
import { keepConnection } from './wire.ts'

/** The most that was measured. */
export interface ConnectionFigures {
  /** How much memory grew by an input. */
  mostMiB: number
  /** How much it grew by all of them. */
  mostMiBInAll: number
  /** How long another client waited. */
  slowestMs: number
}

const customersText = `customers:
  - name: demo
    password: ${password}
  - name: other
    password: mellon-4b1d
`
const other: readonly HeaderLine[] = [
  ['Host', 'a'],
  ['x-auth-name', 'other'],
  ['x-auth-password', 'mellon-4b1d'],
]
const content = 'content that stays'

/** By then the server has closed a connection on which nothing happens, in milliseconds. */
const longestIdleMs = 120_000

/** The log without its lines of requests, of which there are too many to keep. A login costs nothing but its hash. */
const script = `holdfast serve --port 0 --login-failures-exempt 127.0.0.1 \\
  > >(grep --line-buffered -v '"msg":"request"')`

/**
 * A server in a process of its own, for connections that send anything at the same time. Its memory and the time that
 * another client waits stay within `connectionBounds`; no fault is logged; files of another customer stay as they are; and
 * nothing is left when the connections have ended.
 */
export async function openConnectionSubject(
  figures: ConnectionFigures,
): Promise<Subject<readonly Sending[]>> {
  const site = await createSite()
  await site.write('customers.yaml', customersText)
  const server = await startHoldfastByShell(script, { cwd: site.path })
  const client = keepConnection(server.port)
  const ask = async (method: string, target: string, headers = other, body = '') =>
    (await client.ask(requestOf(method, target, headers, Buffer.from(body)))).body.toString()
  const length: HeaderLine = ['Content-Length', `${content.length}`]
  await ask('PUT', '/upload/kept', [...other, length], content)
  const descriptors = await openDescriptors(server.pid)
  const { now: atFirst } = await residentMiB(server.pid)

  return {
    async check(sendings) {
      // Has the system forget the most that there was.
      await writeFile(`/proc/${server.pid}/clear_refs`, '5')
      const { now: before } = await residentMiB(server.pid)
      let areSent = false
      const all = Promise.all(sendings.map((sending) => sendBytes(server.port, sending))).finally(
        () => (areSent = true),
      )
      let slowestMs = 0
      do {
        const begin = performance.now()
        expect(await ask('GET', '/ping', [['Host', 'a']])).to.equal('pong')
        slowestMs = Math.max(slowestMs, performance.now() - begin)
      } while (!areSent)
      const sockets = await all
      const { most } = await residentMiB(server.pid)
      const grownMiB = most - before
      const kept = [await ask('GET', '/list'), await ask('GET', '/serve/kept')]
      for (const socket of sockets) socket.destroy()
      figures.mostMiB = Math.max(figures.mostMiB, grownMiB)
      figures.mostMiBInAll = Math.max(figures.mostMiBInAll, most - atFirst)
      figures.slowestMs = Math.max(figures.slowestMs, slowestMs)
      expect(kept, "another's files").to.deep.equal(['["kept"]', content])
      expect(grownMiB, 'MiB').to.be.below(connectionBounds.mostMiB)
      expect(slowestMs, 'ms').to.be.below(connectionBounds.mostMs)
      const fault = server.lines().find(({ level }) => Number(level) >= 50)
      expect(fault, 'a fault in the log').to.equal(undefined)
    },
    async close() {
      try {
        expect(figures.mostMiBInAll, 'MiB in all').to.be.below(connectionBounds.mostMiBInAll)
        await until(
          'nothing is left of uploads and connections',
          async () =>
            (await site.litter()).length === 0 &&
            (await openDescriptors(server.pid)) <= descriptors,
          longestIdleMs,
        )
      } finally {
        client.close()
        await server.kill()
        await site.remove()
      }
    },
  }
}
