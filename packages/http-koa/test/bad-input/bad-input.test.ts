import { expect } from 'chai'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expectError } from '../support/expect-error.ts'
import { customerRequest } from '../support/request.ts'
import { runApp, type RunningApp } from '../support/running-app.ts'
import type { BadRequest } from './bad-request.ts'
import { badForms } from './forms.ts'
import { badFraming } from './framing.ts'
import { badHeaderFields } from './header-fields.ts'
import { badRequestLines } from './request-lines.ts'
import { badTargets } from './targets.ts'

const table = [...badRequestLines, ...badHeaderFields, ...badFraming, ...badTargets, ...badForms]

async function refuse(app: RunningApp, { bytes, ends = false, status }: BadRequest) {
  using connection = await openConnection(app.port, { staysOpen: true })
  connection.write(bytes)
  if (ends) connection.halfClose()
  const answer = await connection.answer()
  expectError(answer)
  expect(answer.status, answer.body).to.equal(status)
  expect(answer.headers.get('cache-control')).to.equal('no-store')
  expect(Date.parse(answer.headers.get('date') ?? '')).to.be.closeTo(Date.now(), 60_000)
}

describe('Bad input', () => {
  let app: RunningApp

  before(async () => {
    app = await runApp({ idleTimeoutMs: 400 })
    await app.files.upload('kept.txt', new Blob(['kept']).stream())
  })
  after(() => app[Symbol.asyncDispose]())

  for (const bad of table) {
    it(`is refused: ${bad.title.replaceAll(/[^ -~]/g, '?')}`, () => refuse(app, bad))
  }

  it('was tried in more than 400 ways', () => {
    expect(new Set(table.map(({ title }) => title)).size).to.equal(table.length)
    expect(table.length).to.be.greaterThan(400)
  })

  it('leaves a server that serves, connections that end, and nothing stored', async () => {
    const answer = await exchange(app.port, customerRequest('GET', '/serve/kept.txt'))
    expect([answer.status, answer.body]).to.deep.equal([200, 'kept'])
    expect(await app.names()).to.deep.equal(['kept.txt'])
    await until('all connections ended', async () => (await app.connections()) === 0)
  })

  it('is no fault of the server', () => {
    expect(app.log.lines.filter(({ level }) => level === 'error')).to.deep.equal([])
  })
})
