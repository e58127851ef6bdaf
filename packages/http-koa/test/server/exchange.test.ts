import { expect } from 'chai'
import type { CustomerFiles, LinkUploads } from '@holdfast/core'
import { endOfTick, customerOf } from '../../src/server/exchange.ts'

describe('endOfTick', () => {
  it('resolves behind what was there already, for all of one turn together', async () => {
    const order: string[] = []
    const waits = [1, 2].map(async (n) => {
      await endOfTick()
      order.push(`end ${n}`)
    })
    queueMicrotask(() => order.push('microtask'))
    process.nextTick(() => order.push('tick'))
    const later = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('next')
        resolve()
      })
    })
    await Promise.all([...waits, later])
    expect(order.toSorted()).to.deep.equal(['end 1', 'end 2', 'microtask', 'next', 'tick'])
    expect(order.slice(0, 2).toSorted()).to.deep.equal(['microtask', 'tick'])
    expect(order.slice(2)).to.deep.equal(['end 1', 'end 2', 'next'])
  })

  it('has an end for each turn', async () => {
    const first = endOfTick()
    expect(endOfTick()).to.equal(first)
    await first
    expect(endOfTick()).to.not.equal(first)
  })

  it('does not wait for the end of the turn once many wait', async () => {
    const order: string[] = []
    const next = new Promise<void>((resolve) => {
      setImmediate(() => {
        order.push('next')
        resolve()
      })
    })
    const waits = Array.from({ length: 33 }, async (_, index) => {
      await endOfTick()
      order.push(`${index}`)
    })
    await Promise.all([...waits, next])
    const together = Array.from({ length: 32 }, (_, index) => `${index}`)
    expect(order).to.deep.equal([...together, 'next', '32'])
  })
})

describe('customerOf', () => {
  const files = { customer: { name: 'anna' } } as CustomerFiles
  const uploads = { customer: { name: 'bert' } } as LinkUploads

  it('is whoever sent the request', () => {
    expect(customerOf({})).to.equal(undefined)
    expect(customerOf({ files })).to.deep.equal({ name: 'anna' })
    expect(customerOf({ files, link: { inline: true } })).to.deep.equal({ name: 'anna' })
  })

  it('is the maker of a link to upload, also where an application has logged somebody in before', () => {
    expect(customerOf({ link: { uploads } })).to.deep.equal({ name: 'bert' })
    expect(customerOf({ files, link: { uploads } })).to.deep.equal({ name: 'bert' })
  })
})
