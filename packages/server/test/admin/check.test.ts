import { until } from '@holdfast/testing'
import { expect } from 'chai'
import {
  steadyCheck,
  type CheckResult,
  type SteadyCheckOptions,
} from '../../src/admin/open-admin.ts'

const hour = 60 * 60 * 1000

/** A check whose looks end when the test says how. */
function createCheck(options: SteadyCheckOptions) {
  const looks: (PromiseWithResolvers<CheckResult> & { readonly signal: AbortSignal })[] = []
  const check = steadyCheck(
    'a',
    (signal) => {
      const look = { ...Promise.withResolvers<CheckResult>(), signal }
      looks.push(look)
      return look.promise
    },
    options,
  )
  return { look: async () => check.look(), looks }
}

describe('steadyCheck', () => {
  it('looks once for all who ask meanwhile, and says how long it took', async () => {
    const { look, looks } = createCheck({ freshMs: hour, limitMs: hour })
    const asked = [look(), look(), look()]
    looks[0]?.resolve({ ok: true, count: 7 })
    for (const result of await Promise.all([...asked, look()])) {
      expect(result).to.include({ ok: true, count: 7 })
      expect(result['durationMs']).to.be.a('number')
    }
    expect(looks).to.have.length(1)
  })

  it('looks again when a result is not fresh any more', async () => {
    const { look, looks } = createCheck({ freshMs: 0, limitMs: hour })
    for (const ok of [true, false, true]) {
      const asked = look()
      looks.at(-1)?.resolve({ ok })
      expect(await asked).to.include({ ok })
    }
    expect(looks).to.have.length(3)
  })

  it('says what a look threw, with its cause, as what is wrong', async () => {
    const { look, looks } = createCheck({ limitMs: hour })
    const asked = look()
    looks[0]?.reject(new Error('The store is away', { cause: new Error('EIO') }))
    expect(await asked).to.include({ ok: false, why: 'The store is away: EIO' })
  })

  it('goes by the last result while a look takes long, and begins no other', async () => {
    const { look, looks } = createCheck({ freshMs: 0, patienceMs: 1, limitMs: hour })
    const first = look()
    looks[0]?.resolve({ ok: true, count: 1 })
    await first
    for (let count = 0; count < 3; count++) expect(await look()).to.include({ count: 1 })
    expect(looks).to.have.length(2)
    looks[1]?.resolve({ ok: true, count: 2 })
    await until('the second result is told', async () => (await look())['count'] === 2)
  })

  it('fails when there is no result within the limit, gives the look up, and is well again after it', async () => {
    const { look, looks } = createCheck({ freshMs: 0, patienceMs: 1, limitMs: 50 })
    for (const asked of [look(), look()]) {
      const { ok, why } = await asked
      expect(ok).to.equal(false)
      expect(why).to.match(/^there has been no answer for \d+ s$/)
    }
    expect(looks).to.have.length(1)
    await until('the look is given up', () => looks[0]?.signal.aborted === true)
    looks[0]?.reject(new Error('given up'))
    await until('another look begins', async () => {
      looks.at(-1)?.resolve({ ok: true })
      return (await look()).ok
    })
  })

  it('fails when the last result is older than the limit', async () => {
    const { look, looks } = createCheck({ freshMs: 0, patienceMs: 1, limitMs: 50 })
    const first = look()
    looks[0]?.resolve({ ok: true })
    expect(await first).to.include({ ok: true })
    await until('nobody believes the old result', async () => !(await look()).ok)
    expect(looks).to.have.length(2)
  })
})
