import { expect } from 'chai'
import { createRemovals } from '../../src/write/removals.ts'

describe('createRemovals', () => {
  it('shows a watch what runs, or has run, since it began, and nothing of other keys', async () => {
    const removals = createRemovals()
    const early = await removals.watch('a')
    const gate = Promise.withResolvers<string>()
    expect(early.seen()).to.equal(false)
    const removing = removals.run('a', () => gate.promise)
    const meanwhile = await removals.watch('a')
    const other = await removals.watch('b')
    expect([early.seen(), meanwhile.seen(), other.seen()]).to.deep.equal([true, true, false])
    gate.resolve('done')
    expect(await removing).to.equal('done')
    const late = await removals.watch('a')
    expect([early.seen(), meanwhile.seen(), late.seen()]).to.deep.equal([true, true, false])
    for (const watch of [early, meanwhile, other, late]) watch.end()
  })

  it('counts a removal that fails: it may have happened', async () => {
    const removals = createRemovals()
    const watch = await removals.watch('a')
    const failing = removals.run('a', () => Promise.reject(new Error('lost')))
    await failing.catch(() => {})
    expect(watch.seen()).to.equal(true)
  })

  it('lets a work be alone with its key: it waits for watches, and further ones wait for it', async () => {
    const removals = createRemovals()
    const steps: string[] = []
    const early = await removals.watch('a')
    const gate = Promise.withResolvers<undefined>()
    const alone = removals.alone('a', async () => {
      steps.push('alone')
      await gate.promise
      steps.push('over')
    })
    const second = removals.alone('a', async () => void steps.push('alone again'))
    const late = removals.watch('a').then((watch) => {
      steps.push('watch')
      watch.end()
    })
    const other = await removals.watch('b')
    other.end()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(steps).to.deep.equal([])
    early.end()
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(steps).to.deep.equal(['alone'])
    gate.resolve(undefined)
    await Promise.all([alone, second, late])
    expect(steps.slice(0, 2)).to.deep.equal(['alone', 'over'])
    expect(steps.slice(2)).to.have.members(['alone again', 'watch'])
  })

  it('gives the key back after a work that fails', async () => {
    const removals = createRemovals()
    const failing = removals.alone('a', () => Promise.reject(new Error('lost')))
    await failing.catch(() => {})
    const watch = await removals.watch('a')
    watch.end()
  })
})
