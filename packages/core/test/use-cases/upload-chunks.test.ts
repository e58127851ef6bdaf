import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import { rejection } from '../rejection.ts'
import { uploadFixture } from './upload-fixture.ts'

/** Chunks that are not bytes, and how an error names them. */
const refused: Readonly<Record<string, readonly [chunk: unknown, words: string]>> = {
  'a string': ['text', 'a string'],
  'an empty string': ['', 'a string'],
  'an array of numbers': [[104, 105], 'an Array'],
  'an ArrayBuffer': [new ArrayBuffer(2), 'an ArrayBuffer'],
  'a view of another kind': [new Uint16Array(2), 'a Uint16Array'],
  'a DataView': [new DataView(new ArrayBuffer(2)), 'a DataView'],
  'a number': [2, 'a number'],
  'a list in disguise': [{ length: 2 }, 'an Object'],
  null: [null, 'null'],
  undefined: [undefined, 'undefined'],
}

async function* yielding(...all: readonly unknown[]): AsyncGenerator<Uint8Array> {
  // What the types refuse still comes from streams, whose chunks are `any`, and from JavaScript.
  yield* all as Uint8Array[]
}

describe('uploadFile with chunks that are not bytes', () => {
  for (const [what, [chunk, words]] of Object.entries(refused)) {
    it(`refuses ${what}, and says so`, async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      await upload('a', yielding(Buffer.from('earlier')))
      const error = await rejection(upload('a', yielding(Buffer.from('x'), chunk)))
      expect(error).to.be.instanceOf(TypeError)
      expect(error).to.have.property('message').that.includes(`not ${words}`)
      expect(error).to.have.property('message').that.includes('Uint8Array')
      expect(await kept()).to.deep.equal({ a: 'earlier' })
      await expectRoom(93)
    })
  }

  it('refuses them before their digest or the quota is asked', async () => {
    const { upload } = uploadFixture({ maxFileSize: 0 })
    const hash = { update: () => expect.fail('hashed'), digest: () => '' }
    const options = { digest: { hash, expected: () => '' } }
    const error = await rejection(upload('a', yielding('text'), options))
    expect(error).to.be.instanceOf(TypeError)
  })

  it('closes the content', async () => {
    const { upload } = uploadFixture()
    const stream = Readable.from(['text', 'more'])
    await rejection(upload('a', stream))
    expect(stream.destroyed).to.equal(true)
  })

  it('says what to do about a stream that decodes', async () => {
    const { upload } = uploadFixture()
    const decoding = Readable.from([Buffer.from('text')], { objectMode: false }).setEncoding('utf8')
    const error = await rejection(upload('a', decoding))
    expect(error)
      .to.have.property('message')
      .that.matches(/encoding/)
  })

  it('refuses bytes that were transferred elsewhere', async () => {
    const { upload, kept } = uploadFixture()
    const bytes = new Uint8Array(5)
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    const error = await rejection(upload('a', yielding(bytes)))
    expect(error).to.be.instanceOf(TypeError)
    expect(error).to.have.property('message').that.includes('detached')
    expect(await kept()).to.deep.equal({})
  })

  it('takes bytes of another realm, such as those of a test runner', async () => {
    const { upload, kept } = uploadFixture()
    await upload('a', yielding(runInNewContext('Uint8Array.of(104, 105)')))
    expect(await kept()).to.deep.equal({ a: 'hi' })
  })
})
