import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openCursor, readCursor, saveCursor } from '../../src/events/cursor.ts'

describe('openCursor', () => {
  let directory: TemporaryDirectory
  let trail: string
  let file: string
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    trail = join(directory.path, 'audit.jsonl')
    file = `${trail}.cursor`
  })
  afterEach(() => directory.remove())

  it('makes one at the end of the trail, once', async () => {
    const line = '{"time":"2026-11-21T02:45:56.007Z"}\n'
    await writeFile(trail, line)
    const cursor = await openCursor(file, trail)
    expect(cursor.position.files).to.have.length(1)
    expect(cursor.position.files[0]).to.include({ offset: line.length, isRead: true })
    await writeFile(trail, line + line)
    expect(await openCursor(file, trail)).to.deep.equal(cursor)
  })

  it('has another source for each trail', async () => {
    const { source } = await openCursor(file, trail)
    expect((await openCursor(`${file}2`, trail)).source).not.to.equal(source)
  })

  it('is what was saved, and leaves no other file', async () => {
    const cursor = await openCursor(file, trail)
    const loss = { count: 3, since: 'a', until: 'b' }
    await saveCursor(file, { ...cursor, losses: { expired: loss } })
    expect(await readCursor(file)).to.deep.equal({ ...cursor, losses: { expired: loss } })
    expect(await readdir(directory.path)).to.deep.equal(['audit.jsonl.cursor'])
  })

  for (const text of ['', '{', 'null', '{"version":2}', '{"version":1}']) {
    it(`refuses the file "${text}", with the remedy`, async () => {
      await writeFile(file, text)
      const { name, message } = await rejection(openCursor(file, trail))
      expect(name).to.equal('SetupError')
      expect(message)
        .to.match(/audit\.jsonl\.cursor cannot be read/)
        .and.match(/remove the file/i)
    })
  }

  it('says what to do where it cannot be written', async () => {
    const { name, message } = await rejection(
      openCursor(join(directory.path, 'none/cursor'), trail),
    )
    expect(name).to.equal('SetupError')
    expect(message).to.match(/cannot be kept beside the audit trail/)
  })
})
