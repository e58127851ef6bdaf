import { execFile } from 'node:child_process'
import { chown, copyFile, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { createSite, type Site } from '../support/site.ts'

const program = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const run = promisify(execFile)

/** Keeps what is compiled below the directory that it is given, and tells where that is. */
const keeping = `
import { getCompileCacheDir } from 'node:module'
import { keepCompiled } from '${new URL('../../src/cli/keep-compiled.ts', import.meta.url).href}'
keepCompiled(new URL(process.argv[1]))
process.stdout.write(String(getCompileCacheDir()))`

const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...env } = process.env

describe('keepCompiled', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  /** Where a process keeps what it compiles of the program in `directory`. */
  const keptFor = async (directory: string) => {
    const args = ['--input-type=module', '-e', keeping, `${pathToFileURL(directory).href}/`]
    const { stdout, stderr } = await run(process.execPath, args, { env })
    expect(stderr).to.equal('')
    return stdout
  }

  it('keeps it beside the program, where only its owner gets at it', async () => {
    const cache = join(site.path, '.cache')
    expect(await keptFor(site.path)).to.satisfy((path: string) => path.startsWith(cache))
    expect((await stat(cache)).mode & 0o777).to.equal(0o700)
  })

  it('is what holdfast does', async () => {
    const bin = join(site.path, 'bin/holdfast.js')
    await mkdir(join(site.path, 'bin'))
    await copyFile(program('bin/holdfast.js'), bin)
    await symlink(program('dist'), join(site.path, 'dist'))
    await run(process.execPath, [bin, '--version'], { env })
    const [version = ''] = await readdir(join(site.path, '.cache'))
    expect(await readdir(join(site.path, '.cache', version))).not.to.have.lengthOf(0)
  })

  it("keeps nothing beside a program that is somebody else's", async () => {
    const theirs = process.getuid?.() === 0 ? join(site.path, 'theirs') : '/'
    if (theirs !== '/') {
      await mkdir(theirs)
      await chown(theirs, 1, 1)
    }
    expect(await keptFor(theirs)).to.equal('undefined')
  })

  it('says nothing where nothing can be kept', async () => {
    await writeFile(join(site.path, '.cache'), '')
    expect(await keptFor(site.path)).to.equal('undefined')
  })
})
