import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { makeTemporaryDirectory } from '../../../packages/testing/src/site.ts'
import { recordTerminal } from '../record-terminal.ts'
import { recordTerminals } from '../record-terminals.ts'
import { pictures, takePictures } from '../take-pictures.ts'
import { takeStates } from '../take-states.ts'

const committed = join(import.meta.dirname, '../../../docs/pictures')
const names = Object.keys(pictures).map((name) => `${name}.png`)

/** The first bytes of every PNG, with its size behind the name of the first chunk (ISO/IEC 15948, 5.2 and 11.2.2). */
function sizeOf(png: Buffer): { width: number; height: number } {
  expect(png.subarray(0, 8).toString('latin1')).to.equal('\x89PNG\r\n\x1a\n')
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

function expectPictures(folder: string): void {
  const found = readdirSync(folder).filter((name) => name.endsWith('.png'))
  expect(found.sort()).to.deep.equal(names.toSorted())
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

describe('takeStates and recordTerminals', () => {
  it('take those that are named, and report what cannot be reached', async () => {
    await using folder = await makeTemporaryDirectory()
    const problems: string[] = []
    const sheets = await takeStates(folder.path, (problem) => problems.push(problem), [
      'filtered',
      'link-upload',
    ])
    expect(problems).to.deep.equal([])
    expect(sheets).to.have.length(6)
    const terminals = await recordTerminals(folder.path, ['list-40-columns', 'pipe'])
    expect(terminals).to.have.length(2)
    const phone = readFileSync(join(folder.path, 'filtered-360-dark.png'))
    expect(sizeOf(phone)).to.deep.equal({ width: 360, height: 740 })
    // 12 pictures, and 6 sheets of them.
    expect(readdirSync(folder.path)).to.have.length(12 + 6 + 2)
    for (const path of [...sheets, ...terminals]) {
      expect(readFileSync(path).length, path).to.be.greaterThan(5_000)
    }
  })
})

describe('recordTerminal', () => {
  const expectRecording = (folder: string) => {
    const recording = readFileSync(join(folder, 'terminal.svg'), 'utf8').replaceAll('\u00a0', ' ')
    expect(recording.length).to.be.within(20_000, 150_000)
    // What the last commands print, on the last screen.
    for (const text of [
      'holdfast pull copy',
      'Fetched 3 files',
      'holdfast verify copy',
      '3 the same',
    ]) {
      expect(recording).to.include(text)
    }
    expect(recording).not.to.match(/127\.0\.0\.1|\/tmp\//)
    const seconds = Number(/dur="([\d.]+)s"/.exec(recording)?.[1])
    expect(seconds).to.be.within(20, 45)
  }

  it('records what the command prints', async () => {
    const folder = await makeTemporaryDirectory()
    try {
      await recordTerminal(folder.path)
      expectRecording(folder.path)
    } finally {
      await folder.remove()
    }
  })

  it('has recorded that in docs/pictures', () => expectRecording(committed))
})
