import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import * as node from '../src/index.ts'
import { all } from './support/all.ts'

const login = { url: 'http://127.0.0.1:9', name: 'demo', password: 'sesame' }
const link = 'http://127.0.0.1:9/upload/a?link=x'

// The tests are compiled without the types of browsers.
const entry = new URL('../src/browser.ts', import.meta.url).href
const browser = (await import(entry)) as typeof node

for (const [where, { createClient, createLinkClient }] of Object.entries({ node, browser })) {
  describe(`The client of ${where}, given what is wrong`, () => {
    const wrong: Readonly<Record<string, readonly [make: () => unknown, words: RegExp]>> = {
      'no options': [() => createClient(undefined as never), /missing: createClient\(\{ url/],
      'an address for options': [() => createClient(login.url as never), /object, not a string/],
      'no address': [() => createClient({} as never), /url is missing/],
      'an address that is none': [
        () => createClient({ ...login, url: 'foo' }),
        /url is not an address/,
      ],
      'no link': [() => createLinkClient({} as never), /link is missing/],
      'no options of a link': [() => createLinkClient(undefined as never), /createLinkClient\(\{/],
      'a link that is none': [
        () => createLinkClient({ link: 's3cr3t' }),
        /^(?!.*s3cr3t).*not an address/,
      ],
    }
    for (const [what, [make, words]] of Object.entries(wrong)) {
      it(`refuses ${what}`, () => {
        expect(make).to.throw(TypeError, words)
      })
    }

    it('refuses a body that is none, by a sentence that says what can be one', async () => {
      const clients = [createClient(login), createLinkClient({ link })]
      for (const body of [null, undefined, 5, {}, Promise.resolve('x')]) {
        for (const client of clients) {
          expect(await rejection(client.upload('a', body as never)))
            .to.be.instanceOf(TypeError)
            .with.property('message')
            .that.matches(/^The body must be a string, .* not (null|undefined|a number|an object)/)
        }
        const files = createClient(login).uploadMany([{ name: 'a', body: body as never }])
        expect(await rejection(all(files))).to.be.instanceOf(TypeError)
      }
    })

    it('refuses names that are no strings', async () => {
      const client = createClient(login)
      const name = undefined as never
      for (const asked of [
        client.upload(name, 'x'),
        client.download(name),
        client.stat(name),
        client.delete(name),
        client.link(name),
        all(client.deleteMany([name])),
      ]) {
        expect(await rejection(asked))
          .to.be.instanceOf(TypeError)
          .with.property('message', 'The name of a file must be a string, not undefined')
      }
    })

    it('takes the characters of a string neither for files nor for names', async () => {
      const client = createClient(login)
      for (const given of ['abc', undefined, 5] as never[]) {
        for (const asked of [all(client.deleteMany(given)), all(client.uploadMany(given))]) {
          expect(await rejection(asked))
            .to.be.instanceOf(TypeError)
            .with.property('message')
            .that.matches(/must be an array or another iterable, not (a string|undefined|a number)/)
        }
      }
    })
  })
}

describe('The client of Node.js', () => {
  it('names the version that it needs where Node.js is too old', () => {
    const kept = Object.getOwnPropertyDescriptor(Promise, 'withResolvers')
    try {
      Reflect.deleteProperty(Promise, 'withResolvers')
      const words = `holdfast needs Node.js 22 or newer, and this is ${process.version}`
      expect(() => node.createClient(login)).to.throw(words)
      expect(() => node.createLinkClient({ link })).to.throw(words)
    } finally {
      Object.defineProperty(Promise, 'withResolvers', kept ?? {})
    }
  })
})
