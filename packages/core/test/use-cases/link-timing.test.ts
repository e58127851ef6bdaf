import { expect } from 'chai'
import { createMemoryCredentialSource, createMemoryFailureCounter } from '../../src/memory/index.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createLinkBrake } from '../../src/policy/brakes.ts'
import { refusal } from '../rejection.ts'
import { day, startLinks } from './links-fixture.ts'

/** Links, and the names of all calls that take time, in order. */
async function startCounted() {
  const calls: string[] = []
  const counter = createMemoryFailureCounter({ windowMs: 60_000 })
  const memory = createMemoryBlobStore()
  const { linkGenerations } = memory
  if (!linkGenerations) throw new Error('There are no generations')
  const read = (customer: string) => (calls.push('generation'), linkGenerations.read(customer))
  const source = createMemoryCredentialSource([{ name: 'alice', passwordHash: 'hash of alice' }])
  const started = await startLinks({
    store: { ...memory, linkGenerations: { ...linkGenerations, read } },
    credentials: {
      find: (name) => (calls.push('find'), source.find(name)),
      linkKey: async (name) => (calls.push('key'), source.linkKey?.(name)),
    },
    verifyPassword: () => (calls.push('password'), false),
    links: {
      brake: createLinkBrake({
        counter: {
          read: (key) => (calls.push('read'), counter.read(key)),
          add: (key) => (calls.push('count'), counter.add(key)),
        },
      }),
    },
  })
  const stepsOf = async (judge: () => Promise<unknown>) => {
    started.wait(500)
    const [callsBefore, signedBefore] = [calls.length, started.signed.length]
    expect(await refusal(judge())).to.equal('link-refused')
    const signed = started.signed.slice(signedBefore).map(() => 'sign')
    return [...calls.slice(callsBefore), ...signed].join(' ')
  }
  return { ...started, stepsOf }
}

describe('the work for a link that is refused', () => {
  for (const verb of ['open', 'openUpload'] as const) {
    it(`is the same for ${verb}, whether it is wrong, altered, expired, or of an unknown customer`, async () => {
      const { links, link, uploadLink, stepsOf, wait } = await startCounted()
      const made = await (verb === 'open' ? link('a') : uploadLink('a', { replace: true }))
      const { token } = made
      const other = await (verb === 'open' ? uploadLink('c') : link('a'))
      const judged = {
        nothing: '',
        nonsense: 'x'.repeat(1000),
        'another signature': token.replace(/.$/u, (last) => (last === '0' ? '1' : '0')),
        'another customer': token.replace('.alice.', '.bob.'),
        'an unknown customer': token.replace('.alice.', '.unknown.'),
        'more time': `1${token}`,
        'other wishes': token.replace(/\.\w?\./u, '.p1n1.'),
        'the other verb': other.token,
      }
      const steps = new Map<string, string>()
      for (const [what, given] of Object.entries(judged)) {
        steps.set(what, await stepsOf(() => links[verb]({ token: given, name: 'a' })))
      }
      steps.set('another name', await stepsOf(() => links[verb]({ token, name: 'b' })))
      wait(day)
      steps.set('expired', await stepsOf(() => links[verb]({ token, name: 'a' })))
      for (const [what, taken] of steps) {
        // What names no customer asks for no generation.
        const asked = what.startsWith('no') ? '' : ' generation generation'
        expect(taken, what).to.equal(`read key find${asked} count sign sign sign sign`)
      }
    })
  }
})
