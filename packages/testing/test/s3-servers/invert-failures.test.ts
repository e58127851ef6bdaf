import { expect } from 'chai'
import { Context, Suite, Test } from 'mocha'
import { invertFailures } from '../../src/s3-servers.ts'

describe('invertFailures', () => {
  /** A suite of which `works` passes and `fails` fails. */
  const suite = () => {
    const made = new Suite('store', new Context())
    const group = Suite.create(made, 'group')
    group.addTest(new Test('works', () => Promise.resolve()))
    group.addTest(new Test('fails', () => Promise.reject(new Error('the server does not know it'))))
    return made
  }
  const known = (test: string, error = /does not know/) => ({ cannot: 'x', error, tests: [test] })

  /** What comes of each test: its title, and its error. */
  const outcomes = async (of: Suite) => {
    const found: string[] = []
    for (const test of of.suites.flatMap(({ tests }) => tests)) {
      const run = test.fn as (this: object) => Promise<void>
      const said = await run.call({}).then(
        () => 'passes',
        (error: unknown) => String(error),
      )
      found.push(`${test.title}: ${said}`)
    }
    return found
  }

  it('passes a test that fails as is known, and leaves others alone', async () => {
    const one = suite()
    invertFailures(one, [known('group > fails')])
    expect(await outcomes(one)).to.deep.equal(['works: passes', 'fails as known: fails: passes'])
  })

  it('fails a test that passes', async () => {
    const one = suite()
    invertFailures(one, [known('group > works')])
    expect((await outcomes(one))[0]).to.match(/^fails as known: works: Error: Passes, although/)
  })

  it('fails a test that fails otherwise', async () => {
    const one = suite()
    invertFailures(one, [known('group > fails', /another error/)])
    expect((await outcomes(one))[1]).to.match(/Fails otherwise than is known/)
  })

  it('refuses a title that no test has, and one that stands twice', () => {
    expect(() => invertFailures(suite(), [known('fails')])).to.throw(/no test: fails/)
    const twice = [known('group > fails'), known('group > fails')]
    expect(() => invertFailures(suite(), twice)).to.throw(/twice: group > fails/)
  })
})
