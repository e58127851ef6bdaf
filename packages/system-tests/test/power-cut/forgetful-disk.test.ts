import { expect } from 'chai'
import { blockSize, createForgetfulDisk } from './forgetful-disk.ts'

const block = (text: string) => Buffer.alloc(blockSize, text)
const first = () => 0

function textAt(disk: ReturnType<typeof createForgetfulDisk>, index: number): string {
  return disk.read(index * blockSize, 1).toString()
}

describe('createForgetfulDisk', () => {
  it('reads zeros at first, then what was written last, at any place', () => {
    const disk = createForgetfulDisk(4 * blockSize)
    expect(disk.read(0, 10)).to.deep.equal(Buffer.alloc(10))
    disk.write(blockSize, Buffer.concat([block('a'), block('b')]))
    disk.write(blockSize, block('c'))
    expect(disk.read(2 * blockSize - 2, 4).toString()).to.equal('ccbb')
  })

  it('keeps what was flushed, and loses the rest', () => {
    const disk = createForgetfulDisk(4 * blockSize)
    disk.write(0, block('a'))
    disk.flush()
    disk.write(0, block('b'))
    disk.write(blockSize, block('c'))
    expect(disk.lose('all', first)).to.equal(2)
    expect([textAt(disk, 0), textAt(disk, 1)]).to.deep.equal(['a', '\0'])
  })

  it('loses any part of what was not flushed, in any order', () => {
    const outcomes = new Set<string>()
    for (let choice = 0; choice < 9; choice++) {
      const disk = createForgetfulDisk(4 * blockSize)
      disk.write(0, Buffer.concat([block('a'), block('b')]))
      disk.write(0, Buffer.concat([block('A'), block('B')]))
      const choices = [choice % 3, Math.floor(choice / 3)]
      disk.lose('part', () => choices.shift() ?? 0)
      outcomes.add(textAt(disk, 0) + textAt(disk, 1))
    }
    const expected = ['a', 'A', '\0'].flatMap((one) => ['b', 'B', '\0'].map((two) => one + two))
    expect([...outcomes].sort()).to.deep.equal(expected.sort())
  })

  it('has nothing to lose after a cut, and writes on', () => {
    const disk = createForgetfulDisk(4 * blockSize)
    disk.write(0, block('a'))
    disk.lose('all', first)
    disk.write(0, block('b'))
    disk.flush()
    expect(disk.lose('all', first)).to.equal(0)
    expect(textAt(disk, 0)).to.equal('b')
  })

  it('keeps a copy of what it is given', () => {
    const disk = createForgetfulDisk(4 * blockSize)
    const content = block('a')
    disk.write(0, content)
    content.fill('b')
    expect(textAt(disk, 0)).to.equal('a')
  })

  it('writes whole blocks only', () => {
    const disk = createForgetfulDisk(4 * blockSize)
    expect(() => disk.write(512, block('a'))).to.throw(RangeError, '4096 bytes at 512')
    expect(() => disk.write(0, Buffer.alloc(512))).to.throw(RangeError, '512 bytes at 0')
  })
})
