import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { documentProblems } from '../document-problems.ts'
import { generatedDocuments } from '../documents.ts'
import { otherS3Servers } from '../other-s3-servers.ts'
import { resultsOf, suiteOf } from './result-fixtures.ts'

const stores = [{ name: 'memory', suites: [suiteOf('memory')] }]
const results = resultsOf('memory', { 'ranges > reads everything': true })
const readme = `# Stores

<!-- contract results: written by a program -->

| old |
| --- |

<!-- end of contract results -->

The end.
`
const minio = `# MinIO

<!-- other S3 servers: written by a program -->

| old |
| --- |

<!-- end of other S3 servers -->

The end.
`

const documents = {
  'README.md': readme,
  'docs/minio.md': minio,
  'packages/contract/README.md': '',
}

/** A repository whose documents tell of `results`. */
function withDocuments(use: (root: string) => Promise<void>): Promise<void> {
  return withRepository(documents, async (root) => {
    for (const { path, wanted } of await generatedDocuments(root, stores, results)) {
      await writeFile(join(root, path), wanted)
    }
    await use(root)
  })
}

describe('documentProblems', () => {
  it('finds none where the documents say what the tests gave', () =>
    withDocuments(async (root) => {
      expect(await documentProblems(root, stores, results)).to.deep.equal([])
    }))

  it('finds a document that is missing', () =>
    withRepository({ 'README.md': readme, 'docs/minio.md': minio }, async (root) => {
      const problems = await documentProblems(root, stores, results)
      expect(problems.join('\n')).to.match(
        /^packages\/contract\/results\.md is not what .* line 1 /m,
      )
    }))

  it('finds what the tests do not give any more, and says where', () =>
    withDocuments(async (root) => {
      const failed = resultsOf('memory', { 'ranges > reads everything': false })
      const problems = await documentProblems(root, stores, failed)
      expect(problems).to.have.length(2)
      expect(problems[0]).to.contain('README.md').and.to.contain('| memory | 0/1          |')
      expect(problems[1]).to.contain('FAILED  reads everything')
    }))

  it('finds a file that was written further by hand', () =>
    withDocuments(async (root) => {
      const path = join(root, 'packages/contract/results.md')
      await writeFile(path, `${await readFile(path, 'utf8')}more\n`)
      expect((await documentProblems(root, stores, results))[0]).to.contain('results.md')
    }))

  it('says that a store is missing rather than what its column should be', () =>
    withDocuments(async (root) => {
      const both = [...stores, { name: 'disk', suites: [suiteOf('disk')] }]
      expect(await documentProblems(root, both, results)).to.deep.equal([
        'there is no result of the suite "disk": it did not run',
      ])
    }))
})

describe('generatedDocuments', () => {
  it('changes nothing of a document but the block', () =>
    withDocuments(async (root) => {
      const written = await readFile(join(root, 'README.md'), 'utf8')
      expect(written).to.match(/^# Stores\n\n<!-- contract results: .*-->\n\n\| store /)
      expect(written).to.match(/\n\n<!-- end of contract results -->\n\nThe end\.\n$/)
      const servers = await readFile(join(root, 'docs/minio.md'), 'utf8')
      expect(servers).to.match(/\n\n<!-- end of other S3 servers -->\n\nThe end\.\n$/)
      expect(written + servers).not.to.contain('| old')
    }))

  it('names the other S3 servers with their versions', () =>
    withDocuments(async (root) => {
      const written = await readFile(join(root, 'docs/minio.md'), 'utf8')
      for (const kind of otherS3Servers) {
        expect(written).to.match(new RegExp(`^\\| ${kind} \\d+\\.\\d+\\.\\d+ +\\| \\d+`, 'm'))
      }
    }))

  for (const path of ['README.md', 'docs/minio.md'] as const) {
    it(`rejects when ${path} has no block`, () =>
      withRepository({ ...documents, [path]: '# Stores\n' }, async (root) => {
        const error: unknown = await generatedDocuments(root, stores, results).catch(
          (reason: unknown) => reason,
        )
        expect(String(error)).to.contain(`${path} has no block`)
      }))
  }
})
