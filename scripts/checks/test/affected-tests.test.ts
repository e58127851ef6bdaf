import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { affectedTests } from '../affected-tests.ts'

const near = 'packages/a/test/near.test.ts'
const far = 'packages/a/test/far.test.ts'
const files = {
  [near]: "import '../src/a.ts'\nimport '@holdfast/b/part'\n",
  [far]: "import './support.ts'\n",
  'packages/a/test/support.ts': "import '../src/deep/b.ts'\n",
  'packages/a/test/sample.json': '',
  'packages/a/src/a.ts': "import './deep/b.ts'\n",
  'packages/a/src/deep/b.ts': "import '../a.ts'\n",
}

/** Which of both tests run again. */
function affected(...changed: string[]): Promise<string[]> {
  return withRepository(files, async (root) => affectedTests(root, [near, far], changed))
}

describe('affectedTests', () => {
  it('are a test itself, and those that import what has changed, however far away', async () => {
    expect(await affected(near)).to.deep.equal([near])
    expect(await affected('packages/a/test/support.ts')).to.deep.equal([far])
    expect(await affected('packages/a/src/deep/b.ts')).to.deep.equal([near, far])
    expect(await affected('packages/a/test/support.ts', near)).to.deep.equal([near, far])
  })

  it('are those that import a package, or a part of it, that has been built', async () => {
    expect(await affected('packages/b/dist/index.js')).to.deep.equal([near])
    expect(await affected('packages/c/dist/index.js')).to.deep.equal([])
  })

  it('are all if no file imports what has changed, which may be read', async () => {
    expect(await affected('packages/a/test/sample.json')).to.deep.equal([near, far])
  })

  it('are none where that is gone', async () => {
    expect(await affected('packages/a/test/left-by-a-test.ts')).to.deep.equal([])
  })
})
