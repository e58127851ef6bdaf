import type { CopyResult } from '@holdfast/copy'
import { expect } from 'chai'
import { copySummary, describeFailure } from '../../src/copy.ts'

const none = { files: 0, bytes: 0 }
const result: CopyResult = {
  copied: none,
  present: none,
  removed: 0,
  extra: 0,
  failures: [],
  isCaughtUp: true,
  stoppedBy: undefined,
}

describe('copySummary', () => {
  it('has what was copied, and leaves out what is zero', () => {
    const copied = { files: 10_001, bytes: 2.15e9 }
    expect(copySummary({ ...result, copied }, 65)).to.deep.equal([
      'Copied and compared 10001 files, 2.15 GB, in 1m 05s.',
    ])
  })

  it('reports that there was nothing to copy', () => {
    expect(copySummary({ ...result, present: { files: 1, bytes: 12 } }, 1)).to.deep.equal([
      'Nothing copied, in 1s.',
      'Already in the target: 1 file, 12 B.',
    ])
  })

  it('has what is only in the target, what was removed, and what failed', () => {
    const failures = [{ customer: 'alice', name: 'a', reason: 'EIO' }]
    expect(copySummary({ ...result, removed: 2, extra: 3, failures }, 1)).to.deep.equal([
      'Nothing copied, in 1s.',
      'Removed from the target: 2 files.',
      'Only in the target: 3 files; --delete removes them.',
      'Failed: 1 file.',
    ])
  })

  it('warns if the source changed during the copy, unless the copy was stopped', () => {
    const late = /^Files were added or changed until the end/
    const unfinished = { ...result, isCaughtUp: false }
    expect(copySummary(unfinished, 1).at(-1)).to.match(late)
    expect(copySummary({ ...unfinished, stoppedBy: new Error() }, 1).at(-1)).not.to.match(late)
  })
})

describe('describeFailure', () => {
  it('names the file, or the customer whose files cannot be listed', () => {
    const failure = { customer: 'alice', name: 'a b.txt', reason: 'EIO' }
    expect(describeFailure(failure)).to.equal('alice/a b.txt: EIO')
    expect(describeFailure({ ...failure, name: undefined })).to.equal('alice: EIO')
  })

  it('shows what a terminal would hide or obey', () => {
    const failure = { customer: '你', name: 'a\u202e\u009b1m\u2028\u{1f600}', reason: 'x\ny' }
    expect(describeFailure(failure)).to.equal('你/a\\u{202e}\\u{9b}1m\\u{2028}\u{1f600}: x\\u{a}y')
  })
})
