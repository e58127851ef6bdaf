import { setImmediate as nextTurn } from 'node:timers/promises'
import type { BlobInfo, BlobStore } from '@holdfast/core'
import { expect } from 'chai'
import type { BlobStoreTest } from '../../support/blob-store-harness.ts'
import { details } from '../../support/expectations.ts'
import { nastyNames } from '../../support/nasty-names.ts'
import { generated } from '../../support/sources.ts'

/** What lists with details say of each blob: what `stat` says, of one blob, also while it is replaced. */
export function listingDetails(test: BlobStoreTest): void {
  test('gives of each blob what stat gives', async ({ store }) => {
    const names = nastyNames.filter((_, index) => index % 5 === 2)
    await Promise.all(names.map((name, index) => put(store, name, index * 7)))
    const listed = await details(store, 'alice')
    expect(listed.length, 'entries').to.equal(names.length)
    for (const info of listed) {
      expect(info, info.name).to.deep.equal(
        await store.stat({ customer: 'alice', name: info.name }),
      )
    }
  })

  test('gives the details of the blob that replaced another', async ({ store }) => {
    await put(store, 'a', 1)
    await details(store, 'alice')
    await put(store, 'a', 200_000)
    expect(await details(store, 'alice')).to.deep.equal([
      await store.stat({ customer: 'alice', name: 'a' }),
    ])
  })

  test('gives the details of one blob under each name while it is replaced', async ({ store }) => {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`)
    const known = new Map<string, BlobInfo[]>()
    const replace = async (name: string, size: number) => {
      const info = await put(store, name, size)
      known.set(name, [...(known.get(name) ?? []), info])
    }
    await Promise.all(names.map((name) => replace(name, 1)))
    const state = { isOver: false }
    const replaceAll = async (name: string) => {
      for (let size = 2; !state.isOver; size++) {
        await replace(name, size)
        await nextTurn()
      }
    }
    const replacing = names.map(replaceAll)
    const lists: BlobInfo[][] = []
    try {
      for (let round = 0; round < 20; round++) lists.push(await details(store, 'alice'))
    } finally {
      state.isOver = true
      await Promise.all(replacing)
    }
    for (const listed of lists) {
      expect(listed.map(({ name }) => name)).to.deep.equal(names)
      for (const info of listed) expect(info).to.deep.be.oneOf(known.get(info.name) ?? [])
    }
  })

  test('fills a limit with details though blobs go meanwhile', async ({ store }) => {
    const staying = Array.from({ length: 40 }, (_, index) => `b${10 + index}`)
    await Promise.all(staying.map((name) => put(store, name, 1)))
    const state = { isOver: false }
    const comeAndGo = async (first: number) => {
      for (let at = first; !state.isOver; at++) {
        const name = `a${at % 40}`
        await put(store, name, 1)
        await nextTurn()
        await store.delete({ customer: 'alice', name })
        await nextTurn()
      }
    }
    const changing = [0, 10, 20, 30].map(comeAndGo)
    try {
      for (let round = 0; round < 20; round++) {
        const listed = await details(store, 'alice', { limit: 20 })
        expect(listed.length, 'entries').to.equal(20)
      }
    } finally {
      state.isOver = true
      await Promise.all(changing)
    }
  })
}

async function put(store: BlobStore, name: string, size: number): Promise<BlobInfo> {
  return store.put({ customer: 'alice', name }, generated(size))
}
