import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { Uploaded } from '../../src/model/file-hooks.ts'
import { createRevocableLocks } from '../../src/model/concurrency.ts'
import { chunks, pulled, textOf } from '../content.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'
import { day, startUploads } from './links-fixture.ts'

describe('links to upload', () => {
  it('store one file of the name that they were made for, as the customer', async () => {
    const uploaded: Uploaded[] = []
    const { uploads, files } = await startUploads(
      'new',
      {},
      { hooks: { onUploaded: (event) => void uploaded.push(event) } },
    )
    expect(uploads).to.deep.include({ customer: { name: 'alice' }, name: 'new', isPrefix: false })
    const stored = await uploads.upload('new', chunks('content'))
    expect(await textOf((await files.serve('new')).content)).to.equal('content')
    expect(uploaded.at(-1)).to.deep.equal({ customer: { name: 'alice' }, file: stored })
  })

  it('never replace a file, not even one that came meanwhile, unless they were made for that', async () => {
    const { uploads, files, uploadLink, openUpload } = await startUploads('new')
    const content = pulled()
    const uploading = refusal(uploads.upload('new', content, { createOnly: false }))
    await turn()
    await files.upload('new', chunks('of alice'))
    content.finish()
    expect(await uploading).to.equal('already-exists')
    expect(await refusal(uploads.upload('new', chunks('x')))).to.equal('already-exists')
    expect(await textOf((await files.serve('new')).content)).to.equal('of alice')
    const { token } = await uploadLink('new', { replace: true })
    const replacing = await openUpload('new', token)
    await replacing.upload('new', chunks('replaced'))
    expect(await textOf((await files.serve('new')).content)).to.equal('replaced')
    const careful = replacing.upload('new', chunks('x'), { createOnly: true })
    expect(await refusal(careful)).to.equal('already-exists')
  })

  it('store exactly one of many uploads at once', async () => {
    const { openUpload } = await startUploads('new')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, async () => (await openUpload()).upload('new', chunks('x'))),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
  })

  it('know whether they store anything more', async () => {
    for (const [options, isUsedUp] of [
      [{}, [false, true]],
      [{ replace: true }, [false, false]],
      [{ isPrefix: true, maxFiles: 1 }, [false, true]],
      [{ isPrefix: true, maxFiles: 2 }, [false, false]],
    ] as const) {
      const { uploads } = await startUploads('new', options)
      const before = await uploads.isUsedUp()
      const name = 'isPrefix' in options ? 'newer' : 'new'
      await uploads.upload(name, chunks('x'))
      expect([before, await uploads.isUsedUp()], JSON.stringify(options)).to.deep.equal(isUsedUp)
    }
  })

  it('are good for no other name', async () => {
    const { uploads, openUpload } = await startUploads('new')
    for (const name of ['a', 'New', 'new ', 'ne', 'newer', '', '..']) {
      expect(await refusal(openUpload(name)), name).to.equal('link-refused')
    }
    expect(await rejection(uploads.upload('a', chunks('x')))).to.include({
      code: 'invalid-file-name',
      message: 'Invalid filename: the link is for other names',
    })
    expect(await refusal(uploads.upload('..', chunks('x')))).to.equal('invalid-file-name')
  })

  it('do nothing but upload, and links to files do not upload', async () => {
    const { links, uploadLink, link, openUpload, uploads } = await startUploads('new')
    const { token } = await uploadLink('a', { replace: true })
    expect(await refusal(links.open({ token, name: 'a' }))).to.equal('link-refused')
    const opening = await link('a')
    expect(await refusal(openUpload('a', opening.token))).to.equal('link-refused')
    const bounds = ['maxFiles', 'maxSize', 'replace', 'expiresAt']
    const known = ['customer', 'name', 'isPrefix', ...bounds]
    expect(Object.keys(uploads)).to.have.members([...known, 'isUsedUp', 'upload', 'resumable'])
  })

  it('expire, and end with the password, like all links', async () => {
    const { openUpload, add, wait } = await startUploads('new', { expiresInMs: day })
    wait(day - 1)
    const uploads = await openUpload()
    wait(1)
    expect(await refusal(openUpload())).to.equal('link-refused')
    await uploads.upload('new', chunks('begun in time'))
    wait(-day)
    await openUpload()
    add('alice', 'another hash')
    expect(await refusal(openUpload())).to.equal('link-refused')
  })

  it('cannot be given other bounds', async () => {
    const { token, openUpload } = await startUploads('in-', {
      isPrefix: true,
      maxFiles: 2,
      maxSize: 10,
    })
    expect(token).to.match(/^[0-9a-z]+\.p3n2s10\.alice\.[0-9a-f]{64}$/u)
    for (const other of [
      'p3n2s10r',
      'p3n3s10',
      'p3n2s11',
      'p3n2',
      'p2n2s10',
      's10',
      '',
      'i',
      'r',
    ]) {
      const forged = token.replace('p3n2s10', other)
      for (const name of ['in-', 'in', 'in-a']) {
        expect(await refusal(openUpload(name, forged)), other).to.equal('link-refused')
      }
    }
  })

  it('bound the size of a file, by what is announced and by what arrives', async () => {
    const { uploads, names } = await startUploads('new', { maxSize: 5 })
    expect(await refusal(uploads.upload('new', chunks(1), { size: 6 }))).to.equal('file-too-large')
    expect(await refusal(uploads.upload('new', chunks(3, 3)))).to.equal('file-too-large')
    expect(await names()).to.deep.equal(['a', 'b'])
    await uploads.upload('new', chunks(3, 2))
    const small = await startUploads('new', { maxSize: 5 }, { maxFileSize: 4 })
    expect(await refusal(small.uploads.upload('new', chunks(5)))).to.equal('file-too-large')
  })

  it("keep the customer's quotas", async () => {
    const { openUpload, rows } = await startUploads('in-', { isPrefix: true })
    rows.set('alice', { name: 'alice', passwordHash: 'hash of alice', quota: 9, maxFiles: 3 })
    const uploads = await openUpload()
    expect(await refusal(uploads.upload('in-1', chunks(3)))).to.equal('quota-exceeded')
    await uploads.upload('in-1', chunks(1))
    expect(await refusal(uploads.upload('in-2', chunks(1)))).to.equal('quota-exceeded')
  })

  it('are made for a name that is free, and in words that name what is wrong', async () => {
    const { uploadLink, service } = await startUploads('new')
    expect(await refusal(uploadLink('a'))).to.equal('already-exists')
    await uploadLink('a', { replace: true })
    await uploadLink('a', { isPrefix: true })
    expect(await refusal(uploadLink('..', { isPrefix: true }))).to.equal('invalid-file-name')
    expect(await refusal(uploadLink('', { isPrefix: true }))).to.equal('invalid-file-name')
    for (const [option, value] of [
      ['expiresInMs', day + 1],
      ['maxSize', 0],
      ['maxSize', 1.5],
      ['maxSize', Infinity],
      ['maxFiles', 0],
      ['maxFiles', 1.5],
      ['maxFiles', 10_001],
    ] as const) {
      const error = await rejection(uploadLink('new', { isPrefix: true, [option]: value }))
      expect(error).to.be.instanceOf(RangeError).with.property('message').that.includes(option)
    }
    expect(await rejection(uploadLink('new', { maxFiles: 1 }))).to.be.instanceOf(TypeError)
    const stranger = service.filesOf({ name: 'carol' }).uploadLink?.('a') ?? Promise.resolve()
    expect(await refusal(stranger)).to.equal('invalid-credentials')
  })
})

describe('links to upload under a prefix', () => {
  const prefixed = { isPrefix: true, maxFiles: 2 }

  it('store files whose names begin with it, and are longer', async () => {
    const { uploads, openUpload, names } = await startUploads('in-', prefixed)
    expect(uploads).to.include({ name: 'in-', isPrefix: true })
    await uploads.upload('in-1', chunks('x'))
    await (await openUpload('in-2')).upload('in-2', chunks('x'))
    expect(await names()).to.deep.equal(['a', 'b', 'in-1', 'in-2'])
    for (const name of ['in-', 'in', 'IN-3', 'a', ' in-3']) {
      const names = name === 'in-' ? 'longer names that begin with this one' : 'other names'
      expect(await rejection(uploads.upload(name, chunks('x'))), name).to.include({
        code: 'invalid-file-name',
        message: `Invalid filename: the link is for ${names}`,
      })
    }
    for (const name of ['in', 'IN-3', 'a', ' in-3', '']) {
      expect(await refusal(openUpload(name)), name).to.equal('link-refused')
    }
    expect(await refusal(uploads.upload(`in-${'x'.repeat(255)}`, chunks('x')))).to.equal(
      'invalid-file-name',
    )
  })

  it('compare code unit by code unit: composed and decomposed letters are two', async () => {
    const { openUpload } = await startUploads('\u00e9', prefixed)
    expect((await openUpload('\u00e9.txt')).name).to.equal('\u00e9')
    expect(await refusal(openUpload('e\u0301.txt'))).to.equal('link-refused')
    const emoji = await startUploads('💾', prefixed)
    expect((await emoji.openUpload('💾x')).name).to.equal('💾')
    expect(await refusal(emoji.openUpload('\ud83d'))).to.equal('link-refused')
  })

  it('store none where there are as many as they allow, whoever has stored those', async () => {
    const { uploads, files, openUpload, token } = await startUploads('in-', prefixed)
    await files.upload('in-of-alice', chunks('x'))
    await uploads.upload('in-1', chunks('x'))
    const unread = pulled()
    expect(await refusal(uploads.upload('in-2', unread))).to.equal('quota-exceeded')
    expect(unread.asked()).to.equal(0)
    await files.delete('in-of-alice')
    await (await openUpload('in-', token)).upload('in-2', chunks('x'))
  })

  it('count once more when the content has arrived', async () => {
    const { uploads, files, names } = await startUploads('in-', { isPrefix: true, maxFiles: 1 })
    const content = pulled()
    const uploading = refusal(uploads.upload('in-1', content))
    await turn()
    await files.upload('in-of-alice', chunks('x'))
    content.finish()
    expect(await uploading).to.equal('quota-exceeded')
    expect(await names()).to.deep.equal(['a', 'b', 'in-of-alice'])
  })

  it('may replace a file where there are as many as they allow, if they were made for that', async () => {
    const { uploads } = await startUploads('in-', { ...prefixed, replace: true })
    await uploads.upload('in-1', chunks('x'))
    await uploads.upload('in-2', chunks('x'))
    await uploads.upload('in-1', chunks('y'))
    expect(await refusal(uploads.upload('in-3', chunks('x')))).to.equal('quota-exceeded')
  })

  it('never store more, of however many uploads at once, by links and services that share locks', async () => {
    const links = { publishLocks: createRevocableLocks() }
    const shared = { links, store: createMemoryBlobStore() }
    const options = { isPrefix: true, maxFiles: 5 }
    const first = await startUploads('in-', options, shared)
    const second = await startUploads('in-', options, shared)
    const { token } = await second.uploadLink('in-0', options)
    const narrower = await second.openUpload('in-0', token)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => {
        const uploads = [first.uploads, second.uploads, narrower][n % 3] ?? narrower
        return uploads.upload(`in-0${n}`, chunks('x', 'y'))
      }),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(5)
    expect((await first.names()).filter((name) => name.startsWith('in-'))).to.have.length(5)
  })

  it('hold no lock after an upload that has failed or was given up', async () => {
    const { uploads, files } = await startUploads('in-', prefixed)
    const leaving = new AbortController()
    const content = pulled()
    const given = rejection(uploads.upload('in-1', content, { signal: leaving.signal }))
    await turn()
    leaving.abort(new Error('gone'))
    await given
    const late = pulled()
    const refused = refusal(uploads.upload('in-2', late))
    await turn()
    await files.upload('in-2', chunks('x'))
    late.finish()
    expect(await refused).to.equal('already-exists')
    await files.delete('in-2')
    await uploads.upload('in-1', chunks('x'))
    await uploads.upload('in-2', chunks('x'))
  })

  it('give up the lock that they wait for with the upload', async () => {
    const publishLocks = createRevocableLocks()
    const { uploads } = await startUploads('in-', prefixed, { links: { publishLocks } })
    const { release } = await publishLocks('alice')
    const leaving = new AbortController()
    const given = rejection(uploads.upload('in-1', chunks('x'), { signal: leaving.signal }))
    await turn()
    leaving.abort(new Error('gone'))
    await given
    release()
    await uploads.upload('in-1', chunks('x'))
  })

  it('count what an earlier holder that has lost the lock may still publish', async () => {
    const publishLocks = async () => ({ lostHolders: 1, isSameHolder: false, release: () => {} })
    const { uploads, names } = await startUploads('in-', prefixed, { links: { publishLocks } })
    await uploads.upload('in-1', chunks('x'))
    expect(await refusal(uploads.upload('in-2', chunks('x')))).to.equal('quota-exceeded')
    expect(await names())
      .to.include('in-1')
      .and.not.include('in-2')
  })

  it('need a function for publishLocks', () => {
    const store = createMemoryBlobStore()
    expect(() => createFileService({ store, links: { publishLocks: 'x' } as never })).to.throw(
      'createSignature',
    )
    const links = { createSignature: () => {}, publishLocks: 'x' } as never
    expect(() => createFileService({ store, links })).to.throw('publishLocks')
  })
})
