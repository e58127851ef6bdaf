import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CopyResult } from '@holdfast/copy'
import { openDiskBlobStore } from '@holdfast/store-disk'
import {
  createSite,
  holdfastProgram,
  runHoldfast,
  type Site,
  startCopy,
  treeOf,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { copySummary, describeFailure, exitCode } from '../src/copy.ts'

describe('holdfast copy', () => {
  let site: Site
  let source: string
  let target: string
  beforeEach(async () => {
    site = await createSite()
    source = join(site.path, 'source')
    target = join(site.path, 'target')
    await (await openDiskBlobStore({ directory: source })).close()
    await write('alice', 'a.txt', 'one')
    await write('alice', 'b.txt', 'two')
    await write('bob', 'a.txt', 'three')
  })
  afterEach(() => site.remove())

  /** Adds a file to the source by hand. */
  const write = async (customer: string, name: string, text: string) => {
    await mkdir(join(source, 'files', customer), { recursive: true })
    await writeFile(join(source, 'files', customer, name), text)
  }
  const between = () => ['--from', 'disk', '--data', source, '--to', 'disk', '--to-data', target]
  const copy = (...more: readonly string[]) => startCopy([...between(), ...more]).ended
  const files = (directory: string) => treeOf(join(directory, 'files'))
  const litter = async () => {
    const left = await readdir(join(target, 'tmp'), { recursive: true })
    return [...left, ...(await readdir(join(source, 'tmp'), { recursive: true }))]
  }

  it('copies everything, says how much it was on standard output, and exits with 0', async () => {
    const { end, stdout, stderr } = await copy()
    expect(end).to.equal(0)
    expect(stdout).to.match(/^Copied and compared 3 files, 11 B, in \d+s\.\n$/)
    expect(stderr).to.equal('')
    expect(await files(target)).to.deep.equal(await files(source))
    expect(await litter()).to.deep.equal([])
  })

  it('copies only what is missing or differs the second time', async () => {
    await copy()
    expect((await copy()).stdout).to.match(
      /^Nothing copied, in \d+s\.\nAlready in the target: 3 files, 11 B\.\n$/,
    )
    await write('alice', 'a.txt', 'eno')
    await write('alice', 'c.txt', 'new')
    const { stdout } = await copy()
    expect(stdout).to.match(
      /^Copied and compared 2 files, 6 B, in \d+s\.\nAlready in the target: 2 files/,
    )
    expect(await files(target)).to.deep.equal(await files(source))
  })

  it('refuses a customer of whom neither store has a file', async () => {
    const { end, stdout, stderr } = await copy('--customer', 'bobb')
    expect({ end, stdout }).to.deep.equal({ end: 1, stdout: '' })
    expect(stderr).to.include(
      'Neither store has a file of the customer "bobb". Did you mean "bob"?',
    )
  })

  it('leaves the only files of a customer, even with --delete', async () => {
    await copy()
    await rm(join(source, 'files/bob/a.txt'))
    const { end, stderr } = await copy('--customer', 'bob', '--delete')
    expect(end).to.equal(1)
    expect(stderr).to.include('The source has no file of the customer "bob"')
    expect([...(await files(target)).keys()]).to.include('bob/a.txt')
  })

  it('copies one customer with --customer', async () => {
    await copy('--customer', 'bob')
    expect([...(await files(target)).keys()]).to.deep.equal(['bob/a.txt'])
  })

  it('counts what is only in the target, and removes it with --delete', async () => {
    await copy()
    await rm(join(source, 'files/alice/a.txt'))
    expect((await copy()).stdout).to.include('Only in the target: 1 file; --delete removes them.')
    expect((await copy('--delete')).stdout).to.include('Removed from the target: 1 file.')
    expect(await files(target)).to.deep.equal(await files(source))
  })

  it('copies the rest where a file cannot be copied, names it, and exits with 1', async () => {
    await (await openDiskBlobStore({ directory: target })).close()
    // A directory that an administrator made where a file is to come.
    await mkdir(join(target, 'files/alice/a.txt'), { recursive: true })
    const { end, stdout, stderr } = await copy()
    expect(stderr).to.match(/^holdfast: alice\/a\.txt: EISDIR/m)
    expect(stdout).to.match(/^Copied and compared 2 files, 8 B, in \d+s\.\nFailed: 1 file\.\n$/)
    expect(end).to.equal(1)
    expect([...(await files(target)).keys()]).to.deep.equal(['alice/b.txt', 'bob/a.txt'])
  })

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    it(`stops at ${signal}, says how to go on, leaves nothing half, and exits with ${code}`, async () => {
      await write('alice', 'big.bin', '')
      await truncate(join(source, 'files/alice/big.bin'), 8 * 1024 ** 3)
      const running = startCopy(between())
      const underWay = async () =>
        (await readdir(join(target, 'tmp'), { recursive: true })).length > 1
      await until('a file is on its way', () => underWay().catch(() => false))
      running.kill(signal)
      const { end, stdout, stderr } = await running.ended
      expect(end).to.equal(code)
      expect(stderr).to.include(`Stopped by ${signal}. The same command again copies the rest.\n`)
      expect(stdout).to.match(/^(Copied and compared \d files|Nothing copied)/)
      expect(await litter()).to.deep.equal([])
      expect([...(await files(target)).keys()]).not.to.include('alice/big.bin')
    })
  }

  describe('on a terminal', () => {
    /** What `command` says to a terminal of `columns`, and its exit code. */
    const inTerminal = async (columns: number, env: Readonly<Record<string, string>> = {}) => {
      const words = [process.execPath, holdfastProgram, 'copy', ...between()].map(
        (word) => `'${word}'`,
      )
      const command = `stty cols ${columns} && ${words.join(' ')}`
      const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
        env: { PATH: process.env['PATH'], TERM: 'xterm', ...env },
      })
      return stdout.replaceAll('\r\n', '\n')
    }

    it('redraws one line that fits, and leaves it there with the summary below', async () => {
      const output = await inTerminal(100)
      expect(output).to.match(/^\r\u001b\[K[^\n]*\n/)
      expect(output).to.match(/\[#+\] 100% .* 3 of 3 files .*\nCopied and compared 3 files/)
    })

    it('keeps to a narrow one', async () => {
      const [progress = ''] = (await inTerminal(30)).split('\n')
      for (const line of progress.split('\r\u001b[K')) expect(line.length).to.be.below(30)
      expect(progress).to.include('100%')
    })

    for (const plain of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      it(`writes plain lines where the environment asks for them: ${JSON.stringify(plain)}`, async () => {
        const output = await inTerminal(100, plain)
        expect(output).not.to.match(/[\r\u001b]/)
        expect(output).to.include(' 100% ')
      })
    }
  })

  it('takes the store settings of the server, and none of its other mistakes', async () => {
    await site.write('holdfast.yaml', `data: ${source}\n`)
    const args = ['copy', '--from', 'disk', '--to', 'disk', '--to-data', target]
    for (const env of [{ HOLDFAST_CONFIG: 'holdfast.yaml' }, { HOLDFAST_DATA: source }]) {
      const options = { cwd: site.path, env: { ...env, HOLDFAST_PORT: 'x' } }
      expect(await runHoldfast(args, options)).to.include({ code: 0 })
    }
    expect(await files(target)).to.deep.equal(await files(source))
  })

  const mistakes: readonly (readonly [readonly string[], string])[] = [
    [[], 'Missing required arguments: from, to'],
    [['--from', 'disk'], 'Missing required argument: to'],
    [['--from', 'tape', '--to', 'disk'], '--from "tape" is not one of disk, minio.'],
    [['--from', 'disk', '--to', 'tape'], '--to "tape" is not one of disk, minio.'],
    [['--from', 'disk', '--to', 'disk'], 'say which directory to fill, with --to-data'],
    [['--from', 'disk', '--to', 'minio', '--to-data', 'x'], '--to-data is for copies from disk'],
    [['--from', 'minio', '--to', 'minio'], 'holdfast does not copy from MinIO to MinIO'],
    [
      ['--from', 'disk', '--to', 'disk', '--to-data', 'x', '--minio-bucket', 'b'],
      'which does not use --minio-bucket',
    ],
    [['--from', 'disk', '--to', 'minio', '--concurrency', '65'], '"65" is not a number from 1 to'],
    [
      ['--from', 'disk', '--to', 'minio', '--customer', '..'],
      '--customer ".." is not a valid name',
    ],
    [['--from', 'disk', '--to', 'minio', '--custmer', 'x'], 'Did you mean --customer?'],
    [['--from', 'disk', '--to', 'minio', '--', 'x'], 'No words are allowed after "--": "x".'],
    [
      ['--from', 'disk', '--to', 'minio', '--data', 'nowhere'],
      'nowhere is not the data directory of a hold',
    ],
    [['--from', 'disk', '--to', 'minio', '--data', 'source'], '--minio-endpoint'],
    [
      ['--from', 'disk', '--data', 'source', '--to', 'disk', '--to-data', './source/.'],
      'are the same directory',
    ],
    [
      ['--from', 'disk', '--data', 'source', '--to', 'disk', '--to-data', 'customers.yaml'],
      'choose another --data',
    ],
    [
      [
        ...['--from', 'disk', '--data', 'source', '--to', 'disk', '--to-data', 'target'],
        ...['--customer', 'zoe', '--delete'],
      ],
      'Neither store has a file of the customer "zoe"',
    ],
  ]
  for (const [args, message] of mistakes) {
    it(`refuses "${args.join(' ')}" with the remedy, exit code 1 and no stack`, async () => {
      const { code, stdout, stderr } = await runHoldfast(['copy', ...args], { cwd: site.path })
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.match(/^holdfast: /m)
      expect(stderr).to.include(message)
      expect(stderr).not.to.match(/^\s+at |unexpected/m)
    })
  }
})

const none = { files: 0, bytes: 0 }
const result: CopyResult = {
  copied: none,
  present: none,
  removed: 0,
  extra: 0,
  versions: none,
  versionsLeftOut: 0,
  failures: [],
  isCaughtUp: true,
  stoppedBy: undefined,
}

describe('copySummary', () => {
  it('says how many versions were copied, or left out', () => {
    const versions = { files: 3, bytes: 12 }
    expect(copySummary({ ...result, versions }, 1)).to.include('Copied earlier versions: 3, 12 B.')
    expect(copySummary({ ...result, versionsLeftOut: 2 }, 1)).to.include(
      'Left out: 2 earlier versions; --versions copies them.',
    )
  })

  it('has what was copied, and leaves out what is zero', () => {
    const copied = { files: 10_001, bytes: 2.15e9 }
    expect(copySummary({ ...result, copied }, 65)).to.deep.equal([
      'Copied and compared 10001 files, 2.15 GB, in 1m 05s.',
    ])
  })

  it('reports that there was nothing to copy', () => {
    expect(copySummary({ ...result, present: { files: 1, bytes: 12 } }, 1)).to.deep.equal([
      'Nothing copied, in 1s.',
      'Already in the target: 1 file, 12 B.',
    ])
  })

  it('has what is only in the target, what was removed, and what failed', () => {
    const failures = [{ customer: 'alice', name: 'a', reason: 'EIO' }]
    expect(copySummary({ ...result, removed: 2, extra: 3, failures }, 1)).to.deep.equal([
      'Nothing copied, in 1s.',
      'Removed from the target: 2 files.',
      'Only in the target: 3 files; --delete removes them.',
      'Failed: 1 file.',
    ])
  })

  it('warns if the source changed during the copy, unless the copy was stopped', () => {
    const late = /^Files were added or changed until the end/
    const unfinished = { ...result, isCaughtUp: false }
    expect(copySummary(unfinished, 1).at(-1)).to.match(late)
    expect(copySummary({ ...unfinished, stoppedBy: new Error() }, 1).at(-1)).not.to.match(late)
  })

  it('ends with 0 only if every file is there', () => {
    const failures = [{ customer: 'alice', name: 'a', reason: 'EIO' }]
    const stoppedBy = new Error('SIGINT')
    expect(exitCode(result, undefined)).to.equal(0)
    expect(exitCode({ ...result, failures }, undefined)).to.equal(1)
    expect(exitCode({ ...result, isCaughtUp: false }, undefined)).to.equal(1)
    expect(exitCode({ ...result, isCaughtUp: false, stoppedBy }, undefined)).to.equal(1)
    expect(exitCode({ ...result, isCaughtUp: false, stoppedBy }, 'SIGINT')).to.equal(130)
  })
})

describe('describeFailure', () => {
  it('names the file, or the customer whose files cannot be listed', () => {
    const failure = { customer: 'alice', name: 'a b.txt', reason: 'EIO' }
    expect(describeFailure(failure)).to.equal('alice/a b.txt: EIO')
    expect(describeFailure({ ...failure, name: undefined })).to.equal('alice: EIO')
  })

  it('shows what a terminal would hide or obey', () => {
    const failure = { customer: '你', name: 'a\u202e\u009b1m\u2028\u{1f600}', reason: 'x\ny' }
    expect(describeFailure(failure)).to.equal('你/a\\u{202e}\\u{9b}1m\\u{2028}\u{1f600}: x\\u{a}y')
  })
})
