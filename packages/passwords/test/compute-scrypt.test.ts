import { execFile } from 'node:child_process'
import { scryptSync } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { cheapCost } from '@holdfast/testing'
import { expect } from 'chai'
import { computeScrypt, standardScryptCost } from '../src/compute-scrypt.ts'
const salt = Buffer.from('a salt of 16 byt')
const main = new URL('../src/compute-scrypt.ts', import.meta.url).href

describe('computeScrypt', () => {
  it('computes the same alone and among many at once', async () => {
    const passwords = ['', 'secret', 'caf\u00e9 密', 'x'.repeat(1_000), ...Array(20).keys()].map(
      String,
    )
    const options = { N: 2 ** cheapCost.ln, r: cheapCost.r, p: cheapCost.p }
    const expected = passwords.map((one) => scryptSync(one, salt, 32, options).toString('hex'))
    const all = await Promise.all(passwords.map((one) => computeScrypt(one, salt, 32, cheapCost)))
    expect(all.map((one) => one.toString('hex'))).to.deep.equal(expected)
    const alone = await computeScrypt('secret', salt, 32, cheapCost)
    expect(alone.toString('hex')).to.equal(expected[1])
  })

  // Only Linux has a priority for each thread.
  if (process.platform === 'linux') {
    it('computes several at once in threads with a lower priority than that of the main thread', async () => {
      const own = nicesOf(process.pid).get(process.pid) ?? NaN
      expect(own, 'the tests themselves must not run with the lowest priority').to.be.below(19)
      await Promise.all([1, 2, 3].map((n) => computeScrypt(`${n}`, salt, 32, standardScryptCost)))
      const nices = nicesOf(process.pid)
      expect([...nices.values()]).to.include(Math.min(own + 5, 19))
      expect(nices.get(process.pid)).to.equal(own)
    })
  }

  it('keeps no process running', async () => {
    const script = `
      const { computeScrypt } = await import(${JSON.stringify(main)})
      const compute = () => computeScrypt('secret', Buffer.alloc(16), 32, { ln: 1, r: 1, p: 1 })
      await Promise.all([compute(), compute(), compute()])
      console.log(Date.now())`
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script])
    // An idle thread is kept for 30 seconds.
    expect(Date.now() - Number(stdout)).to.be.below(20_000)
  })
})

/** How nice each thread of a process is, by the thread's id. */
function nicesOf(pid: number): Map<number, number> {
  return new Map(
    readdirSync(`/proc/${pid}/task`).map((id) => {
      const stat = readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8')
      return [Number(id), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])]
    }),
  )
}
