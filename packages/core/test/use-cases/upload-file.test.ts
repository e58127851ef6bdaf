import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { FileServiceError } from '../../src/model/errors.ts'
import { chunks, failing, pulled } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { alice, uploadFixture } from './upload-fixture.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

describe('uploadFile', () => {
  it('stores the content and says what is stored', async () => {
    const { upload, kept, store, expectRoom } = uploadFixture()
    const info = await upload('a', chunks('one ', '', 'two'))
    expect(info).to.deep.equal(await store.stat({ customer: 'alice', name: 'a' }))
    expect(info).to.include({ name: 'a', size: 7 })
    expect(await kept()).to.deep.equal({ a: 'one two' })
    await expectRoom(93)
  })

  it('replaces an earlier file', async () => {
    const { upload, kept, expectRoom } = uploadFixture()
    await upload('a', chunks('the earlier one'))
    await upload('a', chunks('new'))
    expect(await kept()).to.deep.equal({ a: 'new' })
    await expectRoom(97)
  })

  it('stores a file without content', async () => {
    const { upload, kept, expectRoom } = uploadFixture({ maxFileSize: 0 })
    await upload('a', chunks())
    expect(await kept()).to.deep.equal({ a: '' })
    await expectRoom(100)
  })

  it('stores for the customer it is given', async () => {
    const { upload, kept, store } = uploadFixture()
    await upload('a', chunks(1000), {}, { name: 'bob' })
    expect(await kept()).to.deep.equal({})
    expect(await store.usage('bob')).to.deep.equal({ blobs: 1, bytes: 1000 })
  })

  it('refuses a bad name before anything else', async () => {
    const content = pulled()
    const { upload } = uploadFixture({ maxFileSize: 5, stat: () => Promise.reject(new Error('x')) })
    const refused = upload('a/b', content, { size: 6, createOnly: true })
    expect(await refusal(refused)).to.equal('invalid-file-name')
    expect(content.asked()).to.equal(0)
  })

  describe('limits', () => {
    it('let a file of exactly maxFileSize pass, and no byte more', async () => {
      const { upload, kept, expectRoom } = uploadFixture({ maxFileSize: 5 })
      await upload('a', chunks('12', '345'), { size: 5 })
      const error = await rejection(upload('b', chunks('12', '345', '6')))
      expect(error).to.be.instanceOf(FileServiceError)
      expect(error).to.include({ code: 'file-too-large', message: 'The file exceeds 5 bytes' })
      expect(await kept()).to.deep.equal({ a: '12345' })
      await expectRoom(95)
    })

    it('let a file of exactly the quota pass, and no byte more', async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      await upload('a', chunks('x'.repeat(60)), { size: 60 })
      expect(await refusal(upload('b', chunks(40, 1)))).to.equal('quota-exceeded')
      await expectRoom(40)
      await upload('b', chunks('y'.repeat(40)), { size: 40 })
      expect(await kept()).to.deep.equal({ a: 'x'.repeat(60), b: 'y'.repeat(40) })
      await expectRoom(0)
    })

    for (const [limit, size] of [
      ['file-too-large', 71],
      ['quota-exceeded', 61],
    ] as const) {
      it(`refuse a declared size before a byte is read: ${limit}`, async () => {
        const { upload, kept, expectRoom } = uploadFixture({ maxFileSize: 70 })
        await upload('a', chunks('x'.repeat(40)))
        const content = pulled()
        expect(await refusal(upload('b', content, { size }))).to.equal(limit)
        expect(content.asked()).to.equal(0)
        expect(Object.keys(await kept())).to.deep.equal(['a'])
        await expectRoom(60)
      })
    }

    it('stop reading at the first chunk beyond, and close the content', async () => {
      for (const customer of [alice, { name: 'bob' }]) {
        const { upload } = uploadFixture({ maxFileSize: customer === alice ? Infinity : 100 })
        const content = pulled()
        const refused = refusal(upload('a', content, {}, customer))
        await turn()
        content.give(100)
        await turn()
        content.give(1)
        expect(await refused).to.equal(customer === alice ? 'quota-exceeded' : 'file-too-large')
        expect(content.asked()).to.equal(2)
        expect(content.closed()).to.equal(1)
      }
    })

    it('hold for what arrives, whatever size was declared', async () => {
      const { upload, kept } = uploadFixture({ maxFileSize: 5 })
      expect(await refusal(upload('a', chunks(6), { size: 1 }))).to.equal('file-too-large')
      expect(await kept()).to.deep.equal({})
    })

    it('keep room for a declared size from the beginning, so that another upload is not begun in vain', async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      const content = pulled()
      const first = upload('a', content, { size: 60 })
      await turn()
      const late = pulled()
      expect(await refusal(upload('b', late, { size: 41 }))).to.equal('quota-exceeded')
      expect(late.asked()).to.equal(0)
      await upload('c', chunks(40), { size: 40 })
      content.give(60)
      await turn()
      content.finish()
      await first
      expect(Object.keys(await kept())).to.deep.equal(['a', 'c'])
      await expectRoom(0)
    })

    it('free what was declared and did not come', async () => {
      const { upload, expectRoom } = uploadFixture()
      await upload('a', chunks(10), { size: 60 })
      await expectRoom(90)
      await rejection(upload('b', failing(new Error('gone'), 10), { size: 60 }))
      await expectRoom(90)
    })

    it('free the bytes of a refused upload before its store has cleaned up', async () => {
      const cleanedUp = Promise.withResolvers<undefined>()
      const fixture = uploadFixture({
        async put(key, content, options) {
          const failed = fixture.store.put(key, content, options)
          return failed.catch(async (error: unknown) => {
            await cleanedUp.promise
            throw error
          })
        },
      })
      const first = pulled()
      const stored = fixture.upload('a', first)
      await turn()
      first.give(60)
      await turn()
      const refused = fixture.upload('b', chunks(20, 21))
      await turn()
      first.give(40)
      await turn()
      first.finish()
      await stored
      cleanedUp.resolve(undefined)
      expect(await refusal(refused)).to.equal('quota-exceeded')
    })

    it('take no size that is none', async () => {
      const { upload, kept } = uploadFixture()
      for (const size of [-1, NaN]) {
        expect(await rejection(upload('a', chunks(1), { size }))).to.be.instanceOf(RangeError)
      }
      expect(await kept()).to.deep.equal({})
    })

    it('hold for uploads at the same time together', async () => {
      const { upload, store, expectRoom } = uploadFixture()
      const names = Array.from({ length: 10 }, (_, n) => `file ${n}`)
      const outcomes = await Promise.allSettled(names.map((name) => upload(name, chunks(30))))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(3)
      expect(await store.usage('alice')).to.deep.equal({ blobs: 3, bytes: 90 })
      await expectRoom(10)
    })
  })

  describe('digest', () => {
    const digestOf = (expected: string | undefined) => ({
      hash: createHash('sha256'),
      expected: () => expected,
    })

    it('lets the right content pass', async () => {
      const { upload, kept } = uploadFixture()
      await upload('a', chunks('one ', 'two'), { digest: digestOf(sha256('one two')) })
      expect(await kept()).to.deep.equal({ a: 'one two' })
    })

    it('refuses any other content before it is visible, and says its digest', async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      await upload('a', chunks('earlier'))
      const digest = digestOf(sha256('one two'))
      const error = await rejection(upload('a', chunks('one ', 'twO'), { digest }))
      expect(error).to.include({ code: 'digest-mismatch' })
      expect(error).to.have.property('message').that.includes(sha256('one twO'))
      expect(await kept()).to.deep.equal({ a: 'earlier' })
      await expectRoom(93)
    })

    it('does nothing when none is expected after all', async () => {
      const { upload, kept } = uploadFixture()
      await upload('a', chunks('x'), { digest: digestOf(undefined) })
      expect(await kept()).to.deep.equal({ a: 'x' })
    })

    it('is asked for once, after the last byte', async () => {
      const { upload } = uploadFixture()
      const content = pulled()
      const asked: number[] = []
      const expected = () => void asked.push(content.asked())
      const done = upload('a', content, { digest: { hash: createHash('md5'), expected } })
      await turn()
      content.give(1)
      await turn()
      expect(asked).to.deep.equal([])
      content.finish()
      await done
      expect(asked).to.deep.equal([2])
    })
  })

  describe('createOnly', () => {
    it('stores when the name is free', async () => {
      const { upload, kept } = uploadFixture()
      await upload('a', chunks('x'), { createOnly: true })
      expect(await kept()).to.deep.equal({ a: 'x' })
    })

    it('refuses a name that is taken before a byte is read', async () => {
      const { upload, kept } = uploadFixture()
      await upload('a', chunks('x'))
      const content = pulled()
      const refused = upload('a', content, { createOnly: true })
      expect(await refusal(refused)).to.equal('already-exists')
      expect(content.asked()).to.equal(0)
      expect(await kept()).to.deep.equal({ a: 'x' })
    })

    it('does not bother the store, or count, for a name that is taken', async () => {
      const asked = () => Promise.reject(new Error('asked'))
      const fixture = uploadFixture({ put: asked, usage: asked })
      await fixture.store.put({ customer: 'alice', name: 'a' }, chunks('x'))
      const refused = fixture.upload('a', chunks('y'), { createOnly: true })
      expect(await refusal(refused)).to.equal('already-exists')
    })

    it('refuses a name that was taken meanwhile', async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      const content = pulled()
      const refused = refusal(upload('a', content, { createOnly: true }))
      await turn()
      content.give(50)
      await upload('a', chunks('x'))
      content.finish()
      expect(await refused).to.equal('already-exists')
      expect(await kept()).to.deep.equal({ a: 'x' })
      await expectRoom(99)
    })

    it('does not look, when anything may be replaced, whether the name is taken', async () => {
      const { upload } = uploadFixture({ stat: () => Promise.reject(new Error('looked')) })
      await upload('a', chunks('x'), {}, { name: 'bob' })
    })
  })
})
