import { expect } from 'chai'
import { createPaceMeter, measurePace, type Sample } from '../../src/copy/show-progress.ts'

/** A sample of a copy of 100 files with 1000 bytes, `seconds` after its begin. */
const sample = (
  seconds: number,
  files: number,
  bytes: number,
  stage: Sample['progress']['stage'] = 'copying',
): Sample => ({
  at: seconds * 1000,
  progress: {
    stage,
    done: { files, bytes },
    total: { files: 100, bytes: 1000 },
    moved: bytes,
    failed: 0,
  },
})

describe('measurePace', () => {
  it('has bytes a second, and the time left at that pace', () => {
    expect(measurePace(sample(0, 0, 0), sample(2, 20, 200))).to.deep.equal({
      bytesPerSecond: 100,
      secondsLeft: 8,
    })
  })

  it('takes a file for as much as 256 KiB', () => {
    const [begin, oneFile] = [sample(0, 0, 0), sample(1, 1, 0)]
    const oneMiB = sample(1, 0, 1024 * 1024)
    const [slow, fast] = [begin, begin].map((earlier, index) =>
      measurePace(earlier, index === 0 ? oneFile : oneMiB),
    )
    expect(slow?.secondsLeft).to.be.within(99, 100)
    expect(fast?.secondsLeft).to.be.within(23, 25)
  })

  it('goes by the files alone while it catches up', () => {
    const [earlier, later] = [sample(0, 0, 0, 'catching up'), sample(1, 50, 1, 'catching up')]
    expect(measurePace(earlier, later).secondsLeft).to.equal(1)
  })

  it('has no time left when nothing moves', () => {
    const still = { bytesPerSecond: 0, secondsLeft: undefined }
    expect(measurePace(sample(0, 3, 10), sample(5, 3, 10))).to.deep.equal(still)
    expect(measurePace(sample(5, 3, 10), sample(5, 3, 10))).to.deep.equal(still)
  })

  it('has no time left where more came than was counted', () => {
    expect(measurePace(sample(0, 90, 900), sample(1, 110, 1200)).secondsLeft).to.equal(0)
  })
})

describe('createPaceMeter', () => {
  it('looks at the last ten seconds', () => {
    const paceOf = createPaceMeter()
    paceOf(sample(0, 0, 0))
    expect(paceOf(sample(10, 1, 100)).bytesPerSecond).to.equal(10)
    expect(paceOf(sample(12, 2, 300)).bytesPerSecond).to.equal(100)
  })

  it('begins anew with each stage', () => {
    const paceOf = createPaceMeter()
    paceOf(sample(0, 0, 500))
    expect(paceOf(sample(1, 0, 900, 'catching up')).bytesPerSecond).to.equal(0)
    expect(paceOf(sample(2, 0, 950, 'catching up')).bytesPerSecond).to.equal(50)
  })
})
