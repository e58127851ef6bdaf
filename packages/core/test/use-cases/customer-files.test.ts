import { createHash, createHmac } from 'node:crypto'
import { expect } from 'chai'
import { createFileService } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createMemoryCredentialSource } from '../../src/memory/index.ts'
import { rightSets } from '../../src/model/customer.ts'
import { rights, type Right, type Credential } from '../../src/ports/credential-source.ts'
import type { CustomerFiles } from '../../src/use-cases/customer-files.ts'
import { arrayOf, chunks, textOf } from '../content.ts'
import { refusal, rejection, thrownCode } from '../rejection.ts'

const hourMs = 60 * 60 * 1000

/** A service with files `a` and `b` of alice, and her logins; rows may change while it runs. */
async function startLogins() {
  let now = 1_000_000_000_000
  const rows = new Map<string, Credential>()
  const source = () => createMemoryCredentialSource(rows.values())
  const store = createMemoryBlobStore()
  const service = createFileService({
    store,
    credentials: {
      find: (name) => source().find(name),
      linkKey: async (name) => source().linkKey?.(name),
    },
    verifyPassword: (password, passwordHash) => password === passwordHash,
    createSha256: () => createHash('sha256'),
    keepReplacedMs: 24 * hourMs,
    links: { createSignature: (key) => createHmac('sha256', key) },
    now: () => now,
  })
  const set = (name: string, more: Partial<Credential> = {}) => {
    const [, login] = name.split('/')
    const row = { name, passwordHash: `password of ${name}`, ...(login && { login }), ...more }
    rows.set(name, row)
  }
  set('alice')
  const owner = service.filesOf({ name: 'alice' })
  await owner.upload('gone', chunks(2))
  await owner.upload('a', chunks(3))
  await owner.upload('b', chunks(4))
  await store.delete({ customer: 'alice', name: 'gone' }, { keepReplaced: true })
  const logIn = (name: string, password = `password of ${name}`) =>
    service.authenticate({ name, password })
  const ofLogin = async (may?: readonly Right[], login = 'ci') => {
    set(`alice/${login}`, may && { may })
    return logIn(`alice/${login}`)
  }
  const { links } = service
  if (!links) throw new Error('There are no links')
  return {
    service,
    links,
    store,
    rows,
    set,
    owner,
    logIn,
    ofLogin,
    wait: (ms: number) => (now += ms),
  }
}

function uploadsOf({ resumable }: CustomerFiles) {
  if (!resumable) throw new Error('The memory store keeps uploads in pieces')
  return resumable
}

interface Call {
  readonly needs: readonly Right[]
  readonly run: (files: CustomerFiles) => unknown
}

function historyOf({ history }: CustomerFiles) {
  if (!history) throw new Error('The memory store has a history')
  return history
}

/** Every call on files, and the rights that it needs. */
const calls: Readonly<Record<string, Call>> = {
  upload: { needs: ['create'], run: (files) => files.upload('new', chunks(1)) },
  serve: { needs: ['read'], run: async (files) => (await files.serve('a')).close() },
  stat: { needs: ['read'], run: (files) => files.stat('a') },
  delete: { needs: ['delete'], run: (files) => files.delete('a') },
  rename: { needs: ['read', 'create', 'delete'], run: (files) => files.rename?.('a', 'c') },
  list: { needs: ['list'], run: (files) => arrayOf(files.list()) },
  listDetails: { needs: ['list'], run: (files) => arrayOf(files.listDetails()) },
  usage: { needs: ['list'], run: (files) => files.usage() },
  link: { needs: ['link', 'read'], run: (files) => files.link?.('a') },
  uploadLink: { needs: ['link', 'create'], run: (files) => files.uploadLink?.('new') },
  'uploadLink to replace': {
    needs: ['link', 'create', 'replace'],
    run: (files) => files.uploadLink?.('a', { replace: true }),
  },
  revokeLinks: { needs: rights, run: (files) => files.revokeLinks?.() },
  'resumable.begin': { needs: ['create'], run: (files) => uploadsOf(files).begin('new') },
  'resumable.uploadWhole': {
    needs: ['create'],
    run: (files) => uploadsOf(files).uploadWhole('new', chunks(1), { length: 1 }),
  },
  'history.versions': {
    needs: ['list'],
    run: (files) => arrayOf(historyOf(files).versions('a')),
  },
  'history.deleted': { needs: ['list'], run: (files) => arrayOf(historyOf(files).deleted()) },
  'history.serve': {
    needs: ['read'],
    run: (files) =>
      historyOf(files)
        .serve('gone', '1')
        .then((opened) => opened.close()),
  },
  'history.restore': {
    needs: ['read', 'create'],
    run: (files) => historyOf(files).restore('gone', { as: 'new' }),
  },
  'resumable.list': { needs: ['create'], run: (files) => arrayOf(uploadsOf(files).list()) },
}

/** Every set of rights that a login may have. */
const sets = Array.from({ length: 2 ** rights.length }, (_, bits) =>
  rights.filter((_right, at) => (bits >> at) & 1),
).filter((may) => may.includes('create') || !may.includes('replace'))

describe('the files of a login', () => {
  for (const [name, { needs, run }] of Object.entries(calls)) {
    it(`need ${needs.join(', ')} for ${name}, and nothing else`, async () => {
      for (const may of sets) {
        const { ofLogin } = await startLogins()
        const files = await ofLogin(may)
        const outcome = await (async () => run(files))().then(
          () => 'done',
          (error: unknown) => String(error),
        )
        const missing = needs.filter((right) => !may.includes(right))
        if (missing.length === 0) expect(outcome, may.join()).to.equal('done')
        else expect(outcome, may.join()).to.match(new RegExp(`rights? ${missing.join(', ')}$`))
      }
    })
  }

  it('have every call that the files of the customer have', async () => {
    const { owner, ofLogin } = await startLogins()
    const files = await ofLogin(rightSets['drop-box'])
    expect(Object.keys(files).toSorted()).to.deep.equal(Object.keys(owner).toSorted())
    expect(Object.keys(uploadsOf(files)).toSorted()).to.deep.equal(
      Object.keys(uploadsOf(owner)).toSorted(),
    )
    expect(Object.keys(historyOf(files)).toSorted()).to.deep.equal(
      Object.keys(historyOf(owner)).toSorted(),
    )
  })

  it('are those of the customer, and count in its quota', async () => {
    const { set, logIn, owner } = await startLogins()
    set('alice/ci', { quota: 10 })
    const files = await logIn('alice/ci')
    expect(files.customer).to.deep.equal({ name: 'alice', login: 'ci', quota: 10 })
    await files.upload('c', chunks(3))
    expect((await arrayOf(owner.list())).flat()).to.deep.equal(['a', 'b', 'c'])
    expect(await refusal(files.upload('d', chunks(1)))).to.equal('quota-exceeded')
    expect(await files.usage()).to.include({ files: 3, bytes: 10, login: 'ci' })
  })

  it('refuse a taken name where the login may not replace, and change nothing', async () => {
    const { ofLogin, owner } = await startLogins()
    const files = await ofLogin(['list', 'read', 'create', 'delete'])
    const before = await owner.stat('a')
    expect(await refusal(files.upload('a', chunks(9)))).to.equal('already-exists')
    const asked = files.upload('a', chunks(9), { createOnly: false })
    expect(await refusal(asked)).to.equal('already-exists')
    expect(await refusal(files.rename?.('b', 'a') ?? Promise.resolve())).to.equal('already-exists')
    expect(await refusal(uploadsOf(files).begin('a'))).to.equal('already-exists')
    const whole = uploadsOf(files).uploadWhole('a', chunks(9), { length: 9 })
    expect(await refusal(whole)).to.equal('already-exists')
    expect(await owner.stat('a')).to.deep.equal(before)
    expect((await files.rename?.('b', 'c'))?.name).to.equal('c')
  })

  it('are narrowed for the customer itself, too', async () => {
    const { set, logIn } = await startLogins()
    set('alice', { may: rightSets['read-only'] })
    const files = await logIn('alice')
    expect(files.customer).to.deep.equal({ name: 'alice', may: ['list', 'read'] })
    expect(await textOf((await files.serve('a')).content)).to.have.lengthOf(3)
    expect(await refusal(files.delete('a'))).to.equal('not-allowed')
  })

  it('refuse a list at once', async () => {
    const { ofLogin } = await startLogins()
    const files = await ofLogin(rightSets['drop-box'])
    expect(thrownCode(() => files.list())).to.equal('not-allowed')
    expect(thrownCode(() => files.listDetails())).to.equal('not-allowed')
  })

  describe('uploads in pieces', () => {
    it('are seen and continued by the login that has begun them, and by the customer', async () => {
      const { ofLogin, owner } = await startLogins()
      const one = uploadsOf(await ofLogin(rightSets['append-only'], 'one'))
      const other = uploadsOf(await ofLogin(undefined, 'other'))
      const { id } = await one.begin('new', { length: 4 })
      const ids = async (uploads: typeof one) =>
        (await arrayOf(uploads.list())).flat().map((upload) => upload.id)
      expect(await ids(other)).to.deep.equal([])
      for (const call of [
        () => other.state(id),
        () => other.append(id, 0, chunks(4)),
        () => other.publish(id),
        () => other.digest(id, 0),
        () => other.discard(id),
      ]) {
        expect(await refusal(call())).to.equal('upload-not-found')
      }
      await one.append(id, 0, chunks(2))
      expect(await ids(one)).to.deep.equal([id])
      expect(await ids(uploadsOf(owner))).to.deep.equal([id])
      const { published } = await uploadsOf(owner).append(id, 2, chunks(2))
      expect(published?.size).to.equal(4)
    })

    it('do not replace a file once the login may not replace', async () => {
      const { ofLogin, owner } = await startLogins()
      const { id } = await uploadsOf(await ofLogin()).begin('a', { length: 9 })
      const narrowed = uploadsOf(await ofLogin(rightSets['append-only']))
      for (const call of [() => narrowed.append(id, 0, chunks(9)), () => narrowed.publish(id)]) {
        expect(await refusal(call())).to.equal('not-allowed')
      }
      expect((await owner.stat('a')).size).to.equal(3)
      await narrowed.discard(id)
    })

    it('do not go on once the login may not create', async () => {
      const { ofLogin } = await startLogins()
      const { id } = await uploadsOf(await ofLogin()).begin('new', { length: 9 })
      const narrowed = uploadsOf(await ofLogin(rightSets['read-only']))
      expect(await refusal(narrowed.append(id, 0, chunks(9)))).to.equal('not-allowed')
      expect(await refusal(narrowed.state(id))).to.equal('not-allowed')
    })
  })

  describe('links', () => {
    it('open files for as long as the login may read and link', async () => {
      const { ofLogin, links, rows, set, service } = await startLogins()
      const made = await (await ofLogin()).link?.('a')
      const link = { token: made?.token ?? '', name: 'a' }
      const { customer } = await links.open(link)
      expect(customer).to.deep.equal({ name: 'alice', login: 'ci' })
      expect((await service.filesOf(customer).stat('a')).size).to.equal(3)
      for (const may of [['read'], ['link'], ['list', 'create', 'link']] as const) {
        set('alice/ci', { may })
        expect(await refusal(links.open(link)), may.join()).to.equal('link-refused')
      }
      set('alice/ci', { may: ['read', 'link'] })
      await links.open(link)
      set('alice/ci', { passwordHash: 'another' })
      expect(await refusal(links.open(link))).to.equal('link-refused')
      rows.delete('alice/ci')
      expect(await refusal(links.open(link))).to.equal('link-refused')
    })

    it('of two logins and of the customer are not mixed up', async () => {
      const { ofLogin, links, rows } = await startLogins()
      const made = await (await ofLogin(undefined, 'one')).link?.('a')
      const token = made?.token ?? ''
      await ofLogin(undefined, 'two')
      await links.open({ token, name: 'a' })
      for (const login of ['alice/two', 'alice', 'alice/one.x', 'bob/one']) {
        const forged = token.replace('alice/one', login)
        expect(await refusal(links.open({ token: forged, name: 'a' })), login).to.equal(
          'link-refused',
        )
      }
      rows.delete('alice')
      await links.open({ token, name: 'a' })
    })

    it('upload for as long as the login may create and link, and replace only while it may', async () => {
      const { ofLogin, links, set, owner } = await startLogins()
      const made = await (await ofLogin()).uploadLink?.('a', { replace: true })
      const link = { token: made?.token ?? '', name: 'a' }
      const open = await links.openUpload(link)
      expect(open).to.include({ replace: true })
      await open.upload('a', chunks(5))
      const begun = await open.resumable?.begin('a', { length: 6 })
      set('alice/ci', { may: ['create', 'link'] })
      const narrowed = await links.openUpload(link)
      expect(narrowed).to.include({ replace: false })
      expect(await refusal(narrowed.upload('a', chunks(6)))).to.equal('already-exists')
      const append = narrowed.resumable?.append(begun?.id ?? '', 0, chunks(6))
      expect(await refusal(append ?? Promise.resolve())).to.equal('upload-not-found')
      expect((await owner.stat('a')).size).to.equal(5)
      set('alice/ci', { may: ['create'] })
      expect(await refusal(links.openUpload(link))).to.equal('link-refused')
    })

    it('of equal terms share no uploads in pieces between logins', async () => {
      const { ofLogin, links } = await startLogins()
      const open = async (login: string) => {
        const made = await (
          await ofLogin(undefined, login)
        ).uploadLink?.('new', { expiresInMs: hourMs })
        return links.openUpload({ token: made?.token ?? '', name: 'new' })
      }
      const [one, two] = [await open('one'), await open('two')]
      const begun = await one.resumable?.begin('new', { length: 6 })
      const state = two.resumable?.state(begun?.id ?? '')
      expect(await refusal(state ?? Promise.resolve())).to.equal('upload-not-found')
      expect((await one.resumable?.state(begun?.id ?? ''))?.plan.login).to.equal('one')
    })

    it('end with those of the customer', async () => {
      const { ofLogin, links, owner } = await startLogins()
      const made = await (await ofLogin()).link?.('a')
      await owner.revokeLinks?.()
      expect(await refusal(links.open({ token: made?.token ?? '', name: 'a' }))).to.equal(
        'link-refused',
      )
    })
  })

  describe('whose quota is full', () => {
    const grow = async (files: CustomerFiles) => {
      const { id } = await uploadsOf(files).begin('new')
      return uploadsOf(files).append(id, 0, chunks(9))
    }
    const complete = async (files: CustomerFiles, owner: CustomerFiles) => {
      const { id } = await uploadsOf(files).begin('new')
      await uploadsOf(files).append(id, 0, chunks(2), { isPartial: true })
      await owner.upload('c', chunks(3))
      return uploadsOf(files).publish(id)
    }
    const ways: Record<string, (files: CustomerFiles, owner: CustomerFiles) => Promise<unknown>> = {
      upload: (files) => files.upload('new', chunks(9)),
      'resumable.begin': (files) => uploadsOf(files).begin('new', { length: 9 }),
      'resumable.uploadWhole': (files) =>
        uploadsOf(files).uploadWhole('new', chunks(9), { length: 9 }),
      'resumable.append': grow,
      'resumable.publish': complete,
    }
    for (const [name, run] of Object.entries(ways)) {
      it(`do not show the numbers of the customer by ${name} without the right list`, async () => {
        const messageOf = async (may: readonly Right[]) => {
          const { set, logIn, owner } = await startLogins()
          const limits = name === 'resumable.publish' ? { maxFiles: 2 } : { quota: 10 }
          set('alice/ci', { ...limits, may })
          return String(await rejection(run(await logIn('alice/ci'), owner)))
        }
        expect(await messageOf(['create'])).to.match(/Quota exceeded$/)
        expect(await messageOf(['create', 'list'])).to.match(/Quota exceeded: .*\d/)
      })
    }
  })

  it('are not opened from the moment on at which the login ends, and neither are its links', async () => {
    const { set, logIn, links, wait } = await startLogins()
    set('alice/ci', { endsAtMs: 1_000_000_000_000 + hourMs / 2 })
    const made = await (await logIn('alice/ci')).link?.('a')
    const link = { token: made?.token ?? '', name: 'a' }
    wait(hourMs / 2 - 1)
    await logIn('alice/ci')
    await links.open(link)
    wait(1)
    expect(await refusal(logIn('alice/ci'))).to.equal('invalid-credentials')
    expect(await refusal(links.open(link))).to.equal('link-refused')
  })

  it('belong to the login whose name was given in full', async () => {
    const { set, logIn } = await startLogins()
    set('alice/ci')
    for (const name of ['ci', 'alice/', 'alice/ci/', '/ci', 'bob/ci', 'alice/CI', 'alice/ci ']) {
      expect(await refusal(logIn(name, 'password of alice/ci')), name).to.equal(
        'invalid-credentials',
      )
    }
    expect(await refusal(logIn('alice', 'password of alice/ci'))).to.equal('invalid-credentials')
  })

  it('are not given to a customer whose name has a slash, unless the source says that it is a login', async () => {
    const { rows, logIn } = await startLogins()
    rows.set('alice/x', { name: 'alice/x', passwordHash: 'password of alice/x' })
    expect(await rejection(logIn('alice/x'))).to.be.instanceOf(TypeError)
    for (const login of ['y', 'alice', '']) {
      rows.set('alice/x', { name: 'alice/x', login, passwordHash: 'password of alice/x' })
      expect(await rejection(logIn('alice/x')), login).to.be.instanceOf(TypeError)
    }
    rows.set('alice/x', { name: 'alice/x', login: 'x', passwordHash: 'password of alice/x' })
    expect((await logIn('alice/x')).customer).to.deep.equal({ name: 'alice', login: 'x' })
  })

  it('are given to no one with rights that do not exist', async () => {
    const { service } = await startLogins()
    const filesOf = (customer: object) => async () =>
      service.filesOf({ name: 'alice', ...customer })
    for (const wrong of [
      { may: 'read' },
      { may: {} },
      { login: 5 },
      { login: 'a/b' },
      { login: '' },
    ]) {
      expect(await rejection(filesOf(wrong)())).to.be.instanceOf(TypeError)
    }
    for (const may of [['write'], [5], ['read', 'replace']]) {
      expect(await rejection(filesOf({ may })())).to.be.instanceOf(RangeError)
    }
  })
})
