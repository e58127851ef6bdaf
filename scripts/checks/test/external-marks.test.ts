import { join } from 'node:path'
import { expect } from 'chai'
import { chooseTests } from '../choose-tests.ts'
import { hasMark } from '../has-mark.ts'
import { parseArguments } from '../parse-arguments.ts'
import { needsByFile, type TestNeed } from '../test-needs.ts'

const root = join(import.meta.dirname, '../../..')
const { files } = chooseTests(root, parseArguments(['--all']))
const external = files.filter((file) => hasMark(file, 'external'))

/** Where a failure is what the test is for, so that no second run may hide it. */
const finds =
  /crash|power-cut|linearizab|soak|fuzz|fault|quota|contract|race|memory|killed|sudden-death|schemathesis|black-box|endurance\/large-file/

/** Programs that a test cannot use without running them. */
const others: readonly TestNeed[] = ['browsers', 'tarballs', 'images', 'arm', 'java']

/** They use these programs to show what holdfast does itself, or read only which there are. */
const exceptions = [
  // A browser is found, not run.
  'packages/testing/test/browsers/find-browser.test.ts',
  // It packs, and reads what it has packed.
  'scripts/release/test/pack-packages.test.ts',
  'scripts/release/test/tarballs.test.ts',
]

describe('The mark `external`', () => {
  it('stands at no test whose failure is a find', () => {
    expect(external.filter((file) => finds.test(file))).to.deep.equal([])
  })

  it('stands at each test that drives browsers or installs packages', () => {
    const missing = [...needsByFile(root, files)]
      .filter(([, needs]) => needs.some((need) => others.includes(need)))
      .map(([file]) => file)
      .filter((file) => !external.includes(file) && !exceptions.includes(file))
    expect(missing).to.deep.equal([])
  })
})
