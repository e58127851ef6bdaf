import { execFile } from 'node:child_process'
import {
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'

const program = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const run = promisify(execFile)

/** A program that keeps what is compiled in the directory that it is given, and prints where that is. */
const keeping = `
import { getCompileCacheDir } from 'node:module'
import { keepCompiled } from '${new URL('../src/prepare-node.ts', import.meta.url).href}'
keepCompiled(new URL(process.argv[1]))
process.stdout.write(String(getCompileCacheDir()))`

const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...env } = process.env

describe('keepCompiled', () => {
  let place: string
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'holdfast-compiled-'))
  })
  afterEach(() => rm(place, { recursive: true, force: true }))

  /** Where a process keeps what it compiles of the program in `directory`. */
  const keptFor = async (directory: string) => {
    const args = ['--input-type=module', '-e', keeping, `${pathToFileURL(directory).href}/`]
    const { stdout, stderr } = await run(process.execPath, args, { env })
    expect(stderr).to.equal('')
    return stdout
  }

  it('keeps it beside the program, where only its owner gets at it', async () => {
    const cache = join(place, '.cache')
    expect(await keptFor(place)).to.satisfy((path: string) => path.startsWith(cache))
    expect((await stat(cache)).mode & 0o777).to.equal(0o700)
  })

  it('is what holdfast does', async () => {
    const bin = join(place, 'bin/holdfast.js')
    await mkdir(join(place, 'bin'))
    await copyFile(program('bin/holdfast.js'), bin)
    await symlink(program('dist'), join(place, 'dist'))
    await run(process.execPath, [bin, '--version'], { env })
    const [version = ''] = await readdir(join(place, '.cache'))
    expect(await readdir(join(place, '.cache', version))).not.to.have.lengthOf(0)
  })

  it('keeps nothing beside a program that another user owns', async () => {
    const theirs = process.getuid?.() === 0 ? join(place, 'theirs') : '/'
    if (theirs !== '/') {
      await mkdir(theirs)
      await chown(theirs, 1, 1)
    }
    expect(await keptFor(theirs)).to.equal('undefined')
  })

  it('reports no error where nothing can be kept', async () => {
    await writeFile(join(place, '.cache'), '')
    expect(await keptFor(place)).to.equal('undefined')
  })
})
