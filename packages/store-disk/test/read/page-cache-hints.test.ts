import { expect } from 'chai'
import { createPageCacheHints } from '../../src/read/blob-reader.ts'

/** Hints, with a clock in milliseconds that the test advances. */
function openHints() {
  const clock = { time: 1_000_000 }
  return { clock, hints: createPageCacheHints(() => clock.time) }
}

describe('createPageCacheHints', () => {
  it('takes no file for cached that was not read before', () => {
    const { hints } = openHints()
    hints.note('/data/files/alice/a')
    expect(hints.isLikelyCached('/data/files/alice/a')).to.equal(true)
    for (const other of ['/data/files/alice/b', '/data/files/alice/A', '/data/files/bob/a', '']) {
      expect(hints.isLikelyCached(other), other).to.equal(false)
    }
  })

  it('knows most of a hundred thousand files', () => {
    const { hints } = openHints()
    const paths = Array.from({ length: 100_000 }, (_, n) => `/data/files/alice/file ${n}`)
    for (const path of paths) hints.note(path)
    const known = paths.filter((path) => hints.isLikelyCached(path))
    expect(known.length).to.be.above(75_000)
  })

  it('forgets a file five minutes after its last read', () => {
    const { clock, hints } = openHints()
    hints.note('a')
    clock.time += 299_000
    expect(hints.isLikelyCached('a')).to.equal(true)
    hints.note('a')
    clock.time += 299_000
    expect(hints.isLikelyCached('a')).to.equal(true)
    clock.time += 2_000
    expect(hints.isLikelyCached('a')).to.equal(false)
  })
})
