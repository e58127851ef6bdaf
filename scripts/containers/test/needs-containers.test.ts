import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { needsContainers } from '../needs-containers.ts'

const provider = "import { describeWithMinio } from '@holdfast/minio-container'\n"

async function needs(files: Record<string, string>, ...args: string[]): Promise<boolean> {
  return withRepository(files, async (root) => needsContainers(root, args))
}

describe('needsContainers', () => {
  it('is true where a test imports the package that starts containers', async () => {
    expect(await needs({ 'packages/a/test/a.test.ts': provider })).to.equal(true)
  })

  it('is true where a test imports it by way of other files', async () => {
    const files = {
      'packages/a/test/deep/a.test.ts': "import { b } from '../support/b.ts'\n",
      'packages/a/test/support/b.ts': "export * from './c.ts'\n",
      'packages/a/test/support/c.ts': `import './b.ts'\n${provider}`,
    }
    expect(await needs(files)).to.equal(true)
  })

  it("is true for that package's own tests", async () => {
    const files = {
      'packages/minio-container/test/a.test.ts': "import '../src/a.ts'\n",
      'packages/minio-container/src/a.ts': '',
    }
    expect(await needs(files)).to.equal(true)
  })

  it('is false where no test does', async () => {
    const files = {
      'packages/a/test/a.test.ts': "import { b } from './b.ts'\nimport 'chai'\n",
      'packages/a/test/b.ts': `// ${provider}`,
      'packages/a/test/unused.ts': provider,
    }
    expect(await needs(files)).to.equal(false)
  })

  it('looks at the tests that are named only', async () => {
    const files = {
      'packages/a/test/a.test.ts': provider,
      'packages/b/test/b.test.ts': '',
      'packages/b/node_modules/c/test/c.test.ts': provider,
    }
    expect(await needs(files, 'packages/b')).to.equal(false)
    expect(await needs(files, 'packages/b/test/b.test.ts', '--bail')).to.equal(false)
    expect(await needs(files, 'packages/a', 'packages/b')).to.equal(true)
    expect(await needs(files, '--grep', 'b')).to.equal(true)
  })
})
