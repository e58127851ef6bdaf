import { expect } from 'chai'
import { createVersion } from '../endurance/soak/content.ts'
import { createNameLedger } from './name-ledger.ts'

const upload = (sequence: string) =>
  createVersion({ customer: 'demo', name: 'a', sequence, size: 500 })
const old = upload('1')
const next = upload('2')
const other = upload('3')

/** A name of which `old` is acknowledged, and `next` under way. */
function replacing() {
  const ledger = createNameLedger('a')
  ledger.begin(old.version)
  ledger.acknowledge()
  ledger.begin(next.version)
  return ledger
}

describe('createNameLedger', () => {
  it('explains what was acknowledged, and nothing else', () => {
    for (const [content, damage] of [
      [next.content, undefined],
      [old.content, 'neither'],
      [next.content.subarray(0, 300), 'neither'],
      [Buffer.alloc(500), 'neither'],
      [undefined, 'lost'],
    ] as const) {
      const ledger = replacing()
      ledger.acknowledge()
      expect(ledger.judge(content)?.damage).to.equal(damage)
    }
  })

  it('explains the old content and the new one as long as neither is acknowledged', () => {
    expect(replacing().judge(old.content)).to.equal(undefined)
    expect(replacing().judge(next.content)).to.equal(undefined)
    expect(replacing().judge(other.content)?.damage).to.equal('neither')
    expect(replacing().judge(undefined)?.damage).to.equal('lost')
  })

  it('finds a file that comes back', () => {
    const ledger = replacing()
    ledger.begin(undefined)
    ledger.acknowledge()
    expect(ledger.judge(next.content)).to.include({ damage: 'came back' })
  })

  it('takes a refusal for nothing done', () => {
    const ledger = replacing()
    ledger.refuse()
    expect(ledger.judge(next.content)?.damage).to.equal('neither')
  })

  it('holds what was found against the next', () => {
    const ledger = replacing()
    ledger.judge(next.content)
    expect(ledger.kept()).to.equal(next.version)
    expect(ledger.judge(old.content)?.description).to.equal(
      'a holds upload 1 of customer demo, file "a", whole instead of upload 2 of 500 bytes',
    )
  })
})
