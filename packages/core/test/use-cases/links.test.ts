import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createMemoryFailureCounter, createMemoryCredentialSource } from '../../src/memory/index.ts'
import { createLinkBrake } from '../../src/policy/brakes.ts'
import { chunks } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { day, startLinks } from './links-fixture.ts'

describe('links', () => {
  it('open the file that they were made for, with the customer as the source has it', async () => {
    const { links, link, token } = await startLinks()
    const customer = { name: 'alice', quota: 9 }
    expect(await links.open({ token, name: 'a' })).to.deep.equal({
      customer,
      name: 'a',
      inline: false,
    })
    const shown = await link('b', { inline: true })
    expect(await links.open({ token: shown.token, name: 'b' })).to.include({ inline: true })
  })

  it('open no other file', async () => {
    const { token, open } = await startLinks()
    for (const name of ['b', 'A', 'a ', 'missing', '', '..']) {
      expect(await open(token, name), name).to.equal('link-refused')
    }
  })

  it('are good for an hour by default, up to the moment that they say', async () => {
    const { links, token, expiresAt, open, wait } = await startLinks()
    expect(expiresAt.getTime()).to.equal(1_000_000_000_000 + 60 * 60 * 1000)
    wait(60 * 60 * 1000 - 1)
    await links.open({ token, name: 'a' })
    wait(1)
    expect(await open(token)).to.equal('link-refused')
  })

  it('are good for as long as asked, in whole seconds, and never longer than the service allows', async () => {
    const { link } = await startLinks()
    const { expiresAt } = await link('a', { expiresInMs: 1 })
    expect(expiresAt.getTime()).to.equal(1_000_000_001_000)
    await link('a', { expiresInMs: day })
    for (const expiresInMs of [0, 0.5, day + 1, Infinity, NaN, -1]) {
      expect(await rejection(link('a', { expiresInMs }))).to.be.instanceOf(RangeError)
    }
    expect(await rejection(link('a', { expiresInMs: '1' as never }))).to.be.instanceOf(TypeError)
  })

  it('end with the password, with the customer, and come back with neither', async () => {
    const { links, token, open, rows, add } = await startLinks()
    add('alice', 'another hash')
    expect(await open(token)).to.equal('link-refused')
    rows.delete('alice')
    expect(await open(token)).to.equal('link-refused')
    add('alice', 'hash of alice')
    await links.open({ token, name: 'a' })
  })

  it('are worth nothing with any bit of theirs flipped, and cut anywhere', async () => {
    const { token, open } = await startLinks()
    const bytes = Buffer.from(token)
    for (let bit = 0; bit < 8 * bytes.length; bit++) {
      const altered = Buffer.from(bytes)
      altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      for (const encoding of ['utf8', 'latin1'] as const) {
        expect(await open(altered.toString(encoding)), `${bit}`).to.equal('link-refused')
      }
    }
    for (let length = 1; length < token.length; length++) {
      expect(await open(token.slice(0, length))).to.equal('link-refused')
      expect(await open(token.slice(length))).to.equal('link-refused')
    }
    for (const more of [`${token} `, ` ${token}`, `0${token}`, `${token}\n`, token.toUpperCase()]) {
      expect(await open(more), more).to.equal('link-refused')
    }
  })

  it('say of one customer nothing that holds for another, and cannot be given more time', async () => {
    const { token, open, service } = await startLinks()
    await service.filesOf({ name: 'bob' }).upload('a', chunks(5))
    const [expires = '', inline, customer, signature] = token.split('.')
    expect(customer).to.equal('alice')
    const later = (parseInt(expires, 36) + 1).toString(36)
    for (const forged of [
      [expires, inline, 'bob', signature],
      [expires, inline, 'nobody', signature],
      [later, inline, customer, signature],
      [expires, 'i', customer, signature],
      [expires, inline, customer, '0'.repeat(64)],
      [expires, inline, customer, createHmac('sha256', new Uint8Array(32)).digest('hex')],
    ]) {
      expect(await open(forged.join('.')), forged.join('.')).to.equal('link-refused')
    }
  })

  it('cannot be signed with the key that stands in for that of an unknown customer', async () => {
    const { token, open, signed } = await startLinks()
    const forged = token.replace('alice', 'nobody').slice(0, -64)
    await open(`${forged}${'0'.repeat(64)}`)
    const signature = createHmac('sha256', new Uint8Array(32)).update(signed.at(-1) ?? '')
    expect(await open(`${forged}${signature.digest('hex')}`)).to.equal('link-refused')
  })

  it('take the same steps whatever is wrong with them', async () => {
    const { token, open, signed } = await startLinks()
    const wrong = [
      '',
      'x',
      token.replace('alice', 'nobody'),
      token.replace(/.$/u, '!'),
      `${token}0`,
    ]
    for (const given of wrong) {
      const before = signed.length
      expect(await open(given)).to.equal('link-refused')
      // By the recent generation and by the present one, of which each has a key.
      expect(signed.length - before, given).to.equal(4)
    }
  })

  it('keep customers and names apart whatever characters they have', async () => {
    const { service, links, add } = await startLinks()
    const odd = ['a.b', '.a', 'zoë', 'a"b', 'a b', '💾', "o'neill", '0.i.alice', '\u2028']
    for (const name of odd) {
      add(name, `hash of ${name}`)
      const files = service.filesOf({ name })
      for (const file of odd) {
        await files.upload(file, chunks(1))
        const { token = '' } = (await files.link?.(file)) ?? {}
        const { customer } = await links.open({ token, name: file })
        expect(customer.name).to.equal(name)
      }
    }
  })

  it('are made of files only that there are, of customers whom the source has', async () => {
    const { link, service } = await startLinks()
    expect(await refusal(link('missing'))).to.equal('not-found')
    expect(await refusal(link('..'))).to.equal('invalid-file-name')
    const stranger = service.filesOf({ name: 'carol' })
    await stranger.upload('a', chunks(1))
    expect(await refusal(stranger.link?.('a') ?? Promise.resolve())).to.equal('invalid-credentials')
  })

  it('are refused to an address with too many wrong ones, apart from its logins, for a time', async () => {
    const counter = createMemoryFailureCounter({ windowMs: 60_000 })
    const brake = createLinkBrake({
      counter,
      failuresPerAddress: 2,
      isExempt: (a) => a === 'e',
    })
    const { links, token } = await startLinks({ links: { brake } })
    const open = (given: string, address: string) =>
      refusal(links.open({ token: given, name: 'a', address }))
    for (const address of ['x', 'x', 'e', 'e', 'e']) {
      expect(await open('wrong', address)).to.equal('link-refused')
    }
    const error = await rejection(links.open({ token, name: 'a', address: 'x' }))
    expect(error).to.include({ code: 'too-many-attempts' })
    expect(error).to.have.property('retryAfterMs').that.is.within(1, 60_000)
    expect((await counter.read('address x')).failures).to.equal(0)
    await links.open({ token, name: 'a', address: 'y' })
    await links.open({ token, name: 'a', address: 'e' })
  })

  it('do not count for the brake when they were right and have expired', async () => {
    const counter = createMemoryFailureCounter({ windowMs: 60_000 })
    const { token, open, wait } = await startLinks({
      links: { brake: createLinkBrake({ counter }) },
    })
    wait(day)
    for (let n = 0; n < 40; n++) expect(await open(token)).to.equal('link-refused')
    expect((await counter.read('link ')).failures).to.equal(0)
  })

  it('fail as the source fails, which is not a wrong link', async () => {
    const fault = new Error('no directory')
    const service = createFileService({
      store: createMemoryBlobStore(),
      credentials: { find: () => undefined, linkKey: () => Promise.reject(fault) },
      links: { createSignature: (key) => createHmac('sha256', key) },
    })
    expect(
      await rejection(service.links?.open({ token: 'x', name: 'a' }) ?? Promise.resolve()),
    ).to.equal(fault)
  })

  it('are there only with what signs them', () => {
    const store = createMemoryBlobStore()
    const credentials = createMemoryCredentialSource([])
    const links = { createSignature: (key: Uint8Array) => createHmac('sha256', key) }
    for (const service of [
      createFileService({ store, credentials }),
      createFileService({ store, links }),
      createFileService({ store, credentials: { find: () => undefined }, links }),
    ]) {
      expect(service.links).to.equal(undefined)
      expect(service.filesOf({ name: 'a' })).to.not.have.property('link')
    }
    expect(createFileService({ store, credentials, links }).links?.maxAgeMs).to.equal(7 * day)
    const unset = { brake: undefined, maxAgeMs: undefined, publishLocks: undefined }
    const unlimited = { store, credentials, links: { ...links, ...unset } as never }
    expect(createFileService(unlimited).links?.maxAgeMs).to.equal(7 * day)
    const wrong = { ...links, maxAgeMs: 0 }
    expect(() => createFileService({ store, links: wrong })).to.throw(RangeError, 'maxAgeMs')
  })
})
