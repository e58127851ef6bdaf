import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { UploadContent } from '../../src/model/upload-content.ts'
import { refusal, rejection } from '../rejection.ts'
import { alice, uploadFixture } from './upload-fixture.ts'

const bytes = Buffer.from('zoë')

/** A `ReadableStream` as browsers have it that do not iterate over streams. */
function withoutIterator(stream: ReadableStream<Uint8Array>): UploadContent {
  return { getReader: () => stream.getReader() }
}

const taken: Readonly<Record<string, () => UploadContent>> = {
  'a Uint8Array': () => new Uint8Array(bytes),
  'a Buffer': () => bytes,
  'a string, as UTF-8': () => 'zoë',
  'a Blob': () => new Blob([bytes]),
  'a File': () => new File([bytes], 'zoe.txt'),
  'a ReadableStream': () => new Blob([bytes]).stream(),
  'a ReadableStream that cannot be iterated over': () =>
    withoutIterator(new Blob([bytes]).stream()),
  'a Response': () => new Response(bytes),
  'a Node stream': () => Readable.from([bytes]),
}

const empty: Readonly<Record<string, () => UploadContent>> = {
  'a Uint8Array': () => new Uint8Array(),
  'a string': () => '',
  'a Blob': () => new Blob([]),
  'a Response': () => new Response(),
  'a stream': () => Readable.from([]),
}

describe('uploadFile with content of several kinds', () => {
  for (const [what, content] of Object.entries(taken)) {
    it(`stores ${what}`, async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      expect((await upload('a', content())).size).to.equal(4)
      expect(await kept()).to.deep.equal({ a: 'zoë' })
      await expectRoom(96)
    })
  }

  for (const [what, content] of Object.entries(empty)) {
    it(`stores ${what} without content`, async () => {
      const { upload, kept } = uploadFixture()
      await upload('a', content())
      expect(await kept()).to.deep.equal({ a: '' })
    })
  }

  for (const content of ['x'.repeat(11), Buffer.alloc(11), new Blob([Buffer.alloc(11)])]) {
    it(`refuses a ${content.constructor.name} that is too large before it is read`, async () => {
      const { upload } = uploadFixture({
        maxFileSize: 10,
        put: () => expect.fail('put was called'),
      })
      expect(await refusal(upload('a', content))).to.equal('file-too-large')
    })
  }

  it('counts the bytes of a string, not its characters', async () => {
    const { upload } = uploadFixture({ maxFileSize: 3 })
    expect(await refusal(upload('a', 'zoë'))).to.equal('file-too-large')
  })

  it('closes a ReadableStream that it does not read to its end', async () => {
    const { upload } = uploadFixture({ maxFileSize: 3 })
    const closed = Promise.withResolvers<unknown>()
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(2)),
      cancel: closed.resolve,
    })
    expect(await refusal(upload('a', withoutIterator(stream)))).to.equal('file-too-large')
    await closed.promise
  })

  it('fails as a ReadableStream fails', async () => {
    const { upload, kept } = uploadFixture()
    const failure = new Error('The source failed')
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(2)),
      pull: (controller) => controller.error(failure),
    })
    expect(await rejection(upload('a', withoutIterator(stream)))).to.equal(failure)
    expect(await kept()).to.deep.equal({})
  })
})

/** What is no content, and what an error says of it. */
const refused: Readonly<Record<string, readonly [content: unknown, words: RegExp]>> = {
  'nothing at all': [undefined, /not undefined/],
  null: [null, /not null/],
  'a number': [7, /not a number/],
  'an object': [{ size: 7 }, /not an Object/],
  'an array of bytes': [[1, 2, 3], /not an Array/],
  'an ArrayBuffer': [new ArrayBuffer(3), /not an ArrayBuffer.*new Uint8Array/],
  'words of 16 bits': [new Uint16Array(3), /not a Uint16Array/],
  'a promise of content': [Promise.resolve(bytes), /not a Promise.*await/],
  'half of a character': ['a\ud83d', /surrogate/],
}

async function read(stream: Readable): Promise<Readable> {
  await stream.toArray()
  return stream
}

describe('uploadFile with what is no content', () => {
  for (const [what, [content, words]] of Object.entries(refused)) {
    it(`refuses ${what}, and says what to pass`, async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      const error = await rejection(upload('a', content as UploadContent))
      expect(error).to.be.instanceOf(TypeError)
      expect(error).to.have.property('message').that.matches(words)
      expect(await kept()).to.deep.equal({})
      await expectRoom(alice.quota)
    })
  }

  it('refuses a Node stream that was read to its end before', async () => {
    const { upload, kept } = uploadFixture()
    const error = await rejection(upload('a', await read(Readable.from([bytes]))))
    expect(error).to.be.instanceOf(TypeError)
    expect(error).to.have.property('message').that.matches(/read/)
    expect(await kept()).to.deep.equal({})
  })

  it('takes a Node stream that ended without having had any bytes', async () => {
    const { upload, kept } = uploadFixture()
    await upload('a', await read(Readable.from([])))
    expect(await kept()).to.deep.equal({ a: '' })
  })

  it('refuses a Response whose body was used', async () => {
    const { upload } = uploadFixture()
    const response = new Response('text')
    await response.text()
    const error = await rejection(upload('a', response))
    expect(error).to.be.instanceOf(TypeError)
    expect(error).to.have.property('message').that.matches(/read/)
  })

  it('refuses a Response that is an error, whose body is not what was asked for', async () => {
    const { upload, kept } = uploadFixture()
    const error = await rejection(upload('a', new Response('Not Found', { status: 404 })))
    expect(error).to.be.instanceOf(TypeError)
    expect(error)
      .to.have.property('message')
      .that.matches(/404.*response\.body/)
    expect(await kept()).to.deep.equal({})
  })

  it('judges the name first', async () => {
    const { upload } = uploadFixture()
    expect(await refusal(upload('a/b', 7 as unknown as UploadContent))).to.equal(
      'invalid-file-name',
    )
  })
})
