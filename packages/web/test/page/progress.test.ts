import { expect } from 'chai'
import {
  createRateMeter,
  progressOf,
  createUploadItem,
  type UploadState,
} from '../../page/uploads/upload-item.ts'

function item(size: number, sent: number, kind: Exclude<UploadState['kind'], 'failed'> | 'failed') {
  const made = createUploadItem(new File(['x'.repeat(size)], 'a'), 'a')
  made.sent.value = sent
  made.state.value = kind === 'failed' ? { kind, error: undefined } : { kind }
  return made
}

describe('progressOf', () => {
  it('counts as left what is sent without a further action, and nothing that has failed', () => {
    const items = [
      item(100, 100, 'done'),
      item(100, 40, 'running'),
      item(100, 0, 'waiting'),
      item(100, 10, 'retrying'),
      item(100, 50, 'paused'),
      item(100, 30, 'failed'),
    ]
    expect(progressOf(items).left).to.deep.equal({ bytes: 60 + 100 + 90, files: 3 })
    expect(progressOf(items.filter((_, index) => index !== 5))).to.deep.equal(progressOf(items))
  })

  it('is at its end when all but the failed ones are done', () => {
    expect(
      progressOf([item(5, 5, 'done'), item(0, 0, 'done'), item(9, 3, 'failed')]).share,
    ).to.equal(1)
  })

  it('advances with each small file, however few its bytes are', () => {
    const { share } = progressOf([item(0, 0, 'done'), item(0, 0, 'waiting')])
    expect(share).to.equal(0.5)
  })
})

describe('createRateMeter', () => {
  it('adds up all uploads of the last five seconds', () => {
    let now = 0
    const rate = createRateMeter(() => now)
    const [one, other] = [rate.meter(0), rate.meter()]
    other.sent(0)
    now = 1000
    one.sent(500)
    other.sent(1500)
    expect(rate.perSecond()).to.deep.equal({ bytes: 2000, files: 0 })
    now = 10_000
    expect(rate.perSecond()).to.deep.equal({ bytes: 0, files: 0 })
    expect(rate.secondsFor({ bytes: 1, files: 1 })).to.equal(undefined)
  })

  it('does not count what an earlier attempt has sent', () => {
    let now = 0
    const rate = createRateMeter(() => now)
    const resumed = rate.meter()
    resumed.sent(1_000_000)
    now = 1000
    resumed.sent(1_000_100)
    expect(rate.perSecond().bytes).to.equal(100)
  })

  it('estimates by the files where they are small, and by the bytes where they are large', () => {
    let now = 0
    const rate = createRateMeter(() => now)
    for (let file = 0; file < 20; file++) {
      const small = rate.meter(0)
      now += 50
      small.stored(10)
    }
    expect(rate.secondsFor({ bytes: 2000, files: 200 })).to.be.closeTo(10, 0.1)
    now += 10_000
    const large = rate.meter(0)
    now += 1000
    large.sent(10_000_000)
    expect(rate.secondsFor({ bytes: 100_000_000, files: 1 })).to.be.closeTo(10, 0.1)
  })
})
