import { expect } from 'chai'
import { createRemovals } from '../../src/write/removals.ts'

describe('createRemovals', () => {
  it('shows a watch what runs, or has run, since it began, and nothing of other keys', async () => {
    const removals = createRemovals()
    const early = removals.watch('a')
    const gate = Promise.withResolvers<string>()
    expect(early.seen()).to.equal(false)
    const removing = removals.run('a', () => gate.promise)
    const meanwhile = removals.watch('a')
    const other = removals.watch('b')
    expect([early.seen(), meanwhile.seen(), other.seen()]).to.deep.equal([true, true, false])
    gate.resolve('done')
    expect(await removing).to.equal('done')
    const late = removals.watch('a')
    expect([early.seen(), meanwhile.seen(), late.seen()]).to.deep.equal([true, true, false])
    for (const watch of [early, meanwhile, other, late]) watch.end()
  })

  it('counts a removal that fails: it may have happened', async () => {
    const removals = createRemovals()
    const watch = removals.watch('a')
    const failing = removals.run('a', () => Promise.reject(new Error('lost')))
    await failing.catch(() => {})
    expect(watch.seen()).to.equal(true)
  })
})
