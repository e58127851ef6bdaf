import { existsSync } from 'node:fs'
import { expect } from 'chai'
import { useHoldfast } from '../src/holdfast.ts'

describe('useHoldfast', () => {
  const holdfast = useHoldfast()
  const earlier: { path?: string; pids: number[] } = { pids: [] }

  it('starts servers on a site', async () => {
    const [first, second] = [
      await holdfast.start(),
      await holdfast.start(['--data', 'other'], { env: { HOLDFAST_LOG_LEVEL: 'info' } }),
    ]
    expect(await (await fetch(`${second.url}/ping`)).text()).to.equal('pong')
    expect(existsSync(`${holdfast.site.path}/other`)).to.equal(true)
    Object.assign(earlier, { path: holdfast.site.path, pids: [first.pid, second.pid] })
  })

  it('has killed them, and made another site, by the next test', () => {
    expect(earlier.pids.filter((pid) => existsSync(`/proc/${pid}`))).to.deep.equal([])
    expect(existsSync(earlier.path ?? '')).to.equal(false)
    expect(existsSync(`${holdfast.site.path}/customers.yaml`)).to.equal(true)
  })
})
