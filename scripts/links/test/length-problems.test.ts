import { join } from 'node:path'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { lengthProblems } from '../length-problems.ts'

describe('lengthProblems', () => {
  it('finds none in this repository', () => {
    expect(lengthProblems(join(import.meta.dirname, '../../..'))).to.deep.equal([])
  })

  it('counts the lines of the README and of the pages, and nothing else', () => {
    const files = {
      'README.md': '# Two\nlines\n',
      'docs/api.md': '# One line\n',
      'docs/decisions/001-a.md': 'one\ntwo\nthree\n',
      'CHANGELOG.md': 'one\ntwo\nthree\n',
    }
    return withRepository(files, async (root) => {
      expect(lengthProblems(root, 3)).to.deep.equal([])
      expect(lengthProblems(root, 2)).to.deep.equal([
        'README.md and docs/*.md have 3 lines; a reader faces at most 2',
      ])
    })
  })
})
