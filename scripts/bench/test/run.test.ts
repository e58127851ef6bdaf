import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { aims } from '../report/aims.ts'

const main = join(import.meta.dirname, '../main.ts')

const bench = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  promisify(execFile)(process.execPath, [main, ...args], {
    env: { ...process.env, ...environment },
  })

describe('scripts/bench/run', function () {
  this.timeout(60_000)

  it('names the scenarios, all that there are aims for among them', async () => {
    const { stdout } = await bench(['--list'])
    const names = stdout.split('\n').map((line) => line.split(' ', 1)[0])
    for (const { scenario } of aims) expect(names).to.include(scenario)
  })

  it('explains itself, and what is wrong with its arguments', async () => {
    expect((await bench(['--help'])).stdout).to.match(/^scripts\/bench\/run /)
    const failure = await bench(['--only', 'nothing']).catch((error: unknown) => error)
    expect(failure).to.include({ code: 2 })
    expect(failure)
      .to.have.property('stderr')
      .that.matches(/no scenario is called "nothing"/)
  })

  it('leaves nothing behind when it is interrupted', async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'holdfast-bench-test-'))
    const args = [main, '--only', 'cold-start', '--subjects', 'holdfast']
    const child = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: temporary } })
    try {
      for await (const line of child.stderr) if (String(line).includes('round 1')) break
      child.kill()
      const [code] = (await once(child, 'exit')) as [number | null]
      expect(code).to.equal(130)
      expect(await readdir(temporary)).to.deep.equal([])
    } finally {
      child.kill()
      await rm(temporary, { recursive: true })
    }
  })

  it('measures, names who is missing, and writes documents, results and plot', async () => {
    const out = await mkdtemp(join(tmpdir(), 'holdfast-bench-test-'))
    try {
      const only = ['--quick', '--only', 'cold-start', '--subjects', 'holdfast,dufs']
      const nowhere = { HOLDFAST_BENCH_DUFS: '/no/such/program' }
      const { stdout, stderr } = await bench([...only, '--out', out], nowhere)
      expect(stdout)
        .to.match(/^holdfast +start +\d+/m)
        .and.to.match(/^missing: dufs, there is no/m)
      expect(stderr).to.include('cold-start: round 1 of 1, holdfast start')
      expect(await readFile(join(out, 'benchmarks.md'), 'utf8')).to.include('## Aims')
      const document = await readFile(join(out, 'benchmarks/figures.md'), 'utf8')
      expect(document).to.include('Missing: dufs, there is no program dufs')
      const results = await readFile(join(out, 'benchmarks/results.json'), 'utf8')
      expect(JSON.parse(results)).to.have.nested.property('[0].rows[0].figures.ms')
      expect(await readFile(join(out, 'benchmarks/ratios.svg'), 'utf8')).to.include('<svg')
    } finally {
      await rm(out, { recursive: true })
    }
  })
})
