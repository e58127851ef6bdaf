import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { cursorPath, openCursor, readCursor, saveCursor } from '../../src/events/cursor.ts'

describe('openCursor', () => {
  let directory: TemporaryDirectory
  let trail: string
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    trail = join(directory.path, 'audit.jsonl')
  })
  afterEach(() => directory.remove())

  it('makes one at the end of the trail, once', async () => {
    const line = '{"time":"2026-11-21T02:45:56.007Z"}\n'
    await writeFile(trail, line)
    const cursor = await openCursor(trail)
    expect(cursor.position.files).to.have.length(1)
    expect(cursor.position.files[0]).to.include({ offset: line.length, isRead: true })
    await writeFile(trail, line + line)
    expect(await openCursor(trail)).to.deep.equal(cursor)
  })

  it('has another source for each trail', async () => {
    const { source } = await openCursor(trail)
    expect((await openCursor(`${trail}2`)).source).not.to.equal(source)
  })

  it('is what was saved, and leaves no other file', async () => {
    const cursor = await openCursor(trail)
    const loss = { count: 3, since: 'a', until: 'b' }
    await saveCursor(trail, { ...cursor, losses: { expired: loss } })
    expect(await readCursor(trail)).to.deep.equal({ ...cursor, losses: { expired: loss } })
    expect(await readdir(directory.path)).to.deep.equal(['audit.jsonl.cursor'])
  })

  for (const text of ['', '{', 'null', '{"version":2}', '{"version":1}']) {
    it(`refuses the file "${text}", with the remedy`, async () => {
      await writeFile(cursorPath(trail), text)
      const { name, message } = await rejection(openCursor(trail))
      expect(name).to.equal('SetupError')
      expect(message)
        .to.match(/audit\.jsonl\.cursor cannot be read/)
        .and.match(/remove the file/i)
    })
  }

  it('says what to do where it cannot be written', async () => {
    const { name, message } = await rejection(openCursor(join(directory.path, 'none/audit.jsonl')))
    expect(name).to.equal('SetupError')
    expect(message).to.match(/cannot be kept beside the audit trail/)
  })
})
