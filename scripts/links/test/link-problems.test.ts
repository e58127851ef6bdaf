import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { linkProblems } from '../link-problems.ts'

describe('linkProblems', () => {
  it('finds none where every link leads somewhere', async () => {
    const files = {
      'README.md':
        '[API](docs/api.md#uploading-a-file), [code](scripts), <https://example.org>\n\n![x][y]\n\n[y]: LICENSE',
      'docs/api.md':
        '# API\n\n## Uploading a file\n\n[up](../README.md) [here](#api) [mail](mailto:a@example.org)',
      'scripts/start': '',
      LICENSE: '',
    }
    expect(await withRepository(files, linkProblems)).to.deep.equal([])
  })

  it('names the file and the link that leads to no file', async () => {
    const files = { 'packages/core/README.md': 'See [the API](../../docs/api.md "all of it").' }
    expect(await withRepository(files, linkProblems)).to.deep.equal([
      'packages/core/README.md: ../../docs/api.md leads to no file',
    ])
  })

  it('names a reference-style link and an image that lead to no file', async () => {
    const files = { 'docs/a.md': '![plan](plan.png)\n\n[b]: ./b.md\n' }
    expect(await withRepository(files, linkProblems)).to.deep.equal([
      'docs/a.md: plan.png leads to no file',
      'docs/a.md: ./b.md leads to no file',
    ])
  })

  it('names a link to a heading that is not there', async () => {
    const files = { 'README.md': '# Use\n\n## Use\n\n[1](#use) [2](#use-1) [3](#use-2)' }
    expect(await withRepository(files, linkProblems)).to.deep.equal([
      'README.md: #use-2 names no heading',
    ])
  })

  it('names a link out of the repository, even to a file that exists', async () => {
    const files = { 'README.md': '[passwords](../../../../../../etc/passwd)' }
    expect(await withRepository(files, linkProblems)).to.deep.equal([
      'README.md: ../../../../../../etc/passwd leads out of the repository',
    ])
  })

  it('leaves code alone', async () => {
    const files = { 'README.md': '`[a](b.md)`\n\n```md\n[a](b.md)\n# no heading\n```\n' }
    expect(await withRepository(files, linkProblems)).to.deep.equal([])
  })
})
