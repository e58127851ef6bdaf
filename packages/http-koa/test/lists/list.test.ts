import { createMemoryBlobStore } from '@holdfast/core/memory'
import { FileServiceError, type ListOptions } from '@holdfast/core'
import { expect } from 'chai'
import { openConnection, until } from '@holdfast/testing'
import { errorBody } from '../../src/http/problems.ts'
import { nextPage, parseListQuery } from '../../src/lists/list.ts'
import { customerRequest } from '../support/request.ts'
import { auth, runApp } from '../support/running-app.ts'

/** A store whose lists have no end. */
function listForever(beforeFirst: Promise<unknown> = Promise.resolve()) {
  const state = { begun: 0, ended: 0, names: 0 }
  const store = {
    ...createMemoryBlobStore(),
    async *list() {
      state.begun++
      try {
        await beforeFirst
        while (true) {
          state.names++
          yield ['x'.repeat(200)]
        }
      } finally {
        state.ended++
      }
    },
  }
  return { state, store }
}

const infoOf = (name: string) => ({ name, size: 1, modifiedAt: new Date(0), etag: name })

/** A store that lists `names`, which are in order. */
function storeOf(names: readonly string[]) {
  async function* list(_customer: string, { after = '', limit = Infinity }: ListOptions = {}) {
    const wanted = names.filter((name) => name > after).slice(0, limit)
    for (let at = 0; at < wanted.length; at += 400) yield wanted.slice(at, at + 400)
  }
  return {
    ...createMemoryBlobStore(),
    list,
    async *listDetails(customer: string, options?: ListOptions) {
      for await (const page of list(customer, options)) yield page.map(infoOf)
    },
  }
}

describe('list', () => {
  it('asks the store for no more names than the client takes', async () => {
    const { state, store } = listForever()
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.pause()
    connection.write(customerRequest('GET', '/list'))
    await until('the server stopped listing', async () => {
      const before = state.names
      await new Promise((resolve) => setTimeout(resolve, 100))
      return before > 0 && state.names === before
    })
    expect(state.names * 200).to.be.lessThan(16 * 1024 * 1024)
    connection.reset()
    await until('the listing ended', () => state.ended === 1)
  })

  it('ends the listing of a client that left before the first name', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { state, store } = listForever(gate.promise)
    await using app = await runApp({ store })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('GET', '/list'))
    await until('the listing began', () => state.begun === 1)
    connection.reset()
    await until('the connection ended', async () => (await app.connections()) === 0)
    gate.resolve(undefined)
    await until('the listing ended', () => state.ended === 1)
  })

  it('ends a listing at once when its client leaves before the first name', async () => {
    const first = Promise.withResolvers<IteratorReturnResult<undefined>>()
    const state = { begun: false, stopped: false }
    const pages: AsyncIterator<readonly string[], undefined> = {
      next: () => {
        state.begun = true
        return first.promise
      },
      return: async () => {
        state.stopped = true
        first.resolve({ done: true, value: undefined })
        return first.promise
      },
    }
    const list = () => ({ [Symbol.asyncIterator]: () => pages })
    await using app = await runApp({ store: { ...createMemoryBlobStore(), list } })
    using connection = await openConnection(app.port)
    connection.write(customerRequest('GET', '/list'))
    await until('the listing began', () => state.begun)
    connection.reset()
    await until('the listing was stopped', () => state.stopped)
  })

  describe('with a limit', () => {
    const names = Array.from({ length: 2500 }, (_, index) => `n${String(index).padStart(4, '0')}`)
    const requestList = async (url: string, method = 'GET') => {
      const response = await fetch(url, { method, headers: auth })
      const [, target] = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? []
      const next = target === undefined ? undefined : new URL(target, url).href
      const entries =
        method === 'HEAD' ? [] : ((await response.json()) as (string | { readonly name: string })[])
      return {
        next,
        listed: entries.map((entry) => (typeof entry === 'string' ? entry : entry.name)),
      }
    }

    const lengths = [700, 1000, 1001, 1250, 2499, 2500, 2501, Number.MAX_SAFE_INTEGER]
    const queries = ['', '&details=1'].flatMap((details) =>
      lengths.map((limit) => ({ limit, details })),
    )
    for (const { limit, details } of queries) {
      it(`leads from page to page with Link, and from the last nowhere: limit=${limit}${details}`, async () => {
        await using app = await runApp({ store: storeOf(names) })
        const found: string[] = []
        let url: string | undefined = `${app.url}/list?limit=${limit}${details}`
        while (url !== undefined) {
          const head = await requestList(url, 'HEAD')
          const page = await requestList(url)
          expect(head.next).to.equal(page.next)
          expect(page.listed).to.have.length(Math.min(limit, names.length - found.length))
          found.push(...page.listed)
          url = page.next
        }
        expect(found).to.deep.equal(names)
      })
    }

    it('has no Link without a limit', async () => {
      await using app = await runApp({ store: storeOf(names) })
      expect((await requestList(`${app.url}/list`)).next).to.equal(undefined)
      expect((await requestList(`${app.url}/list?prefix=n1&after=n1`)).next).to.equal(undefined)
    })

    it('loses no name that is there all the while to names that come while a long page is made', async () => {
      const later = [...names, ...names.slice(0, 50).map((name) => `${name} new`)].sort()
      let lists = 0
      const store = storeOf(names)
      const growing = {
        ...store,
        list: (customer: string, options?: ListOptions) =>
          (lists++ === 0 ? store : storeOf(later)).list(customer, options),
      }
      await using app = await runApp({ store: growing })
      const page = await requestList(`${app.url}/list?limit=1500`)
      expect(page.listed).to.deep.equal(later.slice(0, 1550))
      const rest = await requestList(page.next ?? '')
      expect([...page.listed, ...rest.listed]).to.deep.equal(later)
    })
  })

  it('ends the listing of a HEAD', async () => {
    const { state, store } = listForever()
    await using app = await runApp({ store })
    const response = await fetch(`${app.url}/list`, { method: 'HEAD', headers: auth })
    expect(response.status).to.equal(200)
    expect(state.ended).to.equal(1)
  })

  it('answers what fails before the first names are sent with an error, however late', async () => {
    for (const names of [[], ['a'], ['a', 'b', 'c']]) {
      const store = {
        ...createMemoryBlobStore(),
        async *list() {
          for (const name of names) yield [name]
          throw new FileServiceError('store-unavailable', 'gone')
        },
      }
      await using app = await runApp({ store })
      const response = await fetch(`${app.url}/list`, { headers: auth })
      expect(await response.json()).to.deep.equal(errorBody(503, 'Storage unavailable'))
    }
  })
})

const parse = (query: string) => parseListQuery(new URLSearchParams(query))

describe('parseListQuery', () => {
  it('reads limit, after, prefix and details, each on its own', () => {
    expect(parse('')).to.deep.equal({ details: false })
    expect(parse('limit=1')).to.deep.equal({ details: false, limit: 1 })
    expect(parse('after=a%2Bb')).to.deep.equal({ details: false, after: 'a+b' })
    expect(parse('prefix=%C3%A4')).to.deep.equal({ details: false, prefix: 'ä' })
    expect(parse('details=1')).to.deep.equal({ details: true })
    expect(parse('limit=010&after=b&prefix=a')).to.deep.equal({
      details: false,
      limit: 10,
      after: 'b',
      prefix: 'a',
    })
  })

  it('takes an empty after or prefix as given, and passes over what it does not know', () => {
    expect(parse('after=&prefix=&order=desc')).to.deep.equal({
      details: false,
      after: '',
      prefix: '',
    })
  })

  for (const limit of ['', '0', '-1', '1.5', '1e3', '0x1', ' 1', 'all', '9007199254740992', '١']) {
    it(`refuses the limit ${JSON.stringify(limit)}`, () => {
      expect(() => parse(new URLSearchParams({ limit }).toString()))
        .to.throw('Invalid limit: it must be a whole number from 1')
        .with.property('status', 400)
    })
  }

  for (const details of ['', '0', '2', 'true', '01', '1 ']) {
    it(`refuses the details ${JSON.stringify(details)}`, () => {
      expect(() => parse(new URLSearchParams({ details }).toString()))
        .to.throw('Invalid details: it must be 1')
        .with.property('status', 400)
    })
  }

  for (const parameter of ['limit', 'after', 'prefix', 'details']) {
    it(`refuses two of ${parameter}`, () => {
      expect(() => parse(`${parameter}=1&${parameter}=1`))
        .to.throw(`Invalid ${parameter}: it is sent twice`)
        .with.property('status', 400)
    })
  }
})

describe('nextPage', () => {
  for (const [query, last, expected] of [
    ['limit=2', 'a', '?limit=2&after=a'],
    ['after=a&limit=2&prefix=%C3%A4+b', 'z', '?after=z&limit=2&prefix=%C3%A4%20b'],
    ['limit=1', 'a b+c&d=e>"\u{1f600}', '?limit=1&after=a%20b%2Bc%26d%3De%3E%22%F0%9F%98%80'],
  ] as const) {
    it(`leads from ${query} to the page after ${last}`, () => {
      const link = nextPage(new URLSearchParams(query), last)
      expect(link).to.equal(`<${expected}>; rel="next"`)
      const target = new URL(expected, 'http://localhost/files/list?limit=9')
      expect(target.pathname).to.equal('/files/list')
      expect(target.searchParams.get('after')).to.equal(last)
    })
  }
})
