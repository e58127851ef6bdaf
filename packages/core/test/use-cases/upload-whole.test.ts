import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { BlobInfo } from '../../src/ports/blob.ts'
import { arrayOf, chunks } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { resumableFixture, resumableOf, served, sha256Of } from './resumable-fixture.ts'

const length = 6

describe('resumable.uploadWhole', () => {
  it('stores the file by one put, and keeps it as a published upload', async () => {
    const refuse = () => Promise.reject(new Error('not to be called'))
    const uploaded: BlobInfo[] = []
    const { files, resumable } = resumableFixture({
      change: () => ({
        begin: refuse,
        append: refuse,
      }),
      hooks: { onUploaded: ({ file }) => void uploaded.push(file) },
    })
    const plan = { length, note: 'n', createOnly: true, sha256: sha256Of('abcdef') }
    const upload = await resumable.uploadWhole('a', chunks('abc', 'def'), plan)
    const file = await files.stat('a')
    expect(upload).to.deep.include({ offset: 6, published: file })
    expect(upload.plan).to.deep.include({ ...plan, name: 'a' })
    expect(await resumable.state(upload.id)).to.deep.equal(upload)
    expect(await served(files, 'a')).to.equal('abcdef')
    expect(uploaded).to.deep.equal([file])
    expect((await resumable.publish(upload.id)).published).to.deep.equal(file)
  })

  const digestOf = (text: string) => ({
    hash: createHash('sha256'),
    expected: () => sha256Of(text),
  })
  for (const [what, content, options, code] of [
    ['fewer bytes than the length', 'abc', {}, 'upload-conflict'],
    ['more bytes than the length', 'abcdefg', {}, 'file-too-large'],
    ['another digest of the file', 'abcdef', { sha256: sha256Of('x') }, 'digest-mismatch'],
    ['another digest of the bytes', 'abcdef', { digest: digestOf('x') }, 'digest-mismatch'],
    ['a length above the limit', 'abcdef', { length: 11 }, 'file-too-large'],
    ['a taken name', 'abcdef', { createOnly: true }, 'already-exists'],
  ] as const) {
    it(`changes nothing by ${what}`, async () => {
      const { files, resumable } = resumableFixture({ maxFileSize: 10 })
      await files.upload('a', 'earlier')
      const upload = resumable.uploadWhole('a', chunks(content), { length, ...options })
      expect(await refusal(upload)).to.equal(code)
      expect(await served(files, 'a')).to.equal('earlier')
      expect(await arrayOf(resumable.list())).to.deep.equal([])
    })
  }

  it('changes nothing by a content that throws', async () => {
    const { files, resumable } = resumableFixture()
    const error = new Error('on purpose')
    async function* broken() {
      yield* chunks('abc')
      throw error
    }
    expect(await rejection(resumable.uploadWhole('a', broken(), { length }))).to.equal(error)
    expect(await refusal(files.stat('a'))).to.equal('not-found')
  })

  it('refuses what no upload may have', async () => {
    const { resumable } = resumableFixture()
    for (const wrong of [{ length: -1 }, { length, sha256: 'x' }, { length, note: '\ud800' }]) {
      const upload = resumable.uploadWhole('a', chunks('abcdef'), wrong)
      expect(await rejection(upload)).to.be.instanceOf(RangeError)
    }
  })

  it('resolves where the store fails to remember it: the file is safe', async () => {
    const { files, resumable } = resumableFixture({
      change: () => ({ remember: () => Promise.reject(new Error('on purpose')) }),
    })
    const upload = await resumable.uploadWhole('a', chunks('abcdef'), { length })
    expect(upload).to.deep.include({ offset: length, published: await files.stat('a') })
    expect(await refusal(resumable.state(upload.id))).to.equal('upload-not-found')
  })

  it('takes the file that it replaces for free space, as an upload does', async () => {
    const { service } = resumableFixture()
    const files = service.filesOf({ name: 'bob', quota: 10 })
    const resumable = resumableOf(files)
    for (let times = 0; times < 3; times++) {
      await resumable.uploadWhole('a', chunks('abcdef'), { length })
    }
    const more = resumable.uploadWhole('b', chunks('abcdef'), { length })
    expect(await refusal(more)).to.equal('quota-exceeded')
    await files.upload('b', 'four')
  })

  it('is no unfinished upload', async () => {
    const { resumable } = resumableFixture({ maxUnfinishedUploads: 1 })
    await resumable.begin('unfinished')
    await resumable.uploadWhole('a', chunks('abcdef'), { length })
  })
})
