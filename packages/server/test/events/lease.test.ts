import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makeTemporaryDirectory, type TemporaryDirectory, until } from '@holdfast/testing'
import { expect } from 'chai'
import { createLease } from '../../src/events/lease.ts'

describe('createLease', () => {
  let directory: TemporaryDirectory
  let path: string
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
    path = join(directory.path, 'lease')
  })
  afterEach(() => directory.remove())

  const heldBy = (holder: object) => writeFile(path, JSON.stringify({ token: 'x', ...holder }))

  it('is held by one at most of those that take it at the same moment', async () => {
    // Of other hosts, of which it is not known whether they run.
    await heldBy({ host: 'elsewhere', pid: 1 })
    const leases = Array.from({ length: 8 }, () => createLease(path, { expiryMs: 300 }))
    let holders: boolean[] = []
    await until('one holds it', async () => {
      holders = await Promise.all(leases.map((lease) => lease.hold()))
      return holders.includes(true)
    })
    expect(holders.filter(Boolean)).to.have.length(1)
  })

  it('is free at once when it is closed', async () => {
    const first = createLease(path)
    expect(await first.hold()).to.equal(true)
    expect(await first.hold()).to.equal(true)
    await first.close()
    expect(await createLease(path).hold()).to.equal(true)
  })

  it('is taken at once from a process of this host that has ended', async () => {
    const child = spawn('true')
    await once(child, 'exit')
    await heldBy({ host: hostname(), pid: child.pid })
    expect(await createLease(path).hold()).to.equal(true)
  })

  it('is taken at once from a process that had the number of this one, as after the restart of a container', async () => {
    await heldBy({ host: hostname(), pid: process.pid })
    expect(await createLease(path).hold()).to.equal(true)
  })

  it('is not taken from a process that runs and renews it, and is when it renews it no more', async () => {
    const parent = process.ppid
    await heldBy({ host: hostname(), pid: parent })
    const lease = createLease(path, { expiryMs: 200 })
    expect(await lease.hold()).to.equal(false)
    await until('it is taken', () => lease.hold())
  })

  it('is given up by a holder that finds another one', async () => {
    const lease = createLease(path, { expiryMs: 0 })
    expect(await lease.hold()).to.equal(true)
    await heldBy({ host: 'elsewhere', pid: 1 })
    expect(await lease.hold()).to.equal(false)
    expect(await readFile(path, 'utf8')).to.include('elsewhere')
  })
})
