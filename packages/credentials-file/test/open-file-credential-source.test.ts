import { mkdir, chmod, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeCredentialSource } from '@holdfast/contract'
import { expect } from 'chai'
import { CustomersFileError } from '../src/customers/customers-file-error.ts'
import {
  type FileCredentialSourceOptions,
  openFileCredentialSource,
  type ReloadSummary,
} from '../src/open-file-credential-source.ts'
import { createPasswordVerifier } from '../src/passwords/create-password-verifier.ts'
import { hashPassword } from '../src/passwords/hash-password.ts'
import { cheapCost, cheapHash } from './cheap-hash.ts'
import { rejection } from './rejection.ts'
import { openTemporaryDirectory } from './temporary-directory.ts'
import { until } from './until.ts'

const salt = 'A'.repeat(22)
const madeUpHash = (n: number) =>
  `$scrypt$ln=4,r=8,p=1$${salt}$${String(n).padStart(43, 'B').slice(0, 42)}A`

describeCredentialSource(
  'openFileCredentialSource',
  async (credentials) => {
    const directory = await openTemporaryDirectory()
    const path = join(directory.path, 'customers.yaml')
    const customers = credentials.map(({ passwordHash, ...rest }) => ({
      ...rest,
      password: passwordHash,
    }))
    await writeFile(path, JSON.stringify({ customers }))
    const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
    const dispose = async () => {
      await source.close()
      await directory.remove()
    }
    return { source, dispose }
  },
  { passwordHash: madeUpHash },
)

const list = (...names: string[]) =>
  `customers:${names.length > 0 ? '' : ' []'}\n${names.map((name) => `  - name: ${name}\n    password: pw-${name}\n`).join('')}`

describe('openFileCredentialSource', () => {
  let directory: Awaited<ReturnType<typeof openTemporaryDirectory>>
  let path: string
  const opened: { close(): Promise<void> }[] = []
  beforeEach(async () => {
    directory = await openTemporaryDirectory()
    path = join(directory.path, 'customers.yaml')
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((source) => source.close()))
    await directory.remove()
  })

  async function open(options: FileCredentialSourceOptions = {}) {
    const reloaded: ReloadSummary[] = []
    const refused: CustomersFileError[] = []
    const warnings: string[] = []
    const source = await openFileCredentialSource(path, {
      pollIntervalMs: 10,
      cost: cheapCost,
      onReloaded: (summary) => reloaded.push(summary),
      onRefused: (error) => refused.push(error),
      onWarning: (message) => warnings.push(message),
      ...options,
    })
    opened.push(source)
    return { source, reloaded, refused, warnings }
  }

  const write = (text: string) => writeFile(path, text, { mode: 0o600 })
  const replace = async (text: string) => {
    await writeFile(`${path}.new`, text, { mode: 0o600 })
    await rename(`${path}.new`, path)
  }

  describe('opening', () => {
    it('rejects for a missing file and says what to do', async () => {
      const error = await rejection(open())
      expect(error).to.be.instanceOf(CustomersFileError)
      expect(error.message).to.equal(
        `${path}: does not exist; create it with "holdfast customers add NAME", or give the right path`,
      )
    })

    it('rejects for a directory', async () => {
      await mkdir(path)
      expect((await rejection(open())).message).to.include('is a directory; give the path')
    })

    it('rejects for what is no ordinary file', async () => {
      await symlink('/dev/zero', path)
      expect((await rejection(open())).message).to.include('is not an ordinary file')
    })

    it('rejects for a file beyond 16 MiB without reading it', async () => {
      await write('')
      await truncate(path, 2 ** 40)
      expect((await rejection(open())).message).to.include('is larger than 16 MiB')
    })

    it('rejects for a file that is not UTF-8', async () => {
      await writeFile(path, Buffer.from(`\ufeff${list('a')}`, 'utf16le'))
      expect((await rejection(open())).message).to.include('is not encoded in UTF-8; save it')
    })

    it('rejects for a file that is wrong, with its path and line', async () => {
      await write('customers:\n  - name: 1\n    password: x\n')
      expect((await rejection(open())).message).to.match(
        /customers\.yaml:2: customers\[0\]\.name: /,
      )
    })

    it('reads a byte order mark', async () => {
      await write(`\ufeff${list('a')}`)
      expect((await open()).source.customers()).to.deep.equal(['a'])
    })

    it('gives out hashes as they are, quotas in bytes, and plain text never', async () => {
      const hash = await cheapHash('x')
      await write(
        `customers:\n  - {name: a, password: "${hash}", quota: 1kB}\n  - {name: b, password: secret}\n`,
      )
      const { source } = await open()
      expect(await source.find('a')).to.deep.equal({ name: 'a', passwordHash: hash, quota: 1_000 })
      const plain = await source.find('b')
      expect(JSON.stringify(plain)).to.not.include('secret')
      const verify = createPasswordVerifier({ cost: cheapCost })
      expect(await verify('secret', plain?.passwordHash)).to.equal(true)
      expect(await verify('guess', plain?.passwordHash)).to.equal(false)
    })
  })

  describe('warnings', () => {
    it('names the customers with plain-text passwords and the remedy, not the passwords', async () => {
      await write(list('alice', 'bob'))
      const { warnings } = await open()
      expect(warnings).to.deep.equal([
        `${path}: the password stands in plain text for "alice", "bob"; replace each with: holdfast customers rotate NAME`,
      ])
    })

    it('names the customers whose hash has another cost', async () => {
      const odd = await hashPassword('x', { ln: 5, r: 8, p: 1 })
      await write(
        `customers:\n  - {name: a, password: "${odd}"}\n  - {name: b, password: "${await cheapHash('x')}"}\n`,
      )
      const { warnings } = await open()
      expect(warnings.length).to.equal(1)
      expect(warnings[0]).to.match(/another cost than ln=4,r=8,p=1 for "a", .*rotate NAME$/)
    })

    for (const [mode, verb] of [
      [0o644, 'read'],
      [0o602, 'written'],
      [0o666, 'written'],
    ] as const) {
      it(`says that a file of mode ${mode.toString(8)} may be ${verb} by everybody`, async () => {
        await write(list())
        await chmod(path, mode)
        const { warnings } = await open()
        expect(warnings.length).to.equal(1)
        expect(warnings[0]).to.include(
          `may be ${verb} by every user of this machine; run: chmod o= `,
        )
      })
    }

    it('are none for a file as the commands write it', async () => {
      await write(`customers:\n  - {name: b, password: "${await cheapHash('x')}"}\n`)
      expect((await open()).warnings).to.deep.equal([])
    })

    it('come again only when they are new', async () => {
      await write(list('a'))
      const { source, warnings } = await open({ pollIntervalMs: 0 })
      await source.reload()
      expect(warnings.length).to.equal(1)
      await write(list('a', 'b'))
      await source.reload()
      expect(warnings.length).to.equal(2)
    })
  })

  describe('watching', () => {
    it('takes a file written in place, and tells who came, went and changed', async () => {
      await write(list('a', 'b', 'c'))
      const { source, reloaded } = await open()
      await write(
        'customers:\n  - {name: d, password: x}\n  - {name: c, password: pw-c}\n  - {name: b, password: y}\n',
      )
      await until('the file is taken', () => reloaded.length > 0)
      expect(reloaded).to.deep.equal([
        { customers: 3, added: ['d'], removed: ['a'], changed: ['b'] },
      ])
      expect(source.customers()).to.deep.equal(['d', 'c', 'b'])
      expect(await source.find('a')).to.equal(undefined)
    })

    it('takes a file replaced by rename, again and again', async () => {
      await write(list('a'))
      const { source } = await open()
      for (const name of ['b', 'c', 'd']) {
        await replace(list(name))
        await until(`${name} is known`, async () => (await source.find(name)) !== undefined)
      }
    })

    it('takes a file of the same size and time', async () => {
      await write(list('a'))
      const { source } = await open()
      for (const name of ['b', 'c']) {
        await write(list(name))
        await until(`${name} is known`, async () => (await source.find(name)) !== undefined)
      }
    })

    it('takes a file swapped by a symbolic link on the way, as Kubernetes does', async () => {
      const at = (name: string) => join(directory.path, name)
      for (const [version, names] of [
        ['..1', ['a']],
        ['..2', ['b']],
      ] as const) {
        await mkdir(at(version))
        await writeFile(join(at(version), 'customers.yaml'), list(...names), { mode: 0o600 })
      }
      await symlink('..1', at('..data'))
      await symlink('..data/customers.yaml', path)
      const { source } = await open()
      expect(source.customers()).to.deep.equal(['a'])
      await symlink('..2', at('..data_tmp'))
      await rename(at('..data_tmp'), at('..data'))
      await until('b is known', () => source.customers().includes('b'))
      await rm(at('..1'), { recursive: true })
    })

    const breaks: Record<string, () => Promise<unknown>> = {
      'a broken file': () => write('customers:\n  - name: "a\n'),
      'an empty file': () => truncate(path, 0),
      'a file cut off': async () => write((await readFile(path, 'utf8')).slice(0, -12)),
      'a deleted file': () => rm(path),
      'a directory in its place': async () => {
        await rm(path)
        await mkdir(path)
      },
    }
    for (const [what, damage] of Object.entries(breaks)) {
      it(`refuses ${what} once and aloud, keeps the old customers, and takes a mended one`, async () => {
        await write(list('a', 'b'))
        const { source, refused, reloaded } = await open()
        await damage()
        await until('it is refused', () => refused.length > 0)
        expect(refused[0]?.path).to.equal(path)
        expect(source.customers()).to.deep.equal(['a', 'b'])
        expect((await source.find('a'))?.name).to.equal('a')
        await rm(path, { recursive: true, force: true })
        await write(list('c'))
        await until('the mended file is taken', () => reloaded.length > 0)
        expect(source.customers()).to.deep.equal(['c'])
        expect(refused.filter(({ message }) => message === refused[0]?.message).length).to.equal(1)
      })
    }

    it('does not report one content twice, but another one even if it is as wrong', async () => {
      await write(list('a'))
      const { refused } = await open()
      await write('customers: 1')
      await until('it is refused', () => refused.length === 1)
      await replace('customers: 1')
      await write('customers: 2')
      await until('the next is refused', () => refused.length === 2)
      expect(refused[0]?.message).to.equal(refused[1]?.message)
    })

    it('shows each lookup one whole list during a flood of them', async () => {
      const [even, odd] = [list('always', 'even'), list('always', 'odd')]
      await write(even)
      const { source } = await open({ pollIntervalMs: 1 })
      let isOver = false
      const flood = (async () => {
        for (let lookups = 0; ; lookups++) {
          if (isOver) return lookups
          expect(await source.find('always')).to.have.property('name', 'always')
          expect(source.customers().length).to.equal(2)
          if (lookups % 100 === 0) await new Promise(setImmediate)
        }
      })()
      for (let round = 0; round < 20; round++) {
        await replace(round % 2 ? even : odd)
        expect(await source.reload()).to.equal(true)
        expect(source.customers()[1]).to.equal(round % 2 ? 'even' : 'odd')
      }
      isOver = true
      expect(await flood).to.be.greaterThan(100)
    })

    it('ends with close', async () => {
      await write(list('a'))
      const { source, reloaded } = await open({ pollIntervalMs: 1 })
      await source.close()
      await write(list('b'))
      expect(await source.reload()).to.equal(true)
      expect(reloaded.length).to.equal(1)
      await write(list('c'))
      await source.close()
      expect(source.customers()).to.deep.equal(['b'])
    })
  })

  describe('reload', () => {
    it('takes a changed file at once', async () => {
      await write(list('a'))
      const { source, reloaded } = await open({ pollIntervalMs: 0 })
      await write(list('b'))
      expect(await source.reload()).to.equal(true)
      expect(source.customers()).to.deep.equal(['b'])
      expect(reloaded.length).to.equal(1)
    })

    it('says nothing of a file that has not changed', async () => {
      await write(list('a'))
      const { source, reloaded } = await open({ pollIntervalMs: 0 })
      expect(await source.reload()).to.equal(true)
      expect(reloaded).to.deep.equal([])
    })

    it('resolves to false and reports a broken file each time it is asked', async () => {
      await write(list('a'))
      const { source, refused } = await open({ pollIntervalMs: 0 })
      await write('customers: 1')
      expect([await source.reload(), await source.reload()]).to.deep.equal([false, false])
      expect(refused.length).to.equal(2)
      expect(source.customers()).to.deep.equal(['a'])
    })
  })
})
