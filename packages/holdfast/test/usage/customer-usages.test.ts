import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { customerUsages, shareOf } from '../../src/usage.ts'

describe('customerUsages', () => {
  it('counts customers one at a time, as they are asked for, in order of UTF-8 bytes', async () => {
    const counted: string[] = []
    const store = {
      ...createMemoryBlobStore(),
      async *customers() {
        yield* ['a', 'c', '\uff5e', '\u{1f600}']
      },
      async usage(customer: string) {
        counted.push(customer)
        return { blobs: customer === 'c' ? 0 : 1, bytes: 2 }
      },
    }
    const quotas = new Map([
      ['d', { quota: 5 }],
      ['\u{1f600}', {}],
    ])
    const found: string[] = []
    for await (const { customer, isListed } of customerUsages(store, quotas)) {
      found.push(customer)
      expect(counted.at(-1)).to.equal(customer)
      expect(isListed).to.equal(quotas.has(customer))
    }
    expect(found).to.deep.equal(['a', 'd', '\uff5e', '\u{1f600}'])
  })
})

describe('shareOf', () => {
  it('is the used part of the quota, and nothing where there is none to use', () => {
    const share = (bytes: number, quota: number | undefined, unfinished = 0) =>
      shareOf({ bytes, quota, unfinished: { uploads: 1, bytes: unfinished } })
    expect(share(5, 20)).to.equal(0.25)
    expect(share(5, 20, 10)).to.equal(0.75)
    expect(share(30, 20)).to.equal(1.5)
    expect(share(5, undefined)).to.equal(undefined)
    expect(share(5, 0)).to.equal(undefined)
  })
})
