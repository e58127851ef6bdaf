import { createFileService, createKeyedCounter, type FileService } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import {
  createApp,
  createHttpServer,
  createHttpsServer,
  createMulterStorage,
  createRequestCounters,
  createRouter,
  type RouterOptions,
} from '../src/index.ts'

const service = createFileService({ store: createMemoryBlobStore() })

const wrongOptions: readonly (readonly [options: unknown, words: RegExp])[] = [
  ['/files', /Options must be an object, not a string/],
  [{ prefix: 'f' }, /prefix must begin with a slash and not end with one, .* not "f"/],
  [{ prefix: '/f/' }, /prefix must begin .* not "\/f\/"/],
  [{ prefix: '/' }, /prefix must begin .* not "\/"/],
  [{ prefix: 5 }, /prefix must be a string/],
  [{ authenticate: service }, /authenticate must be a function, not an Object/],
  [{ trustedProxies: '127.0.0.1' }, /trustedProxies must be an array of strings/],
  [{ corsOrigins: '*' }, /corsOrigins must be an array of strings/],
  [{ maxRequests: '5' }, /maxRequests must be a number of requests, not the string "5"/],
  [{ maxRequestsPerCustomer: NaN }, /maxRequestsPerCustomer.*NaN/],
  [{ requestCounters: createKeyedCounter() }, /all is missing: createRequestCounters\(\)/],
  [{ requestCounters: { ...createRequestCounters(), all: {} } }, /all has no count\(\)/],
  [{ log: () => {} }, /log must be an object, not a function/],
  [{ log: {} }, /log has no info\(\)/],
  [{ web: {} }, /web must be a function/],
  [{ audit: true }, /audit must be a function/],
]

for (const [name, create] of Object.entries({ createRouter, createApp })) {
  describe(`${name} with what is wrong`, () => {
    for (const [options, words] of wrongOptions) {
      it(`refuses ${JSON.stringify(options) || 'it'} (${words.source})`, () => {
        expect(() => create(service, options as RouterOptions)).to.throw(words)
      })
    }

    it('refuses what is no service', () => {
      const create_ = (given: unknown) => () => create(given as FileService)
      expect(create_(undefined)).to.throw(TypeError, 'The service is missing')
      expect(create_(Promise.resolve(service))).to.throw(TypeError, 'await it first')
      expect(create_({})).to.throw(TypeError, 'The service has no authenticate()')
    })
  })
}

describe('createMulterStorage with what is wrong', () => {
  it('refuses options without filesOf', () => {
    const create = (options: unknown) => () => createMulterStorage(options as never)
    expect(create(undefined)).to.throw(TypeError, 'missing: createMulterStorage({ filesOf })')
    expect(create({})).to.throw(TypeError, 'filesOf is missing')
    expect(create({ filesOf: service })).to.throw(TypeError, 'filesOf must be a function')
  })
})

describe('createHttpServer with what is wrong', () => {
  it('refuses what is no application, and what is no certificate', () => {
    expect(() => createHttpServer(undefined as never)).to.throw('The application is missing')
    expect(() => createHttpServer({} as never)).to.throw('The application has no callback()')
    const app = createApp(service)
    expect(() => createHttpsServer(app, undefined as never)).to.throw('createHttpsServer(app, {')
    expect(() => createHttpsServer(app, {} as never)).to.throw('certificate is missing')
  })
})
