import { expect } from 'chai'
import { createPageCacheHints } from '../../src/read/page-cache-hints.ts'

/** Hints, with a clock in milliseconds that the test advances. */
function openHints() {
  const clock = { time: 1_000_000 }
  return { clock, hints: createPageCacheHints(() => clock.time) }
}

const read = () => 'content'

describe('createPageCacheHints', () => {
  it('reads no file synchronously that was not read before', () => {
    const { hints } = openHints()
    hints.note('/data/files/alice/a')
    expect(hints.readSync('/data/files/alice/a', read)).to.equal('content')
    for (const other of ['/data/files/alice/b', '/data/files/alice/A', '/data/files/bob/a', '']) {
      expect(hints.readSync(other, read), other).to.equal(undefined)
    }
  })

  it('knows most of a hundred thousand files', () => {
    const { hints } = openHints()
    const paths = Array.from({ length: 100_000 }, (_, n) => `/data/files/alice/file ${n}`)
    for (const path of paths) hints.note(path)
    const known = paths.filter((path) => hints.readSync(path, read) !== undefined)
    expect(known.length).to.be.above(75_000)
  })

  it('forgets a file five minutes after its last read', () => {
    const { clock, hints } = openHints()
    hints.note('a')
    clock.time += 299_000
    expect(hints.readSync('a', read)).to.equal('content')
    hints.note('a')
    clock.time += 299_000
    expect(hints.readSync('a', read)).to.equal('content')
    clock.time += 2_000
    expect(hints.readSync('a', read)).to.equal(undefined)
  })

  it('reads nothing synchronously for twenty times as long as a slow read took', () => {
    const { clock, hints } = openHints()
    hints.note('a')
    hints.note('b')
    const slowly = () => {
      clock.time += 10
      return 'late'
    }
    expect(hints.readSync('a', slowly)).to.equal('late')
    clock.time += 199
    expect(hints.readSync('b', read)).to.equal(undefined)
    clock.time += 1
    expect(hints.readSync('b', read)).to.equal('content')
  })

  it('returns nothing for a file that cannot be read', () => {
    const { hints } = openHints()
    hints.note('a')
    const fail = () => {
      throw new Error('EIO')
    }
    expect(hints.readSync('a', fail)).to.equal(undefined)
    expect(hints.readSync('a', read)).to.equal('content')
  })
})
