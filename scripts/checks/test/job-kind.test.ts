import { expect } from 'chai'
import { jobKinds, kindOfTest } from '../job-kind.ts'

describe('kindOfTest', () => {
  it('goes by what a test is about, then by what it needs', () => {
    const kinds = [
      kindOfTest('packages/core/test/a.test.ts', []),
      kindOfTest('packages/system-tests/test/black-box/disk.test.ts', []),
      kindOfTest('packages/store-minio/test/contract.long.test.ts', ['containers']),
      kindOfTest('packages/store-minio/test/other-servers/rclone.long.test.ts', [
        'containers',
        's3servers',
      ]),
      kindOfTest('packages/web/test/browser/page.external.long.test.ts', ['browsers']),
      kindOfTest('packages/system-tests/test/crash/crash.long.test.ts', ['containers']),
      kindOfTest('scripts/release/test/release.external.long.test.ts', ['tarballs']),
      kindOfTest('scripts/bench/test/aims.test.ts', ['containers']),
    ]
    expect(kinds).to.deep.equal(jobKinds.slice(2))
  })
})
