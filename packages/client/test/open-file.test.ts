import { appendFileSync } from 'node:fs'
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { openFile } from '../src/index.ts'
import { all } from './support/all.ts'
import { contentOf, mebibyte } from './support/content.ts'
import { useService } from './support/use-service.ts'

describe('openFile', function () {
  this.timeout(60_000)
  const service = useService()

  for (const mayBlock of [false, true]) {
    const where = mayBlock ? ', where reads may block' : ''

    it(`stores a file of this machine${where}`, async () => {
      await using place = await makeTemporaryDirectory()
      for (const size of [0, 5, 17 * mebibyte]) {
        const path = join(place.path, 'file')
        await writeFile(path, contentOf(size))
        await service.client.upload('file', await openFile(path, { mayBlock }))
        expect((await service.stored('file')).equals(contentOf(size))).to.equal(true)
      }
      expect(await rejection(openFile(join(place.path, 'missing'), { mayBlock }))).to.include({
        code: 'ENOENT',
      })
    })

    it(`fails where the file has changed since${where}`, async () => {
      await using place = await makeTemporaryDirectory()
      for (const size of [5, 17 * mebibyte]) {
        const path = join(place.path, 'file')
        await writeFile(path, contentOf(size))
        const opened = await openFile(path, { mayBlock })
        await appendFile(path, 'more')
        expect(await rejection(service.client.upload('file', opened))).to.include({
          code: 'changed-meanwhile',
        })
      }
      expect(await all(service.client.list())).to.deep.equal([])
    })

    it(`fails where the file changes while it is read, and nothing has changed${where}`, async () => {
      await using place = await makeTemporaryDirectory()
      const path = join(place.path, 'file')
      await service.client.upload('file', 'old')
      for (const size of [5 * mebibyte, 17 * mebibyte]) {
        await writeFile(path, contentOf(size))
        let hasChanged = false
        const upload = service.client.upload('file', await openFile(path, { mayBlock }), {
          onProgress({ sent }) {
            if (sent === 0 || hasChanged) return
            hasChanged = true
            appendFileSync(path, 'more')
          },
        })
        expect(await rejection(upload)).to.include({ code: 'changed-meanwhile' })
        expect((await service.stored('file')).toString()).to.equal('old')
      }
    })
  }

  // Their sizes are 0 and 4096, whatever they contain.
  const withFalseSizes = ['/proc/version', '/sys/kernel/mm/transparent_hugepage/enabled']
  for (const path of process.platform === 'linux' ? withFalseSizes : []) {
    it(`stores all of ${path}, whose size is not the length of its content`, async () => {
      const content = await readFile(path)
      expect(content.length).to.be.greaterThan(0)
      const opened = await openFile(path)
      expect(opened.size).to.equal(content.length)
      await service.client.upload('file', opened)
      expect((await service.stored('file')).equals(content)).to.equal(true)
      await all(service.client.uploadMany([{ name: 'many', body: await openFile(path) }]))
      expect((await service.stored('many')).equals(content)).to.equal(true)
    })
  }

  it('stores a file that is one hole', async () => {
    await using place = await makeTemporaryDirectory()
    const path = join(place.path, 'file')
    await writeFile(path, '')
    await truncate(path, 17 * mebibyte)
    await service.client.upload('file', await openFile(path))
    expect((await service.stored('file')).equals(Buffer.alloc(17 * mebibyte))).to.equal(true)
  })

  it('gives chunks that stay as they are, to whoever reads it outside of an upload', async () => {
    await using place = await makeTemporaryDirectory()
    const path = join(place.path, 'file')
    const content = contentOf(2 * mebibyte)
    await writeFile(path, content)
    const slice = (await openFile(path)).slice(1, content.length)
    if (!(Symbol.asyncIterator in slice)) throw new Error('No chunks')
    const chunks = await all(slice)
    expect(Buffer.concat(chunks).equals(content.subarray(1))).to.equal(true)
  })
})
