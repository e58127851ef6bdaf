import { expect } from 'chai'
import { FileServiceError } from '../../src/model/errors.ts'
import { chunks, failing, pulled } from '../content.ts'
import { rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { uploadFixture } from './upload-fixture.ts'

describe('uploadFile', () => {
  describe('failures', () => {
    it('of the content come through and leave everything as it was', async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      await upload('a', chunks('earlier'))
      const error = new Error('connection lost')
      for (const parts of [[], ['x'], ['x', 'y'.repeat(50)]]) {
        expect(await rejection(upload('a', failing(error, ...parts)))).to.equal(error)
        expect(await rejection(upload('b', failing(error, ...parts)))).to.equal(error)
      }
      expect(await kept()).to.deep.equal({ a: 'earlier' })
      await expectRoom(93)
    })

    it('of the store come through and leave the quota as it was', async () => {
      const full = new FileServiceError('insufficient-storage', 'The disk is full')
      const { upload, expectRoom } = uploadFixture({
        async put(_key, content) {
          for await (const _ of content);
          throw full
        },
      })
      expect(await rejection(upload('a', chunks(60)))).to.equal(full)
      await expectRoom(100)
      expect(await rejection(upload('a', chunks(60)))).to.equal(full)
    })

    it('of counting come through before a byte is read', async () => {
      const down = new FileServiceError('store-unavailable', 'down')
      const { upload } = uploadFixture({ usage: () => Promise.reject(down) })
      const content = pulled()
      expect(await rejection(upload('a', content))).to.equal(down)
      expect(content.asked()).to.equal(0)
    })
  })

  describe('abort', () => {
    const reason = new Error('given up')

    it('before the upload refuses it without reading', async () => {
      const { upload, kept } = uploadFixture()
      const content = pulled()
      const signal = AbortSignal.abort(reason)
      expect(await rejection(upload('a', content, { signal }))).to.equal(reason)
      expect(content.asked()).to.equal(0)
      expect(await kept()).to.deep.equal({})
    })

    it('while the content is stalled ends the upload at once', async () => {
      const { upload, kept, expectRoom } = uploadFixture()
      await upload('a', chunks('earlier'))
      const content = pulled()
      const abort = new AbortController()
      const given = rejection(upload('a', content, { signal: abort.signal }))
      await turn()
      content.give(80)
      await turn()
      abort.abort(reason)
      expect(await given).to.equal(reason)
      expect(await kept()).to.deep.equal({ a: 'earlier' })
      await expectRoom(93)
    })

    it('leaves the quota as it was when the content wakes later, and closes the content', async () => {
      const { upload, expectRoom } = uploadFixture()
      const other = pulled()
      const otherDone = upload('other', other)
      const content = pulled()
      const abort = new AbortController()
      const given = rejection(upload('a', content, { signal: abort.signal }))
      await turn()
      abort.abort(reason)
      await given
      content.give(30)
      await turn()
      expect(content.closed()).to.equal(1)
      await expectRoom(100)
      other.finish()
      await otherDone
    })

    it('leaves the name to others when the content ends later', async () => {
      const { upload, kept } = uploadFixture()
      const content = pulled()
      const abort = new AbortController()
      const given = rejection(upload('a', content, { signal: abort.signal }))
      await turn()
      abort.abort(reason)
      await given
      content.finish()
      await turn()
      await upload('a', chunks('x'))
      expect(await kept()).to.deep.equal({ a: 'x' })
    })

    it('while another upload of the name is published ends the upload at once', async () => {
      const publication = Promise.withResolvers<undefined>()
      const fixture = uploadFixture({
        put: async (key, content, options) => {
          const info = await fixture.store.put(key, content, options)
          if (info.size === 1) await publication.promise
          return info
        },
      })
      const first = fixture.upload('a', chunks(1))
      await turn()
      const abort = new AbortController()
      const second = rejection(fixture.upload('a', chunks(2), { signal: abort.signal }))
      await turn()
      abort.abort(reason)
      expect(await second).to.equal(reason)
      publication.resolve(undefined)
      await first
      await fixture.upload('a', chunks(3))
      await fixture.expectRoom(97)
    })

    it('after the upload changes nothing', async () => {
      const { upload, kept } = uploadFixture()
      const abort = new AbortController()
      await upload('a', chunks('x'), { signal: abort.signal })
      abort.abort(reason)
      expect(await kept()).to.deep.equal({ a: 'x' })
    })
  })
})
