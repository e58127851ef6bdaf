import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createLineLimit } from '../../src/log/lines.ts'
import { visible } from '../../src/log/visible.ts'

describe('createLineLimit', () => {
  it('admits so many, reports how many more there were when the time is over, and begins anew', async () => {
    const omitted: number[] = []
    const onOmitted = (count: number) => omitted.push(count)
    const { admit } = createLineLimit({ perWindow: 2, windowMs: 1, onOmitted })
    expect(Array.from({ length: 5 }, admit)).to.deep.equal([true, true, false, false, false])
    await until('it is reported', () => omitted.length > 0)
    expect(omitted).to.deep.equal([3])
    expect(admit()).to.equal(true)
  })

  it('reports at once when it is flushed, and only what there was', () => {
    const omitted: number[] = []
    const onOmitted = (count: number) => omitted.push(count)
    const { admit, flush } = createLineLimit({ perWindow: 1, windowMs: 1e6, onOmitted })
    expect([admit(), admit()]).to.deep.equal([true, false])
    flush()
    flush()
    expect(omitted).to.deep.equal([1])
    expect(admit()).to.equal(true)
    flush()
    expect(omitted).to.deep.equal([1])
  })
})

describe('visible', () => {
  it('escapes what a terminal would obey, hide or reverse', () => {
    const text = 'größe\u001b[2J\u202e\u0085\u200b\u2028 字'
    expect(visible(text)).to.equal('größe\\u{1b}[2J\\u{202e}\\u{85}\\u{200b}\\u{2028} 字')
  })
})
