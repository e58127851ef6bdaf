// It installs everything on three versions of Node.js.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { fencedBlocks } from '../../../packages/system-tests/test/docs/documented-steps.ts'
import { publishedPackages } from '../pack-packages.ts'
import { environmentOf, installTarballs, type Project } from './install-tarballs.ts'
import { nodeLines, nodeProgram } from './node-program.ts'
import { startInstalledServer } from './start-installed-server.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** The programs that a document of the repository shows. */
function examplesIn(path: string): string[] {
  return fencedBlocks(readFileSync(join(root, path), 'utf8'), 'ts')
}

/** Everything that npm installed, by name. */
async function treeOf({ folder }: Project): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>
  }
  const paths = Object.keys(lock.packages).filter((path) => path !== '')
  return paths.map((path) => path.replace(/^.*node_modules\//, ''))
}

for (const line of nodeLines) {
  describe(`From tarballs, on Node.js ${line},`, function () {
    // The first run of all fetches Node.js and what the packages need.
    this.timeout(300_000)
    let node = ''
    const projects: Project[] = []
    let whole: Promise<Project> | undefined
    const install = async (...names: string[]) => {
      const project = await installTarballs(names, { node })
      projects.push(project)
      return project
    }
    /** Runs `program` in `project`; resolves with what it prints. */
    const outputOf = async ({ folder }: Project, program: string) => {
      await writeFile(join(folder, 'example.ts'), program)
      const { stdout } = await run(node, ['example.ts'], { cwd: folder })
      return stdout
    }

    before('has that Node.js', async () => {
      node = await nodeProgram(line)
      const { stdout } = await run(node, ['--version'])
      expect(stdout).to.match(new RegExp(`^v${line}\\.`))
      // Takes longest by far; the others are installed and tried meanwhile.
      whole = install(...publishedPackages(root))
      whole.catch(() => {}) // told by the test that waits for it
    })

    after(async () => {
      await Promise.allSettled([whole])
      await Promise.all(projects.map((project) => project.remove()))
    })

    it('core comes alone, and its examples run', async () => {
      const project = await install('@holdfast/core')
      expect(await treeOf(project)).to.deep.equal(['@holdfast/core'])
      const [first = '', second = ''] = examplesIn('packages/core/README.md')
      expect(await outputOf(project, first)).to.equal('hello.txt 12\nworld\n')
      expect(await outputOf(project, second)).to.contain('quota of 10 bytes would be exceeded')
    })

    it('core and store-disk keep files', async () => {
      const project = await install('@holdfast/core', '@holdfast/store-disk')
      const tree = ['@holdfast/core', '@holdfast/store-disk', 'lru-cache']
      expect(await treeOf(project)).to.have.members(tree)
      const [example = ''] = examplesIn('README.md')
      expect(await outputOf(project, example)).to.equal('hello.txt\nholdfast')
    })

    it('http-koa comes without an SDK for S3, and serves', async () => {
      const project = await install('@holdfast/http-koa')
      const tree = await treeOf(project)
      expect(tree).to.include.members(['@holdfast/core', '@holdfast/http-koa', 'koa', 'multer'])
      expect(tree.filter((name) => /^@(aws|smithy)|^@holdfast\/(store|server)/.test(name))).to.be
        .empty
      expect(
        await outputOf(project, withRequests(examplesIn('packages/http-koa/README.md')[0])),
      ).to.match(/^OK\n\["a\.txt"\]$/m)
    })

    it('everything together is `npx holdfast`, which keeps what curl uploads', async () => {
      const project = (await whole)!
      const env = environmentOf(node)
      const npx = (...args: string[]) =>
        run('npx', ['holdfast', ...args], { cwd: project.folder, env })
      const { stdout: password } = await npx('customers', 'add', 'alice')
      const server = await startInstalledServer(project.folder, env)
      try {
        const headers = ['-H', 'x-auth-name: alice', '-H', `x-auth-password: ${password.trim()}`]
        const curl = async (...args: string[]) =>
          (await run('curl', ['-sS', ...headers, ...args], { cwd: project.folder })).stdout
        expect(await curl('-F', 'file=@package.json', `${server.url}/upload`)).to.equal('OK')
        expect(await curl(`${server.url}/serve/package.json`)).to.equal(
          await readFile(join(project.folder, 'package.json'), 'utf8'),
        )
      } finally {
        await server.stop()
      }
    })
  })
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
