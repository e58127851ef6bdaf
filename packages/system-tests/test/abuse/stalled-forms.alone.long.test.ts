// It measures memory.
import {
  credentials,
  type HoldfastServer,
  openConnection,
  residentMiB,
  until,
  useHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'

const forms = 30
const fieldSize = 64 * 1024
const lines = Object.entries(credentials).map(([name, value]) => `${name}: ${value}\r\n`)

const head = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}Content-Type: multipart/form-data; boundary=b\r\n` +
  'Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n'

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const fieldHead = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`
const fields = (name: string) => chunk(`${fieldHead(name)}${'x'.repeat(fieldSize)}\r\n`.repeat(100))

/** What forms begin with: within their limits, and of no use. */
const beginnings = [
  ['/upload', 'a hundred text fields of 64 KiB', fields('note')],
  ['/upload/batch', 'a hundred fields sha256 of 64 KiB', fields('sha256')],
  [
    '/upload/batch',
    'a text field that comes byte by byte',
    chunk(fieldHead('note')) + chunk('x').repeat(fieldSize) + chunk('\r\n'),
  ],
] as const

/** Breaks the form, so that there is an answer once all before it has been read. */
const end = chunk('--b\r\nnonsense\r\n\r\n')

describe('Forms that are of no use', function () {
  this.timeout(180_000)
  const figures: string[] = []
  const holdfast = useHoldfast()
  let server: HoldfastServer
  beforeEach(async () => {
    server = await holdfast.start([])
  })
  after(() => {
    console.log(`figures: stalled forms: ${figures.join('; ')}`)
  })

  for (const [path, title, beginning] of beginnings) {
    it(`hold next to nothing of ${title}, for POST ${path}`, async () => {
      const { now: before } = await residentMiB(server.pid)
      const connections = await Promise.all(
        Array.from({ length: forms }, () => openConnection(server.port)),
      )
      for (const each of connections) each.write(head(path))
      for (const each of connections) await each.saw('100 Continue')
      for (const each of connections) each.write(beginning)
      for (const each of connections) each.write(end)
      await until(
        'all are answered',
        () => connections.every((each) => each.received().includes('Malformed multipart body')),
        120_000,
      )
      for (const { socket } of connections) socket.destroy()
      const grown = (await residentMiB(server.pid)).most - before
      figures.push(`${forms} of ${title}, ${path}: ${grown.toFixed(0)} MiB at most`)
      expect(grown).to.be.lessThan(160)
    })
  }
})
