import { expect } from 'chai'
import { chunks } from '../content.ts'
import { rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { openPieces } from './pieces.ts'

const alice = { name: 'alice', quota: 100 }

describe('createQuotaKeeper with uploads in pieces, in doubt', () => {
  it('counts all that was claimed where nothing is known of the piece, until the next count', async () => {
    const { begin, append, keeper, uploads, room } = openPieces()
    const busy = await keeper.claim(alice, 'busy')
    const id = await begin(alice, 'a')
    await append(alice, id, 10)
    const claim = await keeper.claim(alice, 'a', 40, id)
    void claim.grow(20)
    await uploads.append({ customer: 'alice', id }, 10, chunks(20))
    claim.end()
    expect(await room(alice)).to.equal(50)
    busy.end()
    expect(await room(alice)).to.equal(70)
  })

  it('counts a published upload once where the answer of the store is lost', async () => {
    const { begin, append, keeper, uploads, room } = openPieces()
    const id = await begin(alice, 'a')
    await append(alice, id, 60)
    const claim = await keeper.claim(alice, 'a', 0, id)
    claim.stage(60)
    await claim.prepare()
    await uploads.publish({ customer: 'alice', id })
    claim.end()
    expect(await room(alice)).to.equal(40)
  })

  it('never counts too little while the outcome of publishing is unknown', async () => {
    for (const isPublished of [true, false]) {
      const { begin, append, keeper, overrides, put, store, uploads, room } = openPieces()
      await put(alice, 'a', 20)
      const busy = await keeper.claim(alice, 'busy')
      const id = await begin(alice, 'a')
      await append(alice, id, 60)
      const claim = await keeper.claim(alice, 'a', 0, id)
      claim.stage(60)
      await claim.prepare()
      if (isPublished) await uploads.publish({ customer: 'alice', id })
      overrides.stat = () => Promise.reject(new Error('down'))
      claim.end()
      await rejection(keeper.claim(alice, 'b'))
      delete overrides.stat
      expect(await room(alice)).to.be.at.most(40)
      busy.end()
      expect(await room(alice)).to.equal(isPublished ? 40 : 20)
      expect((await store.usage('alice')).bytes).to.equal(isPublished ? 60 : 20)
    }
  })

  it('counts it in both states where the name was given to others meanwhile', async () => {
    const { begin, append, keeper, put, uploads, room } = openPieces()
    const busy = await keeper.claim(alice, 'busy')
    const id = await begin(alice, 'a')
    await append(alice, id, 60)
    const claim = await keeper.claim(alice, 'a', 0, id)
    claim.stage(60)
    await claim.prepare()
    claim.yieldName()
    await put(alice, 'a', 10)
    expect(await room(alice)).to.equal(30)
    await uploads.publish({ customer: 'alice', id })
    claim.settle()
    claim.end()
    expect(await room(alice)).to.equal(30)
    busy.end()
    expect(await room(alice)).to.equal(40)
  })

  for (const isPublished of [true, false]) {
    it(`looks what became of it where the process that publishes has died: ${isPublished ? 'published' : 'unfinished'}`, async () => {
      const { begin, append, keeper, put, uploads, room } = openPieces()
      await put(alice, 'a', 20)
      const busy = await keeper.claim(alice, 'busy')
      const id = await begin(alice, 'a')
      await append(alice, id, 60)
      const claim = await keeper.claim(alice, 'a', 0, id)
      claim.stage(60)
      await claim.prepare()
      const over = Promise.withResolvers<undefined>()
      claim.endAfter(over.promise)
      expect(await room(alice)).to.equal(20)
      if (isPublished) await uploads.publish({ customer: 'alice', id })
      over.resolve(undefined)
      await turn()
      expect(await room(alice)).to.equal(isPublished ? 40 : 20)
      busy.end()
    })
  }
})
