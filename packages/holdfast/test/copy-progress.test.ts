import type { CopyProgress } from '@holdfast/copy'
import { expect } from 'chai'
import {
  progressLine,
  progressLogLine,
  createPaceMeter,
  measurePace,
  type Sample,
} from '../src/copy-progress.ts'

const progress: CopyProgress = {
  stage: 'copying',
  done: { files: 4812, bytes: 1.2e9 },
  total: { files: 10_001, bytes: 2.15e9 },
  moved: 1.2e9,
  failed: 0,
}
const pace = { bytesPerSecond: 35e6, secondsLeft: 80 }

describe('progressLine', () => {
  const cases: readonly (readonly [number, string])[] = [
    [
      150,
      'copying  [###############---------------]  51%  1.20 GB of 2.15 GB  4812 of 10001 files  35.0 MB/s  1m 20s left',
    ],
    [
      92,
      'copying  [#####-----]  51%  1.20 GB of 2.15 GB  4812 of 10001 files  35.0 MB/s  1m 20s left',
    ],
    [80, 'copying   51%  1.20 GB of 2.15 GB  4812 of 10001 files  35.0 MB/s  1m 20s left'],
    [70, ' 51%  1.20 GB of 2.15 GB  4812 of 10001 files  35.0 MB/s  1m 20s left'],
    [60, ' 51%  1.20 GB of 2.15 GB  35.0 MB/s  1m 20s left'],
    [40, ' 51%  1.20 GB of 2.15 GB  1m 20s left'],
    [20, ' 51%  1m 20s left'],
    [10, ' 51%'],
    [2, ' 5'],
  ]
  for (const [width, line] of cases) {
    it(`fits into ${width} columns`, () =>
      expect(progressLine(progress, pace, width)).to.equal(line))
  }

  it('is never longer than it may be, whatever the numbers', () => {
    const most = { files: 123_456_789, bytes: 9.99e17 }
    const large: CopyProgress = { ...progress, done: most, total: most, failed: 98_765 }
    for (const stage of ['counting', 'copying', 'catching up'] as const) {
      for (let width = 1; width < 200; width++) {
        const line = progressLine({ ...large, stage }, pace, width)
        expect(line.length).to.be.within(1, width)
        expect(line).to.match(/^[ -~]+$/)
      }
    }
  })

  it('names what it counts', () => {
    expect(progressLine({ ...progress, stage: 'counting' }, pace, 80)).to.equal(
      'counting  10001 files  2.15 GB',
    )
  })

  it('has the number of failures', () => {
    expect(progressLine({ ...progress, failed: 3 }, pace, 150)).to.match(/ {2}3 failed$/)
  })

  it('leaves out an unknown time', () => {
    const still = { bytesPerSecond: 0, secondsLeft: undefined }
    expect(progressLine(progress, still, 150)).to.match(/ {2}0 B\/s$/)
  })

  it('is at 100% only when files and bytes are done, and never beyond', () => {
    const percent = (files: number, bytes: number) =>
      /\d+%/.exec(progressLogLine({ ...progress, done: { files, bytes } }, pace))?.[0]
    expect(percent(10_000, 2.15e9)).to.equal('99%')
    expect(percent(10_001, 2.14e9)).to.equal('99%')
    expect(percent(10_001, 2.15e9)).to.equal('100%')
    expect(percent(10_005, 3e9)).to.equal('100%')
  })

  it('is done where there is nothing to do', () => {
    const none = { files: 0, bytes: 0 }
    expect(progressLogLine({ ...progress, done: none, total: none }, pace)).to.include('100%')
  })
})

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
