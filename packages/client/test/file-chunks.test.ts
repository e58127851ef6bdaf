import { open, truncate, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { blockingChunks, freshChunks, reusedChunks } from '../src/calls/open-file.ts'
import { contentOf, mebibyte } from './support/content.ts'

const kinds: Readonly<Record<string, typeof freshChunks>> = {
  freshChunks,
  reusedChunks,
  'blockingChunks, of a disk that is never slow': (range) => blockingChunks(range, Infinity),
  'blockingChunks, of a disk that is always slow': (range) => blockingChunks(range, 0),
}

for (const [title, chunksOf] of Object.entries(kinds)) {
  describe(title, () => {
    let place: TemporaryDirectory
    let path = ''
    let file: FileHandle
    const content = contentOf(33 * mebibyte + 5)

    before(async () => {
      place = await makeTemporaryDirectory()
      path = join(place.path, 'file')
    })
    beforeEach(async () => {
      await writeFile(path, content)
      file = await open(path)
    })
    afterEach(() => file.close())
    after(() => place.remove())

    it('gives the bytes of a range', async () => {
      const step = 64 * 1024
      const ranges = [1, step - 1, step, step + 1, mebibyte, content.length - 7].flatMap((size) => [
        { start: 0, end: size },
        { start: 7, end: size + 7 },
      ])
      for (const { start, end } of ranges) {
        let at = start
        for await (const chunk of chunksOf({ file, start, end })) {
          expect(chunk.length).to.be.above(0)
          // At once: what comes next may take its place.
          expect(chunk.equals(content.subarray(at, at + chunk.length))).to.equal(true)
          at += chunk.length
        }
        expect(at).to.equal(end)
      }
    })

    it('gives an empty chunk, and no other, where the file is shorter', async () => {
      for (const size of [0, 64 * 1024, 3 * mebibyte + 1, 16 * mebibyte + 64 * 1024]) {
        await truncate(path, size)
        const lengths: number[] = []
        for await (const { length } of chunksOf({ file, start: 0, end: content.length })) {
          lengths.push(length)
        }
        expect(lengths.pop()).to.equal(0)
        expect(lengths).not.to.include(0)
        expect(lengths.reduce((sum, length) => sum + length, 0)).to.equal(size)
        await writeFile(path, content)
      }
    })

    it('lets other work run, however quickly the chunks are taken', async () => {
      const end = 4096 * mebibyte
      await truncate(path, end)
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      try {
        for await (const _ of chunksOf({ file, start: 0, end })) if (turns > 2) break
      } finally {
        clearInterval(timer)
      }
      expect(turns).to.be.above(2)
    })
  })
}
