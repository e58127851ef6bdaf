import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import { openDiskBlobStore } from '@holdfast/store-disk'
import {
  cheapHash,
  createSite,
  credentials,
  runHoldfast,
  type Site,
  startHoldfast,
} from '@holdfast/testing'
import { expect } from 'chai'
import { customerUsages, shareOf, usageOf, usageTable } from '../src/usage.ts'

const customers = `customers:
  - { name: demo, password: '${cheapHash('correct horse')}', quota: 10kB }
  - { name: 'übung', password: b }
  - { name: alice, password: c, quota: 1MB, maxFiles: 5 }
  - { name: none, password: d, quota: 0 }
`

async function* contentOf(size: number) {
  yield Buffer.alloc(size)
}

describe('holdfast usage', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
    await site.write('customers.yaml', customers)
  })
  afterEach(() => site.remove())

  const usage = (...args: readonly string[]) =>
    runHoldfast(['usage', ...args], { cwd: site.path, env: { HOLDFAST_PORT: 'no port' } })
  /** Makes a data directory, with files put there by hand. */
  const fill = async (files: Readonly<Record<string, number>>) => {
    await (await openDiskBlobStore({ directory: join(site.path, 'data') })).close()
    for (const [path, size] of Object.entries(files)) {
      await mkdir(join(site.path, 'data/files', path, '..'), { recursive: true })
      await writeFile(join(site.path, 'data/files', path), 'x'.repeat(size))
    }
  }

  /** Begins uploads of a customer, each of so many bytes. */
  const beginUploads = async (customer: string, ...sizes: readonly number[]) => {
    const store = await openDiskBlobStore({ directory: join(site.path, 'data') })
    for (const size of sizes) {
      const plan = { name: 'unfinished', expiresAfterMs: 600_000 }
      const { id } = await store.resumable.begin(customer, plan)
      await store.resumable.append({ customer, id }, 0, contentOf(size))
    }
    await store.close()
  }

  it('shows files, bytes, quota and its share for each customer in a table, and the sum', async () => {
    await fill({ 'demo/a': 9_990, 'demo/b': 0, 'gone/a': 2_000_000, 'übung/a': 1 })
    const { code, stdout, stderr } = await usage()
    expect(stderr).to.equal('')
    expect(stdout).to.equal(
      [
        'files     size    quota  used  customer',
        '  0/5      0 B  1.00 MB    0%  alice',
        '    2  9.99 kB  10.0 kB   99%  demo',
        '    1  2.00 MB        -     -  gone (not in the customers file)',
        '    0      0 B      0 B     -  none',
        '    1      1 B        -     -  übung',
        '    4  2.01 MB                 5 customers in all',
        '',
      ].join('\n'),
    )
    expect(code).to.equal(0)
  })

  it('prints with --json a line for each customer, with exact numbers', async () => {
    await fill({ 'demo/a': 2_500, 'gone/a': 7 })
    const { code, stdout } = await usage('--json')
    expect(code).to.equal(0)
    const lines = stdout.trimEnd().split('\n')
    const limits = { quota: null, share: null, maxFiles: null, listed: true }
    const numbers = {
      files: 0,
      bytes: 0,
      unfinishedUploads: 0,
      unfinishedBytes: 0,
      keptVersions: 0,
      keptBytes: 0,
      ...limits,
    }
    expect(lines.map((line) => JSON.parse(line) as unknown)).to.deep.equal([
      { ...numbers, customer: 'alice', quota: 1_000_000, share: 0, maxFiles: 5 },
      { ...numbers, customer: 'demo', files: 1, bytes: 2_500, quota: 10_000, share: 0.25 },
      { ...numbers, customer: 'gone', files: 1, bytes: 7, listed: false },
      { ...numbers, customer: 'none', quota: 0 },
      { ...numbers, customer: 'übung' },
    ])
  })

  it('shows unfinished uploads, whose bytes use up the quota', async () => {
    await fill({ 'demo/a': 2_500 })
    await beginUploads('demo', 2_000, 500)
    await beginUploads('gone', 7)
    expect((await usage()).stdout).to.equal(
      [
        'files     size    unfinished    quota  used  customer',
        '  0/5      0 B             -  1.00 MB    0%  alice',
        '    1  2.50 kB  2 of 2.50 kB  10.0 kB   50%  demo',
        '    0      0 B             -      0 B     -  none',
        '    0      0 B             -        -     -  übung',
        '    1  2.50 kB  2 of 2.50 kB                 4 customers in all',
        '',
      ].join('\n'),
    )
    const { stdout } = await usage('demo', '--json')
    const unfinished = { unfinishedUploads: 2, unfinishedBytes: 2_500 }
    expect(JSON.parse(stdout)).to.include({ bytes: 2_500, share: 0.5, ...unfinished })
    expect((await usage('gone')).stdout).to.match(/ 1 of 7 B .* gone \(not in/)
  })

  it('shows one customer, also one whom the file does not have any more, or without files', async () => {
    await fill({ 'demo/a': 5, 'gone/a': 7, '-x/a': 1 })
    expect((await usage('demo')).stdout).to.match(/^files.*\n.* demo\n$/)
    expect((await usage('gone')).stdout).to.match(/\n +1 .* gone \(not in the customers file\)\n$/)
    expect((await usage('alice')).stdout).to.match(/\n +0\/5 .* alice\n$/)
    expect((await usage('--', '-x')).stdout).to.match(/ -x \(not in the customers file\)\n$/)
  })

  it('works beside a running server, counts what is stored, and leaves no trace', async () => {
    const server = await startHoldfast([], { cwd: site.path })
    try {
      const init = { method: 'PUT', headers: credentials, body: 'x'.repeat(1_234) }
      expect((await fetch(`${server.url}/upload/a`, init)).status).to.equal(200)
      const owners = await readdir(join(site.path, 'data/tmp'))
      const { stdout } = await usage('demo', '--json')
      expect(JSON.parse(stdout)).to.include({ customer: 'demo', files: 1, bytes: 1_234 })
      expect(await readdir(join(site.path, 'data/tmp'))).to.deep.equal(owners)
    } finally {
      await server.kill()
    }
  })

  const refusal = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await usage(...args)
    expect([code, stdout]).to.deep.equal([1, ''])
    expect(stderr)
      .to.match(/^holdfast: /)
      .and.not.match(/unexpected|^\s+at /m)
    return stderr
  }

  it('refuses an unknown name, and guesses whom it was to be', async () => {
    await fill({})
    expect(await refusal('demos')).to.include(
      'There is no customer "demos": neither ./customers.yaml nor the store has one of that name. Did you mean "demo"?',
    )
    expect(await refusal('a/b')).to.include('"a/b" is not a valid name: it contains a slash')
    expect(await refusal('demo', 'alice')).to.include('Unknown argument: alice')
    expect(await refusal('--', 'demo', 'alice')).to.include('Only one name is allowed')
    expect(await refusal('--jsn')).to.include('Did you mean --json?')
  })

  it('makes no directory where there is none, and says what is wrong with the customers file', async () => {
    expect(await refusal()).to.include('./data is not the data directory of a holdfast server')
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
    await fill({})
    await site.write('customers.yaml', 'customers: 5\n')
    expect(await refusal()).to.include('customers.yaml')
  })

  it('has help with examples', async () => {
    const { code, stdout } = await usage('--help')
    expect(code).to.equal(0)
    for (const text of [
      'holdfast usage [name]',
      '--json',
      '--data',
      'Examples:',
      'Only this customer',
    ]) {
      expect(stdout).to.include(text)
    }
    expect(stdout).to.not.include('--port')
  })
})

describeWithMinio('holdfast usage --store minio', (minio) => {
  it('counts what is in the bucket, by the settings of the server', async () => {
    const site = await createSite()
    const env = minioEnvironment(minio(), await minio().createBucket())
    const server = await startHoldfast([], { cwd: site.path, env })
    try {
      const init = { method: 'PUT', headers: credentials, body: 'x'.repeat(1_234) }
      expect((await fetch(`${server.url}/upload/a`, init)).status).to.equal(200)
      const { stdout } = await runHoldfast(['usage', '--json'], { cwd: site.path, env })
      expect(JSON.parse(stdout)).to.include({ customer: 'demo', files: 1, bytes: 1_234 })
    } finally {
      await server.kill()
      await site.remove()
    }
  })
})

describe('customerUsages', () => {
  it('counts customers one at a time, as they are asked for, in order of UTF-8 bytes', async () => {
    const counted: string[] = []
    const store = {
      ...createMemoryBlobStore(),
      async *customers() {
        yield* ['a', 'c', '\uff5e', '\u{1f600}']
      },
      async usage(customer: string) {
        counted.push(customer)
        return { blobs: customer === 'c' ? 0 : 1, bytes: 2 }
      },
    }
    const quotas = new Map([
      ['d', { quota: 5 }],
      ['\u{1f600}', {}],
    ])
    const found: string[] = []
    for await (const { customer, isListed } of customerUsages(store, quotas)) {
      found.push(customer)
      expect(counted.at(-1)).to.equal(customer)
      expect(isListed).to.equal(quotas.has(customer))
    }
    expect(found).to.deep.equal(['a', 'd', '\uff5e', '\u{1f600}'])
  })
})

describe('usageOf', () => {
  it('counts what is kept beside the files, also of a customer without any', async () => {
    const store = createMemoryBlobStore()
    const key = { customer: 'alice', name: 'a' }
    await store.put(key, new Blob(['12345']).stream())
    await store.delete(key, { keepReplaced: true })
    const kept = { versions: 1, bytes: 5 }
    expect(await usageOf(store, new Map(), 'alice')).to.deep.include({ files: 0, bytes: 0, kept })
    const found: string[] = []
    for await (const { customer } of customerUsages(store, new Map())) found.push(customer)
    expect(found).to.deep.equal(['alice'])
  })
})

describe('shareOf', () => {
  it('is the used part of the quota, and nothing where there is none to use', () => {
    const share = (bytes: number, quota: number | undefined, unfinished = 0) =>
      shareOf({ bytes, quota, unfinished: { uploads: 1, bytes: unfinished } })
    expect(share(5, 20)).to.equal(0.25)
    expect(share(5, 20, 10)).to.equal(0.75)
    expect(share(30, 20)).to.equal(1.5)
    expect(share(5, undefined)).to.equal(undefined)
    expect(share(5, 0)).to.equal(undefined)
  })
})

const alice = {
  customer: 'alice',
  files: 1,
  bytes: 999,
  unfinished: { uploads: 0, bytes: 0 },
  quota: 1_000,
  maxFiles: undefined,
  isListed: true,
}

describe('usageTable', () => {
  it('is only a heading without customers', () => {
    expect(usageTable([])).to.deep.equal(['files  size  quota  used  customer'])
  })

  it('has no sum for one customer', () => {
    expect(usageTable([alice])).to.deep.equal([
      'files   size    quota  used  customer',
      '    1  999 B  1.00 kB   99%  alice',
    ])
  })

  it('shows of how many files a customer has so many', () => {
    expect(usageTable([{ ...alice, maxFiles: 20 }])).to.deep.equal([
      'files   size    quota  used  customer',
      ' 1/20  999 B  1.00 kB   99%  alice',
    ])
  })

  it('has a column for unfinished uploads where there are any', () => {
    const unfinished = { uploads: 12, bytes: 0 }
    const lines = usageTable([alice, { ...alice, customer: 'bob', unfinished }])
    expect(lines).to.deep.equal([
      'files     size  unfinished    quota  used  customer',
      '    1    999 B           -  1.00 kB   99%  alice',
      '    1    999 B   12 of 0 B  1.00 kB   99%  bob',
      '    2  2.00 kB   12 of 0 B                 2 customers in all',
    ])
  })

  it('has a column for what is kept where there is any', () => {
    const kept = { versions: 3, bytes: 1_500 }
    const lines = usageTable([alice, { ...alice, customer: 'bob', kept }])
    expect(lines).to.deep.equal([
      'files     size          kept    quota  used  customer',
      '    1    999 B             -  1.00 kB   99%  alice',
      '    1    999 B  3 of 1.50 kB  1.00 kB   99%  bob',
      '    2  2.00 kB  3 of 1.50 kB                 2 customers in all',
    ])
  })

  it('rounds down, so that 100% means no room, and shows what is less than 1%', () => {
    const used = (bytes: number) => usageTable([{ ...alice, bytes }])[1]?.split(/ {2,}/)[4]
    expect([0, 1, 999, 1_000, 2_500].map(used)).to.deep.equal(['0%', '<1%', '99%', '100%', '250%'])
  })

  it('shows a terminal nothing that it would take for a command', () => {
    const [, line] = usageTable([{ ...alice, customer: 'a\u001b[2J\u202eb' }])
    expect(line).to.match(/ a\\u\{1b\}\[2J\\u\{202e\}b$/)
  })
})
