import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { chunks } from '../content.ts'
import { rejection } from '../rejection.ts'
import { uploadFixture } from './upload-fixture.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('uploadFile, a digest that is unlikely', () => {
  const unlikely = (expected: string | undefined) => {
    const hash = createHash('sha256')
    let hashed = 0
    const counting = {
      update(bytes: Uint8Array) {
        hashed += bytes.length
        hash.update(bytes)
      },
      digest: () => hash.digest('hex'),
    }
    const digest = { hash: counting, expected: () => expected, isUnlikely: true }
    return { digest, hashed: () => hashed }
  }

  it('costs no hashing where none is expected', async () => {
    const { upload, kept } = uploadFixture()
    const { digest, hashed } = unlikely(undefined)
    await upload('a', chunks('one ', 'two'), { digest })
    expect(await kept()).to.deep.equal({ a: 'one two' })
    expect(hashed()).to.equal(0)
  })

  it('is checked before the content is visible', async () => {
    const { upload, kept, expectRoom } = uploadFixture()
    const right = unlikely(sha256('one two'))
    await upload('a', chunks('one ', 'two'), right)
    expect(right.hashed()).to.equal(7)
    const error = await rejection(upload('a', chunks('one ', 'twO'), unlikely(sha256('one two'))))
    expect(error).to.include({ code: 'digest-mismatch' })
    expect(await kept()).to.deep.equal({ a: 'one two' })
    await expectRoom(93)
  })

  it('is checked in a store that cannot read what it has taken', async () => {
    const memory = createMemoryBlobStore()
    const { upload } = uploadFixture({
      put: (key, content, { onReadable: _, ...options } = {}) => memory.put(key, content, options),
    })
    await upload('a', chunks('one ', 'two'), unlikely(sha256('one two')))
    const error = await rejection(upload('a', chunks('one ', 'twO'), unlikely(sha256('one two'))))
    expect(error).to.include({ code: 'digest-mismatch' })
  })

  it('is not checked further when the signal aborts', async () => {
    const controller = new AbortController()
    const reason = new Error('gone')
    const { upload, kept } = uploadFixture()
    const { digest } = unlikely(sha256('x'))
    const expected = () => {
      controller.abort(reason)
      return sha256('x')
    }
    const { signal } = controller
    const put = upload('a', chunks('x'), { digest: { ...digest, expected }, signal })
    expect(await rejection(put)).to.equal(reason)
    expect(await kept()).to.deep.equal({})
  })
})
