import { createHmac } from 'node:crypto'
import { expect } from 'chai'
import { FileServiceError } from '../../src/model/errors.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryCredentialSource } from '../../src/memory/index.ts'
import { startLinks } from './links-fixture.ts'

/** The code of the error with which `opening` rejects; `opened` if it resolves. */
const outcomeOf = (opening: Promise<unknown> | undefined) =>
  (opening ?? Promise.resolve()).then(
    () => 'opened',
    (error: unknown) => (error as FileServiceError).code,
  )

/** Milliseconds after which other services have read the generation again. */
const recent = 500

describe('revokeLinks', () => {
  it('ends all links of the customer at once, and none that are made later', async () => {
    const { files, links, link, uploadLink, token } = await startLinks()
    const open = (given: string) => outcomeOf(links.open({ token: given, name: 'a' }))
    const upload = await uploadLink('c')
    const openUpload = (given: string) => outcomeOf(links.openUpload({ token: given, name: 'c' }))
    expect([await open(token), await openUpload(upload.token)]).to.deep.equal(['opened', 'opened'])
    await files.revokeLinks?.()
    expect([await open(token), await openUpload(upload.token)]).to.deep.equal([
      'link-refused',
      'link-refused',
    ])
    const later = [await link('a'), await uploadLink('c')] as const
    expect(await open(later[0].token)).to.equal('opened')
    expect(await openUpload(later[1].token)).to.equal('opened')
    await files.revokeLinks?.()
    expect(await open(later[0].token)).to.equal('link-refused')
  })

  it('leaves the links of others alone', async () => {
    const { service, files, links } = await startLinks()
    const bob = service.filesOf({ name: 'bob' })
    await bob.upload('x', new Blob(['x']).stream())
    const made = await bob.link?.('x')
    await files.revokeLinks?.()
    const opened = await links.open({ token: made?.token ?? '', name: 'x' })
    expect(opened.customer.name).to.equal('bob')
  })

  it('is noticed by another service on the store within half a second, and not by asking each time', async () => {
    const memory = createMemoryBlobStore()
    let reads = 0
    const { linkGenerations } = memory
    if (!linkGenerations) throw new Error('There are no generations')
    const read = async (customer: string) => {
      reads++
      return linkGenerations.read(customer)
    }
    const store = { ...memory, linkGenerations: { ...linkGenerations, read } }
    let now = 1_000_000
    const options = {
      store,
      credentials: createMemoryCredentialSource([{ name: 'alice', passwordHash: 'h' }]),
      links: { createSignature: (key: Uint8Array) => createHmac('sha256', key) },
      now: () => now,
    }
    const [first, second] = [createFileService(options), createFileService(options)]
    const files = first.filesOf({ name: 'alice' })
    await files.upload('a', new Blob(['a']).stream())
    const { token } = (await files.link?.('a')) ?? { token: '' }
    const open = () => outcomeOf(second.links?.open({ token, name: 'a' }))
    const before = reads
    for (let count = 0; count < 100; count++) expect(await open()).to.equal('opened')
    expect(reads - before).to.equal(1)
    await files.revokeLinks?.()
    now += recent
    expect(await open()).to.equal('link-refused')
  })

  it('opens links that another service has made since at once', async () => {
    const { store, links, token } = await startLinks()
    const open = (given: string) => outcomeOf(links.open({ token: given, name: 'a' }))
    expect(await open(token)).to.equal('opened')
    const other = await startLinks({ store })
    await other.files.revokeLinks?.()
    const made = await other.link('a')
    expect(await open(made.token)).to.equal('opened')
    expect(await open(token)).to.equal('link-refused')
  })

  it('ends links that were used while the end took longer than half a second', async () => {
    const memory = createMemoryBlobStore()
    const { linkGenerations } = memory
    if (!linkGenerations) throw new Error('There are no generations')
    let proceed = () => {}
    const mayProceed = new Promise<void>((resolve) => (proceed = resolve))
    const renew = async (customer: string) => {
      await mayProceed
      return linkGenerations.renew(customer)
    }
    const { files, token, links, wait } = await startLinks({
      store: { ...memory, linkGenerations: { ...linkGenerations, renew } },
    })
    const open = () => outcomeOf(links.open({ token, name: 'a' }))
    const ending = files.revokeLinks?.()
    wait(recent)
    expect(await open()).to.equal('opened')
    proceed()
    await ending
    expect(await open()).to.equal('link-refused')
  })

  it('leaves links as they are while the store cannot end them', async () => {
    const memory = createMemoryBlobStore()
    const { linkGenerations } = memory
    if (!linkGenerations) throw new Error('There are no generations')
    let refuse = () => {}
    const refusal = new Promise<never>((_, reject) => {
      refuse = () => reject(new FileServiceError('insufficient-storage', 'full'))
    })
    const { files, token, links } = await startLinks({
      store: { ...memory, linkGenerations: { ...linkGenerations, renew: () => refusal } },
    })
    const opening = () => outcomeOf(links.open({ token, name: 'a' }))
    const ending = outcomeOf(files.revokeLinks?.())
    const meanwhile = opening()
    await new Promise(setImmediate)
    refuse()
    expect([await ending, await meanwhile, await opening()]).to.deep.equal([
      'insufficient-storage',
      'opened',
      'opened',
    ])
  })

  it('opens no link while the store cannot say what the generation is, and asks again', async () => {
    const memory = createMemoryBlobStore()
    const { linkGenerations } = memory
    if (!linkGenerations) throw new Error('There are no generations')
    let isAway = false
    const read = async (customer: string) => {
      if (isAway) throw new FileServiceError('store-unavailable', 'away')
      return linkGenerations.read(customer)
    }
    const { token, links, wait } = await startLinks({
      store: { ...memory, linkGenerations: { ...linkGenerations, read } },
    })
    const open = () => outcomeOf(links.open({ token, name: 'a' }))
    isAway = true
    wait(recent)
    expect(await open()).to.equal('store-unavailable')
    isAway = false
    expect(await open()).to.equal('opened')
  })

  it('is not there where the store has no generations, whose links stay as they are', async () => {
    const store = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'linkGenerations')
    const without = await startLinks({ store })
    const { files, links, token } = await startLinks()
    expect('revokeLinks' in without.files).to.equal(false)
    expect([without.links.areRevocable, links.areRevocable]).to.deep.equal([false, true])
    expect('revokeLinks' in files).to.equal(true)
    expect(without.token, 'the first generation changes nothing').to.equal(token)
  })

  it('leaves links good that were made before customers could end them', async () => {
    const { links } = await startLinks()
    const token = 'gjdjps..alice.354b5da24eb19ec6fe74b4cbd19e27ef63165aa0584a8222656a2188c1ba0f1b'
    expect(await outcomeOf(links.open({ token, name: 'a' }))).to.equal('opened')
  })
})
