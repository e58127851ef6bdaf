import { expect } from 'chai'
import pino from 'pino'
import { type CheckResult, createReadiness } from '../../src/admin/open-admin.ts'

describe('createReadiness', () => {
  const start = () => {
    const lines: string[] = []
    const log = pino({ base: null }, { write: (line: string) => void lines.push(line) })
    return { readiness: createReadiness(log), lines }
  }
  const told = (lines: readonly string[]) =>
    lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
  const notServing = (why: string) => ({
    ready: false,
    checks: [{ name: 'serving', ok: false, why }],
  })

  it('is not ready before it has begun, and never again once it ends', async () => {
    const { readiness, lines } = start()
    expect(await readiness.report()).to.deep.equal(notServing('the server is starting'))
    readiness.begin([])
    expect(await readiness.report()).to.deep.equal({ ready: true, checks: [] })
    readiness.end()
    expect(await readiness.report()).to.deep.equal(notServing('the server is stopping'))
    expect(lines).to.deep.equal([])
  })

  it('is ready when all checks are well, and says all that they say', async () => {
    const { readiness } = start()
    readiness.begin([
      { name: 'a', look: () => ({ ok: true, count: 1 }) },
      { name: 'b', look: async () => ({ ok: false, why: 'it is broken' }) },
    ])
    expect(await readiness.report()).to.deep.equal({
      ready: false,
      checks: [
        { name: 'a', ok: true, count: 1 },
        { name: 'b', ok: false, why: 'it is broken' },
      ],
    })
  })

  it('logs once when it is not ready, and why, and once when it is again', async () => {
    const { readiness, lines } = start()
    let result: CheckResult = { ok: true }
    readiness.begin([{ name: 'a', look: () => result }])
    await readiness.report()
    result = { ok: false, why: 'it is broken' }
    await readiness.report()
    await readiness.report()
    result = { ok: true }
    await readiness.report()
    await readiness.report()
    expect(told(lines)).to.deep.equal(['not ready', 'ready again'])
    expect(lines[0]).to.include('"why":"it is broken"')
  })

  it('does not call a server ready that has begun to end while its checks were under way', async () => {
    const { readiness } = start()
    const looking = Promise.withResolvers<CheckResult>()
    readiness.begin([{ name: 'a', look: () => looking.promise }])
    const report = readiness.report()
    readiness.end()
    looking.resolve({ ok: true })
    expect(await report).to.deep.equal(notServing('the server is stopping'))
  })
})
