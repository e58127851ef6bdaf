import { expect } from 'chai'
import { groupTests } from '../group-tests.ts'
import { slowTests } from '../slow-tests.ts'

describe('groupTests', () => {
  it('puts the files of a folder together, of some packages all files', () => {
    const files = [
      'packages/core/test/a.test.ts',
      'packages/server/test/tls/a.test.ts',
      'packages/core/test/deep/b.test.ts',
      'packages/server/test/tls/b.test.ts',
      'packages/server/test/tls/deep/b.test.ts',
    ]
    const [a, tlsA, b, tlsB, deep] = files
    expect(groupTests(files)).to.deep.equal([
      { title: 'packages/core/test (2 files)', files: [a, b] },
      { title: 'packages/server/test/tls (2 files)', files: [tlsA, tlsB] },
      { title: deep, files: [deep] },
    ])
  })

  it('leaves tests of the product as a whole to themselves, and those that take longest', () => {
    const [slow = ''] = slowTests
    const files = ['a', 'b'].map((name) => `packages/system-tests/test/docs/${name}.test.ts`)
    files.push(slow, slow.replace(/[^/]+$/, 'other.test.ts'))
    expect(groupTests(files).map(({ title }) => title)).to.deep.equal(files)
  })

  it('puts the files together that share browsers, without those that take longest', () => {
    const [a, b, plain] = ['a.external', 'b.external.long', 'c'].map(
      (name) => `packages/web/test/browser/${name}.test.ts`,
    )
    const large = 'packages/web/test/browser/large-file.external.long.test.ts'
    expect(slowTests).to.include(large)
    const files = [a, b, large, plain].filter((file) => file !== undefined)
    expect(groupTests(files)).to.deep.equal([
      { title: 'packages/web/test/browser (2 files)', files: [a, b] },
      { title: large, files: [large] },
      { title: plain, files: [plain] },
    ])
  })

  it('names a single file as it is called', () => {
    const file = 'packages/core/test/a.test.ts'
    expect(groupTests([file])).to.deep.equal([{ title: file, files: [file] }])
  })

  it('leaves a file that its name sets apart to itself', () => {
    const files = ['alone', 'long', 'external'].map(
      (mark) => `packages/core/test/a.${mark}.test.ts`,
    )
    expect(groupTests(files).map(({ title }) => title)).to.deep.equal(files)
  })
})
