import { expect } from 'chai'
import { groupTests } from '../group-tests.ts'

describe('groupTests', () => {
  it('puts the files of a folder that share a process together, and no others', () => {
    const groups = groupTests([
      'packages/core/test/a.test.ts',
      'packages/store-minio/test/a.test.ts',
      'packages/store-minio/test/b.test.ts',
      'packages/core/test/deep/b.test.ts',
    ])
    expect(groups).to.deep.equal([
      {
        title: 'packages/core/test (2 files)',
        files: ['packages/core/test/a.test.ts', 'packages/core/test/deep/b.test.ts'],
      },
      ...['a', 'b'].map((name) => {
        const file = `packages/store-minio/test/${name}.test.ts`
        return { title: file, files: [file] }
      }),
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
