import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { credentials, until, useHoldfast, type HoldfastServer } from '@holdfast/testing'
import { expect } from 'chai'
import { ensurePythonEnvironment } from '../openapi/python-environment.ts'

const here = import.meta.dirname
const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

/** A line of receiver.py. */
interface Arrival {
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
  readonly answer: string
  readonly error?: string
}

interface PythonReceiver {
  readonly port: number
  arrivals(): readonly Arrival[]
  /** Answers so from now on. */
  answer(how: string): Promise<void>
  kill(): void
}

async function startReceiver(python: string, port = 0): Promise<PythonReceiver> {
  const child = spawn(python, [join(here, 'receiver.py'), secret, `${port}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const lines = () => output.split('\n').slice(0, -1)
  await until('the receiver listens', () => lines().length > 0)
  return {
    port: Number(lines()[0]),
    arrivals: () =>
      lines()
        .filter((line) => line.startsWith('{') && !line.startsWith('{"answers"'))
        .map((line) => JSON.parse(line) as Arrival),
    async answer(how) {
      const confirmations = () => lines().filter((line) => line.startsWith('{"answers"')).length
      const before = confirmations()
      child.stdin.write(`${how}\n`)
      await until('the receiver answers so', () => confirmations() > before)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

describe('The events of holdfast serve --webhook, for a receiver in Python', function () {
  this.timeout(180_000)
  const holdfast = useHoldfast()
  let python: string
  let receiver: PythonReceiver
  before(async () => {
    const folder = await ensurePythonEnvironment('events', join(here, 'requirements.txt'))
    python = join(folder, 'bin/python')
  })
  beforeEach(async () => {
    receiver = await startReceiver(python)
  })
  afterEach(() => receiver.kill())

  const start = () => {
    const url = `http://127.0.0.1:${receiver.port}/events`
    const flags = ['--audit-log', 'audit.jsonl', '--webhook', url, '--webhook-allow-private']
    return holdfast.start(flags, { env: { HOLDFAST_WEBHOOK_SECRET: secret } })
  }
  const ask = async ({ url }: HoldfastServer, method: string, path: string, body?: string) => {
    const init = { method, headers: credentials, ...(body !== undefined && { body }) }
    const answer = await fetch(url + path, init)
    expect(await answer.text(), path).to.match(/^OK/)
  }
  /** Uploads, renames and deletes files; the result is what the receiver must get. */
  const change = async (server: HoldfastServer, round: string) => {
    const [a, b] = [`${round} ä.txt`, `${round} b.txt`]
    await ask(server, 'PUT', `/upload/${encodeURIComponent(a)}`, 'content')
    await ask(server, 'POST', `/rename/${encodeURIComponent(a)}`, JSON.stringify({ to: b }))
    await ask(server, 'DELETE', `/delete/${encodeURIComponent(b)}`)
    return [`holdfast.upload demo/${a}`, `holdfast.rename demo/${a}`, `holdfast.delete demo/${b}`]
  }
  /** What arrived, without repetitions. */
  const arrivedOnce = () => {
    const first = new Map<string, Arrival>()
    for (const arrival of receiver.arrivals()) {
      expect(arrival.error).to.equal(undefined)
      if (!first.has(arrival.id)) first.set(arrival.id, arrival)
    }
    return [...first.values()].map(({ type, subject }) => `${type} ${subject}`)
  }
  const arrived = (count: number) =>
    until(
      () => `${count} events have arrived: ${arrivedOnce().join(', ')}`,
      () => arrivedOnce().length >= count,
    )

  it('come in order, each with a signature that is right', async () => {
    const server = await start()
    const expected = await change(server, '1')
    await arrived(3)
    expect(arrivedOnce()).to.deep.equal(expected)
    const [upload, rename] = receiver.arrivals()
    expect(upload?.data).to.include({ customer: 'demo', file: '1 ä.txt', bytes: 7 })
    expect(rename?.data).to.include({ file: '1 ä.txt', to: '1 b.txt' })
  })

  it('come again with the same id after a kill between the delivery and the cursor; none is lost', async () => {
    const expected: string[] = []
    for (let round = 0; round < 6; round++) {
      const server = await start()
      // With `lose` the receiver has the event, and the server does not know it.
      const how = round % 2 === 0 ? 'lose' : '204'
      const answered = () => receiver.arrivals().filter(({ answer }) => answer === how).length
      const before = answered()
      await receiver.answer(how)
      expected.push(...(await change(server, `${round}`)))
      await until(`an event is answered by ${how}`, () => answered() > before)
      await server.kill()
    }
    await receiver.answer('204')
    await start()
    await arrived(expected.length)
    expect(arrivedOnce()).to.deep.equal(expected)
    const ids = receiver.arrivals().map(({ id }) => id)
    expect(ids.length).to.be.greaterThan(expected.length)
  })

  it('come after the receiver was away, and after it answered 500', async () => {
    const server = await start()
    await receiver.answer('500')
    const expected = await change(server, '1')
    await until('one was refused', () => receiver.arrivals().length > 0)
    const { port } = receiver
    receiver.kill()
    expected.push(...(await change(server, '2')))
    await server.logged('webhook: the event was not accepted')
    receiver = await startReceiver(python, port)
    await arrived(6)
    expect(arrivedOnce()).to.deep.equal(expected)
  })
})
