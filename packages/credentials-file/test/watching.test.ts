import { mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { plainCustomers as list, useCustomersFile } from './customers-file-fixture.ts'

describe('openFileCredentialSource', () => {
  const file = useCustomersFile()

  describe('watching', () => {
    it('takes a file written in place, and says who came, went and changed', async () => {
      await file.write(list('a', 'b', 'c'))
      const { source, reloaded } = await file.open()
      await file.write(
        'customers:\n  - {name: d, password: x}\n  - {name: c, password: pw-c}\n  - {name: b, password: y}\n',
      )
      await until('the file is taken', () => reloaded.length > 0)
      expect(reloaded).to.deep.equal([
        { customers: 3, added: ['d'], removed: ['a'], changed: ['b'] },
      ])
      expect(source.customers()).to.deep.equal(['d', 'c', 'b'])
      expect(source.find('a')).to.equal(undefined)
    })

    it('says since when a file has been refused, until it is taken again, even as it was', async () => {
      await file.write(list('a'))
      const { source, refused } = await file.open()
      expect(source.refusedSince()).to.equal(undefined)
      const before = Date.now()
      await file.write('nonsense')
      await until('it is refused', () => refused.length > 0)
      const since = source.refusedSince()
      expect(since?.getTime()).to.be.within(before, Date.now())
      await file.write('other nonsense')
      await until('it is refused again', () => refused.length > 1)
      expect(source.refusedSince()).to.equal(since)
      await file.write(list('a'))
      await until('it is taken', () => source.refusedSince() === undefined)
    })

    it('takes a file replaced by rename, again and again', async () => {
      await file.write(list('a'))
      const { source } = await file.open()
      for (const name of ['b', 'c', 'd']) {
        await file.replace(list(name))
        await until(`${name} is known`, () => source.find(name) !== undefined)
      }
    })

    it('takes a file of the same size and time', async () => {
      await file.write(list('a'))
      const { source } = await file.open()
      for (const name of ['b', 'c']) {
        await file.write(list(name))
        await until(`${name} is known`, () => source.find(name) !== undefined)
      }
    })

    it('takes a file swapped by a symbolic link on the way, as Kubernetes does', async () => {
      const at = (name: string) => join(file.directory(), name)
      for (const [version, names] of [
        ['..1', ['a']],
        ['..2', ['b']],
      ] as const) {
        await mkdir(at(version))
        await writeFile(join(at(version), 'customers.yaml'), list(...names), { mode: 0o600 })
      }
      await symlink('..1', at('..data'))
      await symlink('..data/customers.yaml', file.path())
      const { source } = await file.open()
      expect(source.customers()).to.deep.equal(['a'])
      await symlink('..2', at('..data_tmp'))
      await rename(at('..data_tmp'), at('..data'))
      await until('b is known', () => source.customers().includes('b'))
      await rm(at('..1'), { recursive: true })
    })

    const breaks: Record<string, () => Promise<unknown>> = {
      'a broken file': () => file.write('customers:\n  - name: "a\n'),
      'an empty file': () => truncate(file.path(), 0),
      'a file cut off': async () => file.write((await readFile(file.path(), 'utf8')).slice(0, -12)),
      'a deleted file': () => rm(file.path()),
      'a directory in its place': async () => {
        await rm(file.path())
        await mkdir(file.path())
      },
    }
    for (const [what, damage] of Object.entries(breaks)) {
      it(`refuses ${what} once and aloud, keeps the old customers, and takes a mended one`, async () => {
        await file.write(list('a', 'b'))
        const { source, refused, reloaded } = await file.open()
        await damage()
        await until('it is refused', () => refused.length > 0)
        expect(refused[0]?.path).to.equal(file.path())
        expect(source.customers()).to.deep.equal(['a', 'b'])
        expect(source.find('a')?.name).to.equal('a')
        await rm(file.path(), { recursive: true, force: true })
        await file.write(list('c'))
        await until('the mended file is taken', () => reloaded.length > 0)
        expect(source.customers()).to.deep.equal(['c'])
        expect(refused.filter(({ message }) => message === refused[0]?.message).length).to.equal(1)
      })
    }

    it('does not report one content twice, but another one even if it is as wrong', async () => {
      await file.write(list('a'))
      const { refused } = await file.open()
      await file.write('customers: 1')
      await until('it is refused', () => refused.length === 1)
      await file.replace('customers: 1')
      await file.write('customers: 2')
      await until('the next is refused', () => refused.length === 2)
      expect(refused[0]?.message).to.equal(refused[1]?.message)
    })

    it('shows each lookup one whole list during a flood of them', async () => {
      const [even, odd] = [list('always', 'even'), list('always', 'odd')]
      await file.write(even)
      const { source } = await file.open({ pollIntervalMs: 1 })
      const state = { isOver: false }
      const flood = (async () => {
        for (let lookups = 0; ; lookups++) {
          if (state.isOver) return lookups
          expect(source.find('always')).to.have.property('name', 'always')
          expect(source.customers().length).to.equal(2)
          if (lookups % 100 === 0) await new Promise(setImmediate)
        }
      })()
      for (let round = 0; round < 20; round++) {
        await file.replace(round % 2 ? even : odd)
        expect(await source.reload()).to.equal(true)
        expect(source.customers()[1]).to.equal(round % 2 ? 'even' : 'odd')
      }
      state.isOver = true
      expect(await flood).to.be.greaterThan(100)
    })

    it('ends with close', async () => {
      await file.write(list('a'))
      const { source, reloaded } = await file.open({ pollIntervalMs: 1 })
      await source.close()
      await file.write(list('b'))
      expect(await source.reload()).to.equal(true)
      expect(reloaded.length).to.equal(1)
      await file.write(list('c'))
      await source.close()
      expect(source.customers()).to.deep.equal(['b'])
    })
  })
})
