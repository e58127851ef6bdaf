import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { makeTemporaryDirectory } from '../../../packages/testing/src/site.ts'
import { pictures, takePictures } from '../take-pictures.ts'

const committed = join(import.meta.dirname, '../../../docs/pictures')
const names = Object.keys(pictures).map((name) => `${name}.png`)

/** The first bytes of every PNG, with its size behind the name of the first chunk (ISO/IEC 15948, 5.2 and 11.2.2). */
function sizeOf(png: Buffer): { width: number; height: number } {
  expect(png.subarray(0, 8).toString('latin1')).to.equal('\x89PNG\r\n\x1a\n')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

function expectPictures(folder: string): void {
  expect(readdirSync(folder).sort()).to.deep.equal(names.toSorted())
  for (const [name, size] of Object.entries(pictures)) {
    const png = readFileSync(join(folder, `${name}.png`))
    expect(sizeOf(png), name).to.deep.equal(size)
    // What is larger makes the README slow; what is smaller shows nothing.
    expect(png.length, name).to.be.within(10_000, 150_000)
  }
}

describe('takePictures', () => {
  it('takes each picture of the page', async () => {
    const folder = await makeTemporaryDirectory()
    try {
      await takePictures(folder.path)
      expectPictures(folder.path)
    } finally {
      await folder.remove()
    }
  })

  it('has taken those in docs/pictures', () => expectPictures(committed))
})
