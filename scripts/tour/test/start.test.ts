import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { runStart, start, type RunningStart } from './running-start.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const lastLine = 'customers rotate demo\n'

describe('scripts/start', () => {
  let folder: string
  let servers: RunningStart[]

  function startServer(...args: readonly string[]): RunningStart {
    const server = runStart(folder, ...args)
    servers.push(server)
    return server
  }

  beforeEach(async () => {
    servers = []
    folder = await mkdtemp(join(tmpdir(), 'holdfast start '))
    await copyFile(join(root, 'LICENSE'), join(folder, 'README.md'))
  })

  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop('SIGKILL')))
    await rm(folder, { recursive: true, force: true })
  })

  it('prints the version and nothing else', async () => {
    const { version } = JSON.parse(
      await readFile(join(root, 'packages/holdfast/package.json'), 'utf8'),
    ) as { version: string }
    expect((await run(start, ['--version'], { cwd: folder })).stdout).to.equal(`${version}\n`)
  })

  it('shows every command, as it is called from here', async () => {
    const { stdout } = await run(start, ['--help'], { cwd: folder })
    for (const command of ['serve', 'copy', 'customers', 'usage', 'doctor']) {
      expect(stdout).to.include(`${start} ${command}`)
    }
    expect(stdout).not.to.include('--max-file-size')
    expect((await run(start, ['-h'], { cwd: folder })).stdout).to.equal(stdout)
  })

  it('shows the options of a command', async () => {
    const { stdout } = await run(start, ['serve', '--help'], { cwd: folder })
    expect(stdout).to.include('--max-file-size').and.include(`${start} serve`)
  })

  it('has messages name commands that work from here', async () => {
    const why = async (...args: string[]) => {
      const ended = run(start, args, { cwd: folder }).then(() => 'nothing failed')
      return ended.catch((error: unknown) => (error as { stderr: string }).stderr)
    }
    expect(await why('serve', '--port', '0')).to.include(`"${start} customers add NAME"`)
    expect(await why('customers', 'frob')).to.include(`See ${start} --help.`)
  })

  it('passes every other command on', async () => {
    const { stdout } = await run(start, ['customers', 'add', 'zoë'], { cwd: folder })
    expect(stdout).to.not.equal('')
    expect(await readFile(join(folder, 'customers.yaml'), 'utf8')).to.include('zoë')
  })

  it('prints curl commands that work as they are pasted, and ends well on SIGTERM', async () => {
    const server = startServer()
    const output = await server.outputUntil(lastLine)
    const answers: string[] = []
    for (const line of output.split('\n').filter((text) => text.startsWith('curl '))) {
      answers.push((await run('bash', ['-c', `${line} -sS`], { cwd: folder })).stdout)
    }
    const readme = await readFile(join(folder, 'README.md'), 'utf8')
    expect(answers).to.deep.equal(['OK', '["README.md"]', readme, 'OK'])
    expect(await server.stop('SIGTERM')).to.equal(0)
  })

  it('keeps customers.yaml at the next start and shows no password then', async () => {
    const first = startServer()
    await first.outputUntil(lastLine)
    expect(await first.stop('SIGINT')).to.equal(0)
    const customers = await readFile(join(folder, 'customers.yaml'), 'utf8')

    const second = startServer()
    const output = await second.outputUntil(lastLine)
    expect(await second.stop('SIGINT')).to.equal(0)
    expect(output).to.include("PASSWORD='the password of the customer demo'")
    expect(await readFile(join(folder, 'customers.yaml'), 'utf8')).to.equal(customers)
  })

  it('makes the customer whatever the options are, and none where they say whose files to use', async () => {
    const server = startServer('--port', '0', '--log-level', 'warn')
    const output = await server.outputUntil(lastLine)
    expect(await server.stop('SIGTERM')).to.equal(0)
    expect(output).to.match(/Made .*customers.yaml with the customer "demo"/)
    await rm(join(folder, 'customers.yaml'))
    const outcome = async (...args: string[]) => {
      const ended = run(start, args, { cwd: folder }).then(({ stdout }) => stdout)
      const said = await ended.catch((error: unknown) => (error as { stderr: string }).stderr)
      expect(await readdir(folder), said).not.to.include('customers.yaml')
      return said
    }
    expect(await outcome('--port', '0', '--customers', 'other.yaml')).to.include('other.yaml')
    expect(await outcome('--data=elsewhere', '--port', '0')).to.include('does not exist')
    expect(await outcome('--config', 'none.yaml')).to.include('none.yaml')
    expect(await outcome('--port', '0', '--help')).to.include('--max-file-size')
  })

  it('keeps the password out of customers.yaml', async () => {
    const server = startServer()
    const output = await server.outputUntil(lastLine)
    await server.stop('SIGTERM')
    const password = /shown only now: (\S+)/.exec(output)?.[1]
    expect(password).to.match(/^[\w-]{24}$/)
    expect(await readFile(join(folder, 'customers.yaml'), 'utf8')).to.not.include(password!)
  })
})
