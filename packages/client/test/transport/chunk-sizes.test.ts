import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { createNodeTransport } from '../../src/transport/node-transport.ts'
import { mebibyte } from '../support/content.ts'

const small = 256 * 1024
/** Up to here the system's own buffers may take what a slow line does not. */
const buffered = 16 * mebibyte

/** How many bytes of a body have gone out at each step, to a server that sleeps for `pauseMs` after each chunk that it reads. */
async function stepsOf(size: number, pauseMs = 0): Promise<readonly number[]> {
  const server = createServer((request, response) => {
    void (async () => {
      for await (const _ of request) if (pauseMs > 0) await wait(pauseMs)
      response.end()
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const steps: number[] = []
    const { body } = await createNodeTransport()({
      method: 'PUT',
      url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      headers: {},
      body: new Uint8Array(size),
      size,
      signal: new AbortController().signal,
      onSent: (sent) => steps.push(sent),
    })
    let answered = 0
    for await (const { length } of body) answered += length
    expect(answered).to.equal(0)
    return steps
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const sizesOf = (steps: readonly number[]) =>
  steps.map((sent, index) => sent - (steps[index - 1] ?? 0))

describe('A body that is sent over HTTP', function () {
  this.timeout(60_000)

  it('goes a mebibyte at a time where the line is quick, after the first ones', async () => {
    const steps = await stepsOf(64 * mebibyte)
    const sizes = sizesOf(steps)
    const first = sizes.slice(0, buffered / small)
    expect(first.every((size) => size === small)).to.equal(true)
    expect(sizes).to.include(mebibyte)
    expect(steps.at(-1)).to.equal(64 * mebibyte)
  })

  it('goes in small steps where the line is slow', async () => {
    const steps = await stepsOf(20 * mebibyte, 10)
    const late = sizesOf(steps).slice(buffered / small)
    expect(Math.max(...late)).to.equal(small)
  })
})
