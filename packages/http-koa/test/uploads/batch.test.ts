import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import { exchange } from '@holdfast/testing'
import { customerRequest, filePart, form, formType } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

const batch = (...parts: readonly string[]) =>
  customerRequest('POST', '/upload/batch', { 'Content-Type': formType }, form(...parts))

/** A store whose puts end when `beforeEnd` does; which tells of the names that it is asked to put. */
function createSlowStore(beforeEnd: (name: string, begun: readonly string[]) => Promise<unknown>) {
  const store = createMemoryBlobStore()
  const begun: string[] = []
  const slowStore: typeof store = {
    ...store,
    async put(key, content, options) {
      begun.push(key.name)
      async function* slow() {
        yield* content
        await beforeEnd(key.name, begun)
      }
      return store.put(key, slow(), options)
    },
  }
  return slowStore
}

describe('POST /upload/batch', () => {
  it('stores eight files at a time, and answers in their order', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `file-${i}`)
    const eight = Promise.withResolvers<undefined>()
    let underWay = 0
    let most = 0
    const store = createSlowStore(async (_name, begun) => {
      most = Math.max(most, ++underWay)
      if (begun.length === 8) eight.resolve(undefined)
      await eight.promise
      await new Promise((resolve) => void setImmediate(resolve))
      underWay--
    })
    await using app = await runApp({ store })
    const { body } = await exchange(app.port, batch(...names.map((name) => filePart(name))))
    const told = [...body.matchAll(/"filename":"([^"]*)","statusCode":200/g)].map(
      ([, name]) => name,
    )
    expect(told).to.deep.equal(names)
    expect(most).to.equal(8)
  })

  it('stores files of one name one after the other, whatever path is before it', async () => {
    let underWay = 0
    const store = createSlowStore(async () => {
      expect(++underWay).to.equal(1)
      await new Promise((resolve) => void setImmediate(resolve))
      underWay--
    })
    await using app = await runApp({ store })
    const parts = ['a', 'x/a', 'y/a', 'a'].map((name, i) => filePart(name, `content ${i}`))
    const { body } = await exchange(app.port, batch(...parts))
    expect(body.match(/"statusCode":200/g)).to.have.length(4)
    const { content } = await app.files.serve('a')
    const chunks: Uint8Array[] = []
    for await (const chunk of content) chunks.push(chunk)
    expect(Buffer.concat(chunks).toString()).to.equal('content 3')
  })
})
