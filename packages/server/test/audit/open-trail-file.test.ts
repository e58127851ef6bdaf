import { mkdtemp, readFile, rename, rm, stat, symlink, truncate, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { AuditEvent } from '@holdfast/http-koa'
import {
  openAppendable,
  openTrailFile,
  gatherWrites,
  formatEvent,
  formatOmission,
} from '../../src/audit/open-trail-file.ts'
import { createAppendLines } from '../../src/log/lines.ts'

/** A trail in a directory of its own, with what it tells. */
async function openTrail(open = openAppendable) {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-trail-'))
  const path = join(directory, 'audit.jsonl')
  const told: string[] = []
  const events = {
    onFailure: (error: unknown, lost: number) =>
      void told.push(`failed, ${lost} lost: ${error instanceof Error ? error.message : ''}`),
    onRecovery: (lost: number) => void told.push(`recovered, ${lost} lost`),
  }
  return {
    directory,
    path,
    told,
    open: (patienceMs?: number) => openTrailFile(path, events, open, patienceMs),
    read: (file = path) => readFile(file, 'utf8'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Files on a disk that is full for whatever does not fit into `disk.room` bytes. */
function onDiskOf(disk: { room: number }): typeof openAppendable {
  return async (path) => {
    const file = await openAppendable(path)
    return {
      ...file,
      async writeSome(bytes) {
        if (disk.room === 0) throw new Error('full')
        const written = await file.writeSome(bytes.subarray(0, disk.room))
        disk.room -= written
        return written
      },
    }
  }
}

const omitted = (count: number) => `"event":"omitted","reason":"unwritable","count":${count}}`

describe('openTrailFile', () => {
  it('makes a file for its owner and group, and adds to one that is there', async () => {
    await using trail = await openTrail()
    for (const line of ['1\n', '2\n']) {
      const file = await trail.open()
      await file.write(line)
      await file.close()
    }
    expect(await trail.read()).to.equal('1\n2\n')
    expect((await stat(trail.path)).mode & 0o137).to.equal(0)
  })

  it('begins a new file when the old one was moved, without a signal', async () => {
    await using trail = await openTrail()
    const file = await trail.open()
    await file.write('1\n')
    await rename(trail.path, `${trail.path}.1`)
    await file.write('2\n')
    expect([await trail.read(`${trail.path}.1`), await trail.read()]).to.deep.equal(['1\n', '2\n'])
    await file.close()
  })

  it('begins a new file when the old one was removed', async () => {
    await using trail = await openTrail()
    const file = await trail.open()
    await file.write('1\n')
    await rm(trail.path)
    await file.write('2\n')
    expect(await trail.read()).to.equal('2\n')
    await file.close()
  })

  it('makes the new file at once on request, so that the old one can be closed', async () => {
    await using trail = await openTrail()
    const file = await trail.open()
    await rename(trail.path, `${trail.path}.1`)
    expect(await file.reopen()).to.equal(true)
    expect(await trail.read()).to.equal('')
    await file.close()
  })

  it('goes on at the new end of a file that was copied and truncated', async () => {
    await using trail = await openTrail()
    const file = await trail.open()
    await file.write('1\n')
    await truncate(trail.path)
    await file.write('2\n')
    expect(await trail.read()).to.equal('2\n')
    await file.close()
  })

  it('goes on in the moved file while there can be no new one', async () => {
    await using trail = await openTrail()
    const file = await trail.open()
    const moved = join(trail.directory, 'moved')
    await rename(trail.path, moved)
    await symlink(join(trail.directory, 'missing/file'), trail.path)
    await file.write('1\n')
    expect(await file.reopen()).to.equal(false)
    expect(await trail.read(moved)).to.equal('1\n')
    expect(trail.told[0]).to.match(/^failed, 0 lost: ENOENT/)
    await rm(trail.path)
    await file.write('2\n')
    expect([await trail.read(moved), await trail.read()]).to.deep.equal(['1\n', '2\n'])
    await file.close()
  })

  it('counts lines as missing when the file was removed and there can be no new one', async () => {
    await using trail = await openTrail()
    const file = await trail.open()
    await rm(trail.path)
    await symlink(join(trail.directory, 'missing/file'), trail.path)
    await file.write('1\n')
    await rm(trail.path)
    await file.write('2\n')
    const [omission, line] = (await trail.read()).split('\n')
    expect(omission).to.include(omitted(1))
    expect(line).to.equal('2')
    await file.close()
  })

  it('writes how many lines are missing as soon as it can write again', async () => {
    await using trail = await openTrail()
    await symlink('/dev/full', trail.path)
    const file = await trail.open()
    await Promise.all([file.write('1\n'), file.write('2\n')])
    await file.write('3\n')
    await rm(trail.path)
    await file.write('4\n')
    const lines = (await trail.read()).split('\n')
    expect(lines).to.have.length(3)
    expect(lines[0]).to.include(omitted(3))
    expect(lines[1]).to.equal('4')
    expect(trail.told.map((text) => text.replace(/:.*/, ''))).to.deep.equal([
      'failed, 2 lost',
      'failed, 3 lost',
      'recovered, 3 lost',
    ])
    await file.close()
  })

  for (const room of [0, 1, 8, 10, 11, 18, 20, 25]) {
    it(`counts only what is missing, on a disk that is full after ${room} bytes of three lines of ten`, async () => {
      const disk = { room }
      await using trail = await openTrail(onDiskOf(disk))
      const file = await trail.open()
      await Promise.all(['1', '2', '3'].map((digit) => file.write(`${digit.repeat(9)}\n`)))
      disk.room = 4
      await file.write('444444444\n')
      disk.room = Infinity
      await file.write('555555555\n')
      const lines = (await trail.read()).split('\n')
      const whole = Math.floor(room / 10)
      expect(lines.filter((line) => /^(.)\1{8}$/.test(line))).to.deep.equal([
        ...['111111111', '222222222', '333333333'].slice(0, whole),
        '555555555',
      ])
      expect(lines.filter((line) => line.startsWith('{') && line.endsWith('}'))).to.have.length(1)
      expect(lines.find((line) => line.endsWith('}'))).to.include(omitted(4 - whole))
      await file.close()
    })
  }

  it('begins a new file with a whole line after one that was written in part', async () => {
    const disk = { room: 4 }
    await using trail = await openTrail(onDiskOf(disk))
    const file = await trail.open()
    await file.write('111111111\n')
    await rename(trail.path, `${trail.path}.1`)
    disk.room = Infinity
    await file.write('222222222\n')
    expect(await trail.read(`${trail.path}.1`)).to.equal('1111')
    const lines = (await trail.read()).split('\n')
    expect(lines[0]).to.include(omitted(1))
    expect(lines.slice(1)).to.deep.equal(['222222222', ''])
    await file.close()
  })

  it('waits for a reader that takes nothing once, and not again until something is taken', async () => {
    const full = Object.assign(new Error('try again'), { code: 'EAGAIN' })
    let isFull = true
    let tries = 0
    await using trail = await openTrail(async (path) => {
      const file = await openAppendable(path)
      return {
        ...file,
        writeSome: (bytes) => (tries++, isFull ? Promise.reject(full) : file.writeSome(bytes)),
      }
    })
    const file = await trail.open(60)
    const triesOf = async (line: string) => {
      tries = 0
      await file.write(line)
      return tries
    }
    expect(await triesOf('1\n')).to.be.greaterThan(1)
    expect(await triesOf('2\n')).to.equal(1)
    isFull = false
    expect(await triesOf('3\n')).to.equal(1)
    isFull = true
    expect(await triesOf('4\n')).to.be.greaterThan(1)
    await file.close()
  })

  it('writes everything that is due before it is closed, and what comes late as well', async () => {
    await using trail = await openTrail()
    const file = await trail.open()
    const writes = [file.write('1\n'), file.write('2\n')]
    await file.close()
    expect(await trail.read()).to.equal('1\n2\n')
    await file.write('3\n')
    expect(await trail.read()).to.equal('1\n2\n3\n')
    await Promise.all(writes)
  })

  it('rejects where it cannot begin', async () => {
    await using trail = await openTrail()
    await symlink(join(trail.directory, 'missing/file'), trail.path)
    const code = await trail.open().then(
      () => 'opened',
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
    )
    expect(code).to.equal('ENOENT')
  })
})

describe('openAppendable', () => {
  it('gives up at a full pipe, or waits until its reader takes something', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-pipe-'))
    const path = join(directory, 'pipe')
    await promisify(execFile)('mkfifo', [path])
    const reader = await open(path, 'r+')
    const pipe = await openAppendable(path)
    const lines = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(2000))
    const append = createAppendLines()
    const refused = await append(pipe.writeSome, lines, { giveUpAfterMs: 0 })
    expect(refused.error).to.have.property('code', 'EAGAIN')
    expect(refused.lines).to.be.greaterThan(0)

    const waiting = append(pipe.writeSome, Buffer.from('last\n'))
    const taken = Buffer.alloc(1024 * refused.lines + 5)
    let length = 0
    while (length < taken.length) length += (await reader.read(taken, length)).bytesRead
    expect(await waiting).to.deep.equal({ lines: 1, error: undefined })
    expect(taken.subarray(-10).toString()).to.equal('xxxx\nlast\n')
    await Promise.all([pipe.close(), reader.close()])
    await rm(directory, { recursive: true })
  })
})

describe('gatherWrites', () => {
  it('writes one thing after the other, and takes together what came meanwhile', async () => {
    const calls: (readonly number[])[] = []
    const gates: (() => void)[] = []
    const write = gatherWrites<number>((items) => {
      calls.push(items)
      return new Promise((resolve) => gates.push(resolve))
    })
    const settled: number[] = []
    const put = (item: number) => write(item).then(() => void settled.push(item))
    const first = [put(1), put(2)]
    await Promise.resolve()
    const second = [put(3), put(4), put(5)]
    expect(calls).to.deep.equal([[1, 2]])
    gates[0]?.()
    await Promise.all(first)
    expect([calls, settled]).to.deep.equal([
      [
        [1, 2],
        [3, 4, 5],
      ],
      [1, 2],
    ])
    gates[1]?.()
    await Promise.all(second)
    expect(settled).to.deep.equal([1, 2, 3, 4, 5])
  })
})

const event: AuditEvent = {
  time: new Date(Date.UTC(2026, 10, 21, 2, 45, 56, 7)),
  event: 'upload',
  outcome: 'ok',
  reason: undefined,
  customer: 'alice',
  file: 'a.txt',
  bytes: 0,
  requestId: 'r1',
  address: '::1',
}

describe('formatEvent', () => {
  it('has all fields in the documented order', () => {
    expect(formatEvent(event)).to.equal(
      '{"time":"2026-11-21T02:45:56.007Z","event":"upload","outcome":"ok","reason":null,"customer":"alice",' +
        '"file":"a.txt","bytes":0,"requestId":"r1","address":"::1"}\n',
    )
  })

  it('marks what was done by a link', () => {
    expect(formatEvent({ ...event, isByLink: true })).to.match(/"address":"::1","link":true\}\n$/u)
    expect(formatEvent({ ...event, isByLink: false })).to.equal(formatEvent(event))
  })

  it('has the new name after the earlier one', () => {
    const renamed = { ...event, event: 'rename', bytes: undefined, to: 'b\u202e.txt' } as const
    expect(formatEvent(renamed)).to.include('"file":"a.txt","to":"b\\u202e.txt","bytes":null')
  })

  it('has the number of versions that were removed before their time', () => {
    const purged = { ...event, event: 'purge', file: undefined, bytes: 9, versions: 2 } as const
    expect(formatEvent(purged)).to.include('"file":null,"bytes":9,"versions":2,"requestId"')
  })

  it('says null where something is not known', () => {
    const { reason: _, ...unknown } = event
    const nothing = { customer: undefined, file: undefined, bytes: undefined, address: undefined }
    const line = formatEvent({ ...unknown, ...nothing, reason: undefined, requestId: undefined })
    expect(JSON.parse(line)).to.deep.equal({
      time: '2026-11-21T02:45:56.007Z',
      event: 'upload',
      outcome: 'ok',
      reason: null,
      customer: null,
      file: null,
      bytes: null,
      requestId: null,
      address: null,
    })
  })

  for (const [title, name] of [
    ['a line break and a quote', 'a\r\n"b"\\'],
    ['what ends a line for some readers', '\u0085\u2028\u2029\u000b\u000c'],
    ['what steers a terminal', '\u001b[2J\u009b2J\u007f\u0007'],
    ['what turns text around or is invisible', '\u202etxt.exe\u2066\u200b\u200f\ufeff\u{e0041}'],
    ['half a character', '\ud800'],
    ['an end and a beginning', '"}\n{"event":"upload"'],
  ] as const) {
    it(`keeps ${title} in one line that can be read back`, () => {
      const line = formatEvent({ ...event, file: name, customer: name })
      expect(line.slice(0, -1)).to.match(/^[ -~]*$/)
      expect(JSON.parse(line)).to.include({ file: name, customer: name })
    })
  }

  it('leaves what people can read', () => {
    expect(formatEvent({ ...event, file: 'Zoë 東京 👍.txt' })).to.include('"Zoë 東京 👍.txt"')
  })

  it('is short enough for a pipe to take in one piece, whatever the names are', () => {
    const longest = '\u0001'.repeat(255)
    const line = formatEvent({
      ...event,
      file: longest,
      customer: longest,
      requestId: 'x'.repeat(128),
      reason: 'x'.repeat(30),
      address: 'x'.repeat(45),
    })
    expect(Buffer.byteLength(line)).to.be.below(4096)
  })
})

describe('formatOmission', () => {
  it('counts events that have no line of their own', () => {
    expect(formatOmission(event.time, 'too-many', 12)).to.equal(
      '{"time":"2026-11-21T02:45:56.007Z","event":"omitted","reason":"too-many","count":12}\n',
    )
  })
})
