import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../src/index.ts'

/** What the store says to these options. */
const refusalOf = (options: unknown) =>
  openDiskBlobStore(options as never).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('openDiskBlobStore with what is wrong', () => {
  const directory = '/nowhere'
  const wrong: readonly (readonly [options: unknown, words: RegExp])[] = [
    [undefined, /Options are missing: openDiskBlobStore\(\{ directory \}\)/],
    ['./x', /Options must be an object, not a string: openDiskBlobStore/],
    [{}, /directory is missing/],
    [{ directory: 5 }, /directory must be a string/],
    [{ directory, names: 'flat' }, /names must be "plain" or "escaped", not "flat"/],
    [{ directory, writer: '1' }, /writer must be a whole number from 0 to 9, not "1"/],
    [{ directory, writer: 10 }, /writer.*10/],
    [{ directory, cacheBytes: '1M' }, /cacheBytes.*"1M"/],
    [{ directory, log: () => {} }, /log must be an object/],
  ]
  for (const [options, words] of wrong) {
    it(`says ${words.source}`, async () => {
      const error = await refusalOf(options)
      expect(error).to.be.instanceOf(Error).with.property('message').that.matches(words)
    })
  }

  it('says that the directory, or a part of its path, is a file', async () => {
    await using temporary = await makeTemporaryDirectory()
    const file = join(temporary.path, 'file')
    await writeFile(file, 'x')
    expect(await refusalOf({ directory: file })).to.include({
      problem: `The directory ${file} cannot be used, since it is a file`,
    })
    const below = join(file, 'data')
    expect(await refusalOf({ directory: below })).to.include({
      problem: `The directory ${below} cannot be used, since a part of its path is a file`,
    })
  })
})
