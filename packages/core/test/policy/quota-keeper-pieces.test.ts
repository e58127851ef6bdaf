import { expect } from 'chai'
import { chunks } from '../content.ts'
import { refusal, thrownCode } from '../rejection.ts'
import { openPieces } from './pieces.ts'

const alice = { name: 'alice', quota: 100 }

describe('createQuotaKeeper with uploads in pieces', () => {
  it('counts what has arrived, and frees what the store has not kept of it', async () => {
    const { begin, append, room } = openPieces()
    const id = await begin(alice, 'a')
    await append(alice, id, 30)
    expect(await room(alice)).to.equal(70)
    await append(alice, id, 50, 20)
    expect(await room(alice)).to.equal(50)
  })

  it('counts what had arrived before the process began', async () => {
    const { begin, uploads, room } = openPieces()
    for (const [name, size] of [
      ['a', 30],
      ['b', 25],
    ] as const) {
      const id = await begin(alice, name)
      await uploads.append({ customer: 'alice', id }, 0, chunks(size))
    }
    expect(await room(alice)).to.equal(45)
    expect(await room({ name: 'bob', quota: 100 })).to.equal(100)
  })

  it('refuses the byte that is too many, and takes the upload on when there is room', async () => {
    const { keeper, begin, append, put, remove, room } = openPieces()
    await put(alice, 'b', 40)
    const id = await begin(alice, 'a')
    await append(alice, id, 50)
    const claim = await keeper.claim(alice, 'a', 0, id)
    void claim.grow(10)
    expect(thrownCode(() => claim.grow(1))).to.equal('quota-exceeded')
    claim.stage(60)
    claim.end()
    expect(await room(alice)).to.equal(0)
    expect(await refusal(keeper.claim(alice, 'a', 1, id))).to.equal('quota-exceeded')
    expect(await remove(alice, 'b')).to.equal(true)
    expect(await room(alice)).to.equal(40)
  })

  it('turns it into kept bytes when the upload is published', async () => {
    const { begin, append, publish, put, room } = openPieces()
    const id = await begin(alice, 'a')
    await append(alice, id, 60)
    await publish(alice, id)
    expect(await room(alice)).to.equal(40)
    await put(alice, 'a', 10)
    expect(await room(alice)).to.equal(90)
  })

  it('frees the file that is replaced, and counts it as free for that upload before', async () => {
    const { begin, append, publish, put, room } = openPieces()
    await put(alice, 'a', 80)
    const id = await begin(alice, 'a')
    await append(alice, id, 20)
    expect(await room(alice)).to.equal(0)
    await append(alice, id, 50)
    expect(await refusal(put(alice, 'b', 0))).to.equal('quota-exceeded')
    await append(alice, id, 30)
    expect(await refusal(append(alice, id, 1))).to.equal('quota-exceeded')
    await publish(alice, id)
    expect(await room(alice)).to.equal(0)
    await put(alice, 'a', 10)
    expect(await room(alice)).to.equal(90)
  })

  it('refuses to publish when the file that made room has been deleted, until there is room', async () => {
    const { begin, append, publish, put, remove, room } = openPieces()
    await put(alice, 'a', 80)
    const id = await begin(alice, 'a')
    await append(alice, id, 90)
    await remove(alice, 'a')
    await put(alice, 'b', 10)
    await put({ name: 'alice', quota: 200 }, 'c', 1)
    expect(await refusal(publish(alice, id))).to.equal('quota-exceeded')
    await remove(alice, 'c')
    await publish(alice, id)
    expect(await room(alice)).to.equal(0)
  })

  it('frees what is discarded', async () => {
    const { begin, append, discard, room } = openPieces()
    const id = await begin(alice, 'a')
    await append(alice, id, 60)
    await discard(alice, id)
    expect(await room(alice)).to.equal(100)
    await discard(alice, id)
    expect(await room(alice)).to.equal(100)
  })

  it('frees what is discarded while the customer is counted', async () => {
    const { begin, uploads, overrides, discard, keeper, room } = openPieces()
    const id = await begin(alice, 'a')
    await uploads.append({ customer: 'alice', id }, 0, chunks(60))
    const gate = Promise.withResolvers<{ blobs: number; bytes: number }>()
    overrides.usage = () => gate.promise
    const claiming = keeper.claim(alice, 'b')
    const discarding = discard(alice, id)
    gate.resolve({ blobs: 0, bytes: 0 })
    ;(await claiming).end()
    await discarding
    expect(await room(alice)).to.equal(100)
  })

  it('frees what has expired after a sweep, of customers who are busy, too, and nothing else', async () => {
    const { begin, append, publish, uploads, keeper, room } = openPieces()
    const busy = await keeper.claim(alice, 'busy')
    const ids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => begin(alice, name)))
    const [expired = '', staying = '', published = '', unseen = ''] = ids
    for (const id of ids) await append(alice, id, 10)
    await uploads.discard({ customer: 'alice', id: expired })
    // By another process.
    await uploads.publish({ customer: 'alice', id: published })
    const list = uploads.list.bind(uploads)
    uploads.list = async function* (customer) {
      for await (const page of list(customer)) yield page.filter(({ id }) => id !== unseen)
    }
    await keeper.releaseGone()
    expect(await room(alice)).to.equal(80)
    await publish(alice, staying)
    expect(await room(alice)).to.equal(80)
    busy.end()
  })

  it('counts nothing twice where a later request has taken the upload over', async () => {
    const { begin, keeper, room } = openPieces()
    const busy = await keeper.claim(alice, 'busy')
    const id = await begin(alice, 'a')
    const [earlier, later] = [
      await keeper.claim(alice, 'a', 0, id),
      await keeper.claim(alice, 'a', 0, id),
    ]
    void earlier.grow(30)
    void later.grow(20)
    later.stage(50)
    later.end()
    earlier.stage(40)
    void earlier.grow(5)
    earlier.end()
    expect(await room(alice)).to.equal(50)
    busy.end()
  })

  it('asks a client to come again where an earlier request still holds the room', async () => {
    const { begin, keeper } = openPieces()
    const id = await begin(alice, 'a')
    const stalled = await keeper.claim(alice, 'a', 60, id)
    void stalled.grow(10)
    expect(await refusal(keeper.claim(alice, 'a', 50, id))).to.equal('upload-conflict')
    expect(await refusal(keeper.claim(alice, 'b', 50))).to.equal('quota-exceeded')
    stalled.stage(10)
    stalled.end()
    const next = await keeper.claim(alice, 'a', 50, id)
    next.stage(10)
    next.end()
    expect(await refusal(keeper.claim(alice, 'a', 91, id))).to.equal('quota-exceeded')
  })

  it('keeps exact books when an upload is published twice at once', async () => {
    const { begin, append, keeper, store, uploads, room } = openPieces()
    const busy = await keeper.claim(alice, 'busy')
    const id = await begin(alice, 'a')
    await append(alice, id, 60)
    const publishing = [0, 1].map(async () => {
      const claim = await keeper.claim(alice, 'a', 0, id)
      claim.stage(60)
      await claim.prepare()
      await uploads.publish({ customer: 'alice', id })
      claim.settle()
      claim.end()
    })
    await Promise.all(publishing)
    expect((await store.usage('alice')).bytes).to.equal(60)
    expect(await room(alice)).to.equal(40)
    busy.end()
  })

  it('keeps the upload and its bytes where publishing is refused by the store', async () => {
    const { begin, append, publish, put, room, remove } = openPieces()
    const id = await begin(alice, 'a', true)
    await append(alice, id, 30)
    await put(alice, 'a', 20)
    expect(await refusal(publish(alice, id))).to.equal('already-exists')
    expect(await room(alice)).to.equal(50)
    await remove(alice, 'a')
    await publish(alice, id)
    expect(await room(alice)).to.equal(70)
  })

  it('keeps a place among the files while a piece arrives, and decides at publication', async () => {
    const { begin, append, publish, put, remove, keeper } = openPieces()
    const few = { name: 'alice', maxFiles: 2 }
    await put(few, 'a', 1)
    const [id, other] = [await begin(few, 'b'), await begin(few, 'c')]
    const claim = await keeper.claim(few, 'b', 0, id)
    expect(await refusal(keeper.claim(few, 'c', 0, other))).to.equal('quota-exceeded')
    claim.stage(0)
    claim.end()
    await append(few, other, 1)
    await append(few, id, 1)
    await publish(few, other)
    expect(await refusal(publish(few, id))).to.equal('quota-exceeded')
    await remove(few, 'a')
    await publish(few, id)
  })

  it('costs nothing for customers without limits', async () => {
    const { begin, append, publish, discard, overrides, uploads, keeper } = openPieces()
    const bob = { name: 'bob' }
    const asked = () => {
      throw new Error('asked')
    }
    overrides.usage = asked
    overrides.stat = asked
    uploads.list = asked
    const id = await begin(bob, 'a')
    await append(bob, id, 1000)
    await publish(bob, id)
    await discard(bob, await begin(bob, 'b'))
    await keeper.releaseGone()
  })
})
