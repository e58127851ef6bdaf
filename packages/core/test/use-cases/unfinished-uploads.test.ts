import { expect } from 'chai'
import { refusal } from '../rejection.ts'
import { resumableFixture, resumableOf } from './resumable-fixture.ts'

describe('resumable, with a limit of unfinished uploads', () => {
  const open = () => {
    const time = { ms: Date.now() }
    let lists = 0
    const fixture = resumableFixture({
      maxUnfinishedUploads: 3,
      now: () => time.ms,
      change: (uploads) => ({
        list(customer) {
          lists++
          return uploads.list(customer)
        },
      }),
    })
    return { ...fixture, time, lists: () => lists }
  }

  it('refuses one more than that, each customer by himself', async () => {
    const { resumable, service, lists } = open()
    for (const name of ['a', 'b', 'c']) await resumable.begin(name)
    expect(await refusal(resumable.begin('d'))).to.equal('quota-exceeded')
    expect(await refusal(resumable.begin('d', { length: 0 }))).to.equal('quota-exceeded')
    await resumableOf(service.filesOf({ name: 'bob' })).begin('d')
    expect(lists(), 'lists of the store, one for each customer').to.equal(2)
  })

  it('refuses no more than that of those that begin at once', async () => {
    const { resumable } = open()
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const begun = await Promise.allSettled(names.map((name) => resumable.begin(name)))
    expect(begun.filter(({ status }) => status === 'fulfilled')).to.have.length(3)
  })

  it('takes others when one is published or discarded, and counts it once', async () => {
    const { resumable } = open()
    const { id } = await resumable.begin('a')
    await resumable.append(id, 0, 'a')
    await resumable.publish(id)
    for (let at = 0; at < 5; at++) {
      const { id: empty } = await resumable.begin('empty', { length: 0 })
      await resumable.discard(empty)
    }
    await resumable.discard(id)
    const begun = await Promise.all(['b', 'c', 'd'].map((name) => resumable.begin(name)))
    expect(await refusal(resumable.begin('e'))).to.equal('quota-exceeded')
    await resumable.discard(begun[0]?.id ?? '')
    await resumable.begin('e')
    expect(await refusal(resumable.begin('f'))).to.equal('quota-exceeded')
  })

  it('looks at the store again where others have finished uploads', async () => {
    const { resumable, uploads, time } = open()
    const begun = await Promise.all(['a', 'b', 'c'].map((name) => resumable.begin(name)))
    await uploads.discard({ customer: 'alice', id: begun[0]?.id ?? '' })
    expect(await refusal(resumable.begin('d'))).to.equal('quota-exceeded')
    time.ms += 1_000
    await resumable.begin('d')
  })

  it('does not count an upload that could not begin', async () => {
    const failing = resumableFixture({
      maxUnfinishedUploads: 1,
      change: () => ({
        begin: () => Promise.reject(new Error('on purpose')),
      }),
    })
    for (let at = 0; at < 2; at++) {
      const begin = failing.resumable.begin('a')
      expect(await begin.catch((error: unknown) => String(error))).to.equal('Error: on purpose')
    }
  })

  it('takes others when uploads have expired', async () => {
    const { resumable, service, time } = open()
    for (const name of ['a', 'b', 'c']) await resumable.begin(name)
    time.ms += 8 * 24 * 3600 * 1000
    expect(await service.sweepUploads()).to.equal(3)
    await resumable.begin('d')
  })
})
