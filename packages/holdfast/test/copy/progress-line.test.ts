import type { CopyProgress } from '@holdfast/copy'
import { expect } from 'chai'
import { progressLine, progressLogLine } from '../../src/copy/show-progress.ts'

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
