// It runs what npm has installed on three versions of Node.js.
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { fencedBlocks } from '../../../packages/system-tests/test/docs/documented-steps.ts'
import { environmentOf } from './install-tarballs.ts'
import { linkPackages } from './link-packages.ts'
import { nodeLines, nodeProgram } from './node-program.ts'
import { sharedInstallation } from './shared-installation.ts'
import { startInstalledServer } from './start-installed-server.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

interface Project {
  readonly folder: string
  readonly modules: string
}

/** The programs that a document of the repository shows. */
function examplesIn(path: string): string[] {
  return fencedBlocks(readFileSync(join(root, path), 'utf8'), 'ts')
}

/** The packages in a folder of modules, by name. */
function packagesIn(modules: string): string[] {
  const manifests = globSync('**/package.json', { cwd: modules }).map(dirname)
  return manifests.filter((path) => /(^|\/node_modules\/)(@[^/]+\/)?[^@/]+$/.test(path))
}

describe('From tarballs', function () {
  // The first run of all fetches Node.js.
  this.timeout(300_000)
  const core = projectOf('@holdfast/core')
  const withDisk = projectOf('@holdfast/core', '@holdfast/store-disk')
  const withKoa = projectOf('@holdfast/http-koa')

  it('core comes alone', () => {
    expect(packagesIn(core.modules)).to.deep.equal(['@holdfast/core'])
  })

  it('store-disk comes with little', () => {
    const packages = ['@holdfast/core', '@holdfast/store-disk', 'lru-cache']
    expect(packagesIn(withDisk.modules)).to.have.members(packages)
  })

  it('http-koa comes without an SDK for S3', () => {
    const packages = packagesIn(withKoa.modules)
    expect(packages).to.include.members(['@holdfast/core', '@holdfast/http-koa', 'koa', 'multer'])
    const others = packages.filter((name) => /^@(aws|smithy)|^@holdfast\/(store|server)/.test(name))
    expect(others).to.be.empty
  })

  for (const line of nodeLines) {
    describe(`on Node.js ${line}`, () => {
      let node = ''
      before('has that Node.js', async () => {
        node = await nodeProgram(line)
        const { stdout } = await run(node, ['--version'])
        expect(stdout).to.match(new RegExp(`^v${line}\\.`))
      })

      /** Runs `program` in `project`; resolves with what it prints. */
      const outputOf = async ({ folder }: Project, program: string) => {
        await writeFile(join(folder, 'example.ts'), program)
        const { stdout } = await run(node, ['example.ts'], { cwd: folder })
        return stdout
      }

      it('no package refuses it', async () => {
        const { project } = await sharedInstallation()
        const args = ['install', '--dry-run', '--engine-strict', '--offline', '--no-audit']
        await run('npm', args, { cwd: project, env: environmentOf(node) })
      })

      it('the examples of core run', async () => {
        const [first = '', second = ''] = examplesIn('packages/core/README.md')
        expect(await outputOf(core, first)).to.equal('hello.txt 12\nworld\n')
        expect(await outputOf(core, second)).to.contain('use 10 of 10 bytes, and this file needs 1')
      })

      it('core and store-disk keep files', async () => {
        const [example = ''] = examplesIn('README.md')
        expect(await outputOf(withDisk, example)).to.equal('hello.txt\nholdfast')
      })

      it('http-koa serves', async () => {
        const [example] = examplesIn('packages/http-koa/README.md')
        expect(await outputOf(withKoa, withRequests(example))).to.match(/^OK\n\["a\.txt"\]$/m)
      })

      it('everything together is `npx holdfast`, which keeps what curl uploads', async () => {
        const folder = await mkdtemp(join(tmpdir(), 'holdfast-installed-'))
        try {
          await symlink((await sharedInstallation()).packages, join(folder, 'node_modules'))
          await writeFile(join(folder, 'package.json'), '{"private": true}')
          await keepsWhatCurlUploads(folder, environmentOf(node))
        } finally {
          await rm(folder, { recursive: true })
        }
      })
    })
  }
})

/** A project with these packages and what they need, and nothing else of what is installed; there while tests run. */
function projectOf(...names: string[]): Project {
  const project = { folder: '', modules: '' }
  before(async () => {
    project.folder = await mkdtemp(join(tmpdir(), 'holdfast-installed-'))
    project.modules = join(project.folder, 'node_modules')
    linkPackages((await sharedInstallation()).packages, project.modules, names)
    await writeFile(join(project.folder, 'package.json'), '{"private": true, "type": "module"}')
  })
  after(() => rm(project.folder, { recursive: true, force: true }))
  return project
}

async function keepsWhatCurlUploads(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const npx = (...args: string[]) => run('npx', ['holdfast', ...args], { cwd, env })
  const { stdout: password } = await npx('customers', 'add', 'alice')
  const server = await startInstalledServer(cwd, env)
  try {
    const headers = ['-H', 'x-auth-name: alice', '-H', `x-auth-password: ${password.trim()}`]
    const curl = async (...args: string[]) =>
      (await run('curl', ['-sS', ...headers, ...args], { cwd })).stdout
    expect(await curl('-F', 'file=@package.json', `${server.url}/upload`)).to.equal('OK')
    expect(await curl(`${server.url}/serve/package.json`)).to.equal(
      await readFile(join(cwd, 'package.json'), 'utf8'),
    )
  } finally {
    await server.stop()
  }
}

/** `program`, listening on a free port, with an upload and a listing behind it. */
function withRequests(program = ''): string {
  const anywhere = program.replace('.listen(3000)', '.listen(0, "127.0.0.1", ask)')
  return `${anywhere}
async function ask() {
  const url = \`http://127.0.0.1:\${this.address().port}\`
  const headers = { 'x-auth-name': 'demo', 'x-auth-password': 'sesame' }
  const upload = await fetch(\`\${url}/upload/a.txt\`, { method: 'PUT', headers, body: 'a' })
  const list = await fetch(\`\${url}/list\`, { headers })
  process.stdout.write(\`\${await upload.text()}\\n\${await list.text()}\\n\`, () => process.exit())
}`
}
