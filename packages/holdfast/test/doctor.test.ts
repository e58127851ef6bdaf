import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { finding, type FindingMark } from '@holdfast/core'
import { hashPassword } from '@holdfast/passwords'
import { describeWithMinio, minioEnvironment } from '@holdfast/testing/minio'
import {
  createSite,
  credentials,
  holdfastProgram,
  runHoldfast,
  type Site,
  startHoldfast,
  treeOf,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { reportLines, summaryLine } from '../src/doctor.ts'

const run = promisify(execFile)

interface JsonReport {
  readonly sections: readonly {
    readonly title: string
    readonly checks: readonly {
      readonly check: string
      readonly mark: string
      readonly message: string
      readonly remedies: readonly string[]
    }[]
  }[]
  readonly summary: Readonly<Record<string, number>>
}

describe('holdfast doctor', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
    const password = await hashPassword('correct horse')
    await site.write('customers.yaml', `customers: [{ name: demo, password: "${password}" }]\n`)
  })
  afterEach(() => site.remove())

  const doctor = (args: readonly string[] = [], env: Record<string, string> = {}) =>
    runHoldfast(['doctor', ...args], { cwd: site.path, env })

  it('reports in aligned lines, without colours, and with a sum of all; exit code 0', async () => {
    const { code, stdout, stderr } = await doctor()
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
    expect(stdout).to.match(/^Machine\n {2}ok {7}Node\.js {12}\d/)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.filter((line) => /^\S/.test(line))).to.deep.equal([
      'Machine',
      'Network',
      'Customers',
      'Disk store',
      lines.at(-1),
    ])
    const checks = lines.filter((line) => line.startsWith('  '))
    for (const line of checks) expect(line).to.match(/^ {2}(ok|warning|skipped) +\S.{17} \S/)
    expect(lines.at(-1)).to.match(/^No problems, .*\d+ ok.* The server can run\.$/)
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
  })

  it('says what is wrong and what to do; exit code 1', async () => {
    await site.write('data', 'a file')
    const args = ['--customers', 'none.yaml', '--audit-log', 'none/audit.jsonl']
    const { code, stdout } = await doctor(args)
    expect(code).to.equal(1)
    expect(stdout).to.match(/^ {2}problem {2}audit trail {8}.* cannot be written .*ENOENT/m)
    expect(stdout).to.match(/^ {30}-> make its directory first, or choose another --audit-log/m)
    expect(stdout).to.match(/^ {2}problem {2}customers file {5}none\.yaml: does not exist$/m)
    expect(stdout).to.match(/^ {30}-> create it with "holdfast customers add NAME"/m)
    expect(stdout).to.match(/^ {2}problem {2}directory {10}.*data cannot be used: it is a file$/m)
    expect(stdout).to.match(/^3 problems, .* Fix the problems first\.$/m)
  })

  it('takes the settings that the server takes', async () => {
    await site.write('holdfast.yaml', 'data: elsewhere\n')
    expect((await doctor(['--config', 'holdfast.yaml'])).stdout).to.include('/elsewhere is missing')
    expect((await doctor([], { HOLDFAST_DATA: 'there' })).stdout).to.include('/there is missing')
    const { code, stderr } = await doctor(['--minio-bucket', 'files'])
    expect(code).to.equal(1)
    expect(stderr).to.match(/^holdfast: The store is disk, which does not use --minio-bucket/)
    expect((await doctor(['--', 'x'])).stderr).to.include('No words are allowed after "--"')
  })

  it('reports in JSON', async () => {
    await symlink('/nowhere', join(site.path, 'data'))
    const { code, stdout, stderr } = await doctor(['--json'])
    const { sections, summary } = JSON.parse(stdout) as JsonReport
    expect(stderr).to.equal('')
    expect(sections.map(({ title }) => title)).to.deep.equal([
      'Machine',
      'Network',
      'Customers',
      'Disk store',
    ])
    const marks = sections.flatMap(({ checks }) => checks.map(({ mark }) => mark))
    for (const mark of ['ok', 'warning', 'problem', 'skipped']) {
      expect(summary[mark], mark).to.equal(marks.filter((each) => each === mark).length)
    }
    expect(code).to.equal((summary['problem'] ?? 0) > 0 ? 1 : 0)
  })

  it('has colours where they are wanted', async () => {
    expect((await doctor([], { FORCE_COLOR: '1' })).stdout).to.include(
      '\u001b[32mok      \u001b[39m',
    )
  })

  it('harms nothing beside a running server', async () => {
    const server = await startHoldfast([], { cwd: site.path })
    try {
      const upload = (name: string) =>
        fetch(`${server.url}/upload/${name}`, { method: 'PUT', headers: credentials, body: name })
      expect((await upload('before')).status).to.equal(200)
      const before = await treeOf(join(site.path, 'data', 'files'))
      const [outcome, during] = await Promise.all([doctor(), upload('during')])
      expect(during.status).to.equal(200)
      expect(outcome.stdout).to.include(`in use by pid ${server.pid}`)
      expect(outcome.code, outcome.stdout).to.equal(0)
      const after = await treeOf(join(site.path, 'data', 'files'))
      expect([...after.keys()]).to.have.members([...before.keys(), join('demo', 'during')])
      expect(await site.litter()).to.deep.equal([])
      const listed = await fetch(`${server.url}/list`, { headers: credentials })
      expect(await listed.json()).to.deep.equal(['before', 'during'])
    } finally {
      await server.kill()
    }
  })

  it('removes what it has made when a signal ends it, and exits with the signal’s code', async () => {
    const child = spawn(process.execPath, [holdfastProgram, 'doctor'], { cwd: site.path })
    const output = text(child.stdout)
    const ended = once(child, 'close') as Promise<[number | null, string | null]>
    const tmp = join(site.path, 'data', 'tmp')
    await until('it tries things', () =>
      access(tmp).then(
        () => true,
        () => false,
      ),
    )
    child.kill('SIGINT')
    expect(await ended).to.deep.equal([130, null])
    expect(await output).not.to.include('The server can run')
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
  })

  it('may be read in part', async () => {
    const script = `'${process.execPath}' '${holdfastProgram}' doctor | head -n 1`
    const { stdout, stderr } = await run('bash', ['-c', script], { cwd: site.path })
    expect({ stdout, stderr }).to.deep.equal({ stdout: 'Machine\n', stderr: '' })
    await until('it has removed what it made', async () => (await readdir(site.path)).length === 1)
  })

  it('says which settings of MinIO are missing, and that no server answers', async () => {
    const { code, stdout } = await doctor(['--store', 'minio'])
    expect(code).to.equal(1)
    expect(stdout).to.match(
      /problem {2}bucket {13}The MinIO store needs settings that are missing$/m,
    )
    expect(stdout).to.match(/-> --minio-bucket or HOLDFAST_MINIO_BUCKET$/m)
    const server = createServer()
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await once(server.close(), 'close')
    const flags = ['--minio-endpoint', `http://127.0.0.1:${port}`, '--minio-bucket', 'files']
    const keys = { HOLDFAST_MINIO_ACCESS_KEY: 'a', HOLDFAST_MINIO_SECRET_KEY: 'secret-of-minio' }
    const unreachable = await doctor(['--store', 'minio', ...flags], keys)
    expect(unreachable.stdout).to.match(
      /problem {2}bucket .*nothing listens at http:.* \(--minio-endpoint\)$/m,
    )
    expect(unreachable.stdout + unreachable.stderr).not.to.include('secret-of-minio')
  })
})

describeWithMinio('holdfast doctor --store minio', (minio) => {
  it('examines the bucket', async () => {
    const site = await createSite()
    const env = minioEnvironment(minio(), await minio().createBucket())
    const { code, stdout } = await runHoldfast(['doctor'], { cwd: site.path, env })
    await site.remove()
    expect(code, stdout).to.equal(0)
    expect(stdout).to.match(/^MinIO store\n {2}ok {7}encryption/m)
    expect(stdout).to.match(/^ {2}ok {7}large create-only {2}keeps the file that is there$/m)
  })
})

const plain = (_: FindingMark, text: string) => text

describe('reportLines', () => {
  it('aligns mark, check, message and remedies', () => {
    const found = finding('warning', 'free space', 'nearly none', 'Make room', 'or move')
    expect(reportLines(found, plain)).to.deep.equal([
      '  warning  free space         nearly none',
      '                              -> Make room',
      '                              -> or move',
    ])
  })

  it('paints the mark only', () => {
    const paint = (mark: FindingMark, text: string) => `<${mark}>${text}</>`
    expect(reportLines(finding('ok', 'clock', 'is right'), paint)).to.deep.equal([
      '  <ok>ok      </> clock              is right',
    ])
  })

  it('shows what would move a cursor, or turn text round', () => {
    const found = finding('ok', 'names', 'a\u001b[2Jb\nc\u202ed', 'x\r')
    expect(reportLines(found, plain).join('|')).to.include('a\\u{1b}[2Jb\\u{a}c\\u{202e}d|')
  })
})

describe('summaryLine', () => {
  it('counts, and says whether the server can run', () => {
    expect(summaryLine({ ok: 9, warning: 0, problem: 0, skipped: 0 })).to.equal(
      'No problems, no warnings, 9 ok. The server can run.',
    )
    expect(summaryLine({ ok: 2, warning: 1, problem: 1, skipped: 3 })).to.equal(
      '1 problem, 1 warning, 2 ok, 3 skipped. Fix the problems first.',
    )
  })
})
