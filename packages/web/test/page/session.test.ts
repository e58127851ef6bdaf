import { expect } from 'chai'
import type { CustomerCredentials } from '../../page/api/connection.ts'
import { settled } from './fake-connection.ts'

interface SessionModule {
  readonly signIn: (credentials: CustomerCredentials, isKept: boolean) => Promise<void>
}

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/app/session.ts', import.meta.url).href

describe('signIn', () => {
  const { fetch } = globalThis
  const kept = new Map<string, string>()

  before(() => {
    Object.assign(globalThis, {
      document: { baseURI: 'http://files.example/' },
      sessionStorage: {
        getItem: (key: string) => kept.get(key) ?? null,
        setItem: (key: string, value: string) => void kept.set(key, value),
        removeItem: (key: string) => void kept.delete(key),
      },
      // What comes after the password was found right is not of interest here.
      fetch: (url: URL | string) =>
        String(url).includes('list') ? Promise.resolve(new Response('[]')) : new Promise(() => {}),
    })
  })
  after(() => {
    Object.assign(globalThis, { fetch, document: undefined, sessionStorage: undefined })
  })

  it('keeps no password of an earlier visit where its customer does not want to stay signed in', async () => {
    const { signIn } = (await import(subject)) as SessionModule
    void signIn({ customer: 'anna', password: 'old' }, true)
    await settled()
    expect([...kept.values()].join()).to.include('old')
    void signIn({ customer: 'bert', password: 'new' }, false)
    await settled()
    expect(kept.size).to.equal(0)
  })
})
