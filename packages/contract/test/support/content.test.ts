import { expect } from 'chai'
import { digest, pattern, chunks, generated } from '../../src/support/content.ts'

describe('pattern', () => {
  const known: readonly (readonly [number, number])[] = [
    [0, 1],
    [1, 1],
    [65_537, 1],
    [65_537, 2],
  ]
  it('is the same on every machine and in every version', async () => {
    const found = []
    for (const [size, seed] of known) found.push((await digest([pattern(size, { seed })])).sha256)
    expect(found).to.deep.equal([
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'f8d20e598df20877e4d826246fc31ffb4615cbc059aec9ec8e5b28951d844a3f',
      'a535aa3f8468d78ad09802eeb5fd71d9172df7783fb6ef8a037ab3f29539d72d',
      'f29452c5b952600261bc03a982dbad51913be6fe7dcd7ab2bf67f270aef47088',
    ])
  })

  it('goes on from any offset as if begun at the start', () => {
    const whole = pattern(1000, { seed: 3 })
    for (const offset of [1, 2, 3, 4, 501]) {
      const rest = pattern(1000 - offset, { seed: 3, offset })
      expect(Buffer.compare(rest, whole.subarray(offset))).to.equal(0)
    }
  })

  it('is what generated content consists of', async () => {
    expect(await digest(generated(200_001, 5))).to.deep.equal(
      await digest(chunks(pattern(200_001, { seed: 5 }))),
    )
  })
})
