import { expect } from 'chai'
import { Registry } from 'prom-client'
import { createCounts } from '../../src/metrics/server-metrics.ts'

const options = { name: 'things_total', help: 'Things.', labelNames: ['kind', 'size'] } as const

describe('createCounts', () => {
  it('says what was counted, by labels, however often it is asked', async () => {
    const register = new Registry()
    const counts = createCounts(register, options)
    const large = counts('box', 'large')
    large.add()
    large.add(2)
    counts('box', 'small').add()
    const lines = () => register.metrics().then((text) => text.split('\n').filter(isSample))
    expect(await lines()).to.deep.equal([
      'things_total{kind="box",size="large"} 3',
      'things_total{kind="box",size="small"} 1',
    ])
    expect(await lines()).to.have.length(2)
    counts('box', 'large').add()
    expect((await lines())[0]).to.equal('things_total{kind="box",size="large"} 4')
  })

  it('reports a count from the moment it was asked for, as 0', async () => {
    const register = new Registry()
    createCounts(register, options)('box', 'none')
    expect(await register.metrics()).to.include('things_total{kind="box",size="none"} 0\n')
  })
})

const isSample = (line: string) => line !== '' && !line.startsWith('#')
