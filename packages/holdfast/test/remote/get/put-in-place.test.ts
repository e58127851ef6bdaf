import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { putInPlace } from '../../../src/remote/get/receive-file.ts'

describe('putInPlace', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(() => directory.remove())

  const place = () => join(directory.path, 'a')
  const begin = async (content: string) => {
    const from = join(directory.path, 'part')
    await writeFile(from, content)
    return { from, file: await open(from) }
  }

  it('replaces what is there', async () => {
    await writeFile(place(), 'old')
    const { from, file } = await begin('whole')
    putInPlace(file.fd, from, place())
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('whole')
  })

  it('leaves the beginning of a third command where it is, if another one was quicker', async () => {
    const { from, file } = await begin('whole')
    await rename(from, place())
    await writeFile(from, 'beginn')
    putInPlace(file.fd, from, place())
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('whole')
    expect(await readFile(from, 'utf8')).to.equal('beginn')
  })

  it('is content where another one was quicker', async () => {
    const { from, file } = await begin('whole')
    await rename(from, place())
    putInPlace(file.fd, from, place())
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('whole')
  })

  it('puts no beginning of a third command in place where its own file has been replaced', async () => {
    const { from, file } = await begin('whole')
    await rename(from, place())
    await writeFile(join(directory.path, 'later'), 'edited')
    await rename(join(directory.path, 'later'), place())
    await writeFile(from, 'beginn')
    expect(() => putInPlace(file.fd, from, place())).to.throw('has changed meanwhile')
    await file.close()
    expect(await readFile(place(), 'utf8')).to.equal('edited')
    expect(await readFile(from, 'utf8')).to.equal('beginn')
  })
})
