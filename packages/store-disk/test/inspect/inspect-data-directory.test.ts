import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { inspectDataDirectory } from '../../src/inspect/inspect-data-directory.ts'
import { collect } from '../collect.ts'
import { findLitter } from '../disk-harness.ts'
import { fileHandlePrototype } from '../file-calls-intercepted.ts'
import { fullDiskKind, openFullDisk, systemError } from '../full-disk.ts'
import { faults, found, inspect, makeUsedDirectory, text } from './inspected.ts'

const script = join(import.meta.dirname, '..', 'children', 'inspect.ts')

describe('inspectDataDirectory', () => {
  it('finds nothing wrong where a new directory can be, and leaves nothing there', async () => {
    await using place = await makeTemporaryDirectory()
    const findings = await inspect(join(place.path, 'deep', 'down'))
    expect(faults(findings)).to.deep.equal([])
    expect(found(findings, 'directory')?.message).to.match(/down is missing; the server makes it$/)
    expect(found(findings, 'layout')?.message).to.equal('none yet; the server makes one')
    expect(await readdir(place.path)).to.deep.equal([])
  })

  it('finds nothing wrong with an empty one, and with the top of a disk', async () => {
    await using place = await makeTemporaryDirectory()
    expect(faults(await inspect(place.path))).to.deep.equal([])
    await mkdir(join(place.path, 'lost+found'))
    expect(faults(await inspect(place.path))).to.deep.equal([])
    expect(await readdir(place.path)).to.deep.equal(['lost+found'])
  })

  it('counts the files of a used one, changes none, and goes through each check', async () => {
    await using place = await makeUsedDirectory()
    const before = await readdir(place.path, { recursive: true })
    const findings = await inspect(place.path, { promisedBytes: 1000 })
    expect(faults(findings)).to.deep.equal([])
    expect(findings.map(({ check }) => check).join(', ')).to.equal(
      'directory, file system, free space, free inodes, quotas, permissions, privacy, layout, syncing, renaming, hard links, names, file times, processes, one mount, files',
    )
    expect(found(findings, 'files')?.message).to.equal(
      '3 file(s) of 2 customer(s), 21 B; all looked at',
    )
    expect(found(findings, 'layout')?.message).to.equal('version 1, names plain')
    expect(found(findings, 'syncing')?.message).to.match(
      /^works; a small file takes about [\d.]+ ms/,
    )
    expect(await readdir(place.path, { recursive: true })).to.deep.equal(before)
  })

  it('says so when it has not looked at all files', async () => {
    await using place = await makeUsedDirectory()
    const findings = await inspect(place.path, { mostEntries: 2 })
    expect(found(findings, 'files')?.message).to.match(/; not all were looked at$/)
  })

  it('reports the files of a directory with escaped names', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: place.path, names: 'escaped' })
    await store.put({ customer: 'X'.repeat(255), name: 'Y'.repeat(255) }, text('content'))
    await store.close()
    const findings = await inspect(place.path)
    expect(faults(findings)).to.deep.equal([])
    expect(found(findings, 'files')?.message).to.equal(
      '1 file(s) of 1 customer(s), 7 B; all looked at',
    )
  })

  it('reports processes that use it, and what killed ones left, which stays', async () => {
    await using place = await makeUsedDirectory()
    const store = await openDiskBlobStore({ directory: place.path })
    await mkdir(join(place.path, 'tmp', '999999999-1-0--abc@elsewhere'))
    const old = new Date(Date.now() - 3_600_000)
    await utimes(join(place.path, 'tmp', '999999999-1-0--abc@elsewhere'), old, old)
    const findings = await inspect(place.path)
    await store.close()
    expect(found(findings, 'processes')?.message).to.equal(
      `in use by pid ${process.pid}; the next start removes what 1 killed process(es) left`,
    )
    expect(await readdir(join(place.path, 'tmp'))).to.deep.equal(['999999999-1-0--abc@elsewhere'])
  })

  it('reports the unfinished uploads, and what else is beside them', async () => {
    await using place = await makeUsedDirectory()
    const store = await openDiskBlobStore({ directory: place.path })
    const plan = { name: 'a', expiresAfterMs: 3_600_000 }
    const uploads = await Promise.all([1, 2, 3].map(() => store.resumable.begin('alice', plan)))
    const [first, second] = uploads.map(({ id }) => ({ customer: 'alice', id }))
    if (!first || !second) throw new Error('No uploads')
    await store.resumable.append(first, 0, text('content'))
    await store.resumable.publish(second)
    await store.close()
    expect(found(await inspect(place.path), 'uploads in pieces')?.message).to.equal(
      '2 unfinished, 7 B',
    )
    await mkdir(join(place.path, 'uploads', 'alice', 'notes'))
    const [fault] = faults(await inspect(place.path))
    expect(fault?.message).to.match(
      /^entries beside the uploads that holdfast neither made nor removes: 1, such as .*notes/,
    )
  })

  it('knows the markers of lists under way', async () => {
    await using place = await makeUsedDirectory()
    await mkdir(join(place.path, 'tmp', 'walks', '999999999-1-0--abc@elsewhere.0'), {
      recursive: true,
    })
    expect(faults(await inspect(place.path))).to.deep.equal([])
  })

  it('warns of what is not removed from tmp', async () => {
    await using place = await makeUsedDirectory()
    await writeFile(join(place.path, 'tmp', 'notes'), '')
    const [fault] = faults(await inspect(place.path))
    expect(fault?.message).to.match(
      /^entries in .*tmp that holdfast neither made nor removes: 1, such as "notes"$/,
    )
    expect(fault?.remedies[0]).to.match(/^See what it is: ls -la .*tmp$/)
  })
})

describe('inspectDataDirectory, where no store can be', () => {
  it('says so of a file, and of a path through one', async () => {
    await using place = await makeTemporaryDirectory()
    const file = join(place.path, 'file')
    await writeFile(file, '')
    for (const [path, reason] of [
      [file, 'it is a file'],
      [join(file, 'data'), 'a part of the path is a file'],
    ] as const) {
      const findings = await inspect(path)
      expect(findings).to.have.length(1)
      expect(findings[0]?.mark).to.equal('problem')
      expect(findings[0]?.message).to.equal(`${path} cannot be used: ${reason}`)
      expect(findings[0]?.remedies).to.include(`namei -l ${path}`)
    }
  })

  it('says so of a directory that belongs to another program, and leaves it alone', async () => {
    await using place = await makeTemporaryDirectory()
    await writeFile(join(place.path, 'thesis.tex'), '')
    const [fault, ...others] = faults(await inspect(place.path))
    expect(others).to.deep.equal([])
    expect([fault?.check, fault?.mark]).to.deep.equal(['layout', 'problem'])
    expect(fault?.message).to.include('"thesis.tex"')
    expect(fault?.remedies.join()).to.match(/^Choose a new or empty directory; /)
    expect(await readdir(place.path)).to.deep.equal(['thesis.tex'])
  })

  it('says so of a newer layout', async () => {
    await using place = await makeTemporaryDirectory()
    await writeFile(join(place.path, 'holdfast.json'), '{"layout":2,"names":"plain"}')
    const [fault] = faults(await inspect(place.path))
    expect(fault?.message).to.include('has layout version 2')
    expect(fault?.remedies.join()).to.match(/^Start the newer holdfast/)
  })

  it('says so of files in memory', async () => {
    // On every Linux.
    const path = await mkdtemp('/dev/shm/holdfast-')
    const findings = await inspect(path)
    await rm(path, { recursive: true })
    expect(found(findings, 'file system')?.mark).to.equal('problem')
    expect(found(findings, 'file system')?.message).to.match(/^tmpfs, mounted at \/dev\/shm, keeps/)
  })

  // Elsewhere the next test has to do.
  if (fullDiskKind === 'a real one') {
    it('says so when a real disk is full', async () => {
      await using disk = await openFullDisk()
      await (await openDiskBlobStore({ directory: disk.path })).close()
      const filling = writeFile(join(disk.path, 'files', 'stray'), Buffer.alloc(9 * 1024 * 1024))
      expect(await filling.catch((error: unknown) => String(error))).to.include('ENOSPC')
      const findings = await inspect(disk.path)
      expect(found(findings, 'free space')?.message).to.equal('0 B free of 8.39 MB')
      for (const check of ['file system', 'free space', 'syncing']) {
        expect(found(findings, check)?.mark, check).to.equal('problem')
      }
      expect(await readdir(join(disk.path, 'tmp'))).to.deep.equal([])
    })
  }

  it('says so when a sync finds no room', async () => {
    await using place = await makeTemporaryDirectory()
    const prototype = await fileHandlePrototype()
    const sync: unknown = Reflect.get(prototype, 'sync')
    Reflect.set(prototype, 'sync', async () => {
      throw systemError('ENOSPC', 'fsync')
    })
    try {
      const syncing = found(await inspect(place.path), 'syncing')
      expect(syncing?.mark).to.equal('problem')
      expect(syncing?.message).to.equal('failed: ENOSPC: injected, fsync')
      expect(syncing?.remedies.join()).to.match(/^Make room: the disk, .* is full\.$/)
    } finally {
      Reflect.set(prototype, 'sync', sync)
    }
  })
})

describe('inspectDataDirectory, ended early', () => {
  it('removes what it has made when it is aborted, and when no more findings are asked for', async () => {
    await using place = await makeTemporaryDirectory()
    const stop = new AbortController()
    const reason = new Error('stop')
    const checks: string[] = []
    try {
      for await (const { check } of inspectDataDirectory({
        directory: place.path,
        signal: stop.signal,
      })) {
        checks.push(check)
        if (check === 'renaming') stop.abort(reason)
      }
      expect.fail('was not aborted')
    } catch (error) {
      expect(error).to.equal(reason)
    }
    expect(checks.at(-1)).to.equal('renaming')
    expect(await readdir(place.path)).to.deep.equal([])
    for await (const { check } of inspectDataDirectory({ directory: place.path })) {
      if (check === 'syncing') break
    }
    expect(await readdir(place.path)).to.deep.equal([])
  })

  it('leaves to the next store what it could not remove when it was killed', async () => {
    await using place = await makeTemporaryDirectory()
    const child = spawn(process.execPath, [script, place.path, 'hard links'])
    for await (const line of createInterface(child.stdout)) if (line.includes('hard links')) break
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    expect(await findLitter(place.path)).not.to.deep.equal([])
    const store = await openDiskBlobStore({ directory: place.path })
    expect(await collect(store.customers())).to.deep.equal([])
    await store.close()
    expect(await findLitter(place.path)).to.deep.equal([])
    expect(await readdir(join(place.path, 'tmp'))).to.deep.equal([])
  })
})
