import { expect } from 'chai'
import { createWarmFiles } from '../../src/read/warm-files.ts'

/** Warm files, on a clock in milliseconds that stands still unless it is moved. */
function openWarmFiles() {
  const clock = { time: 1_000_000 }
  return { clock, warm: createWarmFiles(() => clock.time) }
}

const read = () => 'content'

describe('createWarmFiles', () => {
  it('reads nothing at once that was not read before', () => {
    const { warm } = openWarmFiles()
    warm.note('/data/files/alice/a')
    expect(warm.readNow('/data/files/alice/a', read)).to.equal('content')
    for (const other of ['/data/files/alice/b', '/data/files/alice/A', '/data/files/bob/a', '']) {
      expect(warm.readNow(other, read), other).to.equal(undefined)
    }
  })

  it('knows most of a hundred thousand files', () => {
    const { warm } = openWarmFiles()
    const paths = Array.from({ length: 100_000 }, (_, n) => `/data/files/alice/file ${n}`)
    for (const path of paths) warm.note(path)
    const known = paths.filter((path) => warm.readNow(path, read) !== undefined)
    expect(known.length).to.be.above(75_000)
  })

  it('takes a file for cold five minutes after it was noted last', () => {
    const { clock, warm } = openWarmFiles()
    warm.note('a')
    clock.time += 299_000
    expect(warm.readNow('a', read)).to.equal('content')
    warm.note('a')
    clock.time += 299_000
    expect(warm.readNow('a', read)).to.equal('content')
    clock.time += 2_000
    expect(warm.readNow('a', read)).to.equal(undefined)
  })

  it('reads nothing at once for twenty times as long as a slow read took', () => {
    const { clock, warm } = openWarmFiles()
    warm.note('a')
    warm.note('b')
    const slowly = () => {
      clock.time += 10
      return 'late'
    }
    expect(warm.readNow('a', slowly)).to.equal('late')
    clock.time += 199
    expect(warm.readNow('b', read)).to.equal(undefined)
    clock.time += 1
    expect(warm.readNow('b', read)).to.equal('content')
  })

  it('leaves it to others to find out why a file cannot be read', () => {
    const { warm } = openWarmFiles()
    warm.note('a')
    const fail = () => {
      throw new Error('EIO')
    }
    expect(warm.readNow('a', fail)).to.equal(undefined)
    expect(warm.readNow('a', read)).to.equal('content')
  })
})
