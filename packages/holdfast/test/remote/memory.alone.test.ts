import { mkdir, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packagedProgram, runHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { mebibyte, useLogin } from './support/logged-in.ts'

/**
 * Node itself takes 42, the command before it begins 67, and at work 70 to 86; it took 125 to 160 while V8 let blocks and old objects pile
 * up.
 */
const mostMiB = 100

describe('The memory of the command as a client', function () {
  this.timeout(600_000)
  const { site, env } = useLogin()
  const size = 1024 * mebibyte

  /** Runs `holdfast` and resolves to the most memory that it ever had, in MiB. */
  const peakOf = async (...args: readonly string[]) => {
    const path = join(site.path, 'status')
    const hook = `import { readFileSync, writeFileSync } from 'node:fs'
      process.on('exit', () => writeFileSync(${JSON.stringify(path)}, readFileSync('/proc/self/status')))`
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hook)}`
    const { code, stderr } = await runHoldfast(args, {
      cwd: site.path,
      program: packagedProgram,
      env: { ...env(), NODE_OPTIONS },
    })
    expect({ code, stderr }).to.deep.include({ code: 0 })
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(path, 'utf8'))?.[1]) / 1024
  }
  const make = async (name: string, bytes: number) => {
    await writeFile(join(site.path, name), '')
    await truncate(join(site.path, name), bytes)
  }

  it(`stays below ${mostMiB} MiB for a file of 1 GiB`, async () => {
    await make('large', size)
    expect(await peakOf('put', 'large')).to.be.within(20, mostMiB)
    expect(await peakOf('get', 'large', '-o', 'copy')).to.be.within(20, mostMiB)
    expect((await stat(join(site.path, 'copy'))).size).to.equal(size)
  })

  it(`stays below ${mostMiB} MiB for 10,000 files of 4 KiB`, async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `small-${index}`)
    const content = Buffer.alloc(4096, 'content')
    for (const name of names) await writeFile(join(site.path, name), content)
    expect(await peakOf('put', ...names)).to.be.within(20, mostMiB)
    await mkdir(join(site.path, 'fetched'))
    expect(await peakOf('get', 'small-*', '-o', 'fetched')).to.be.within(20, mostMiB)
    expect(await readdir(join(site.path, 'fetched'))).to.have.length(names.length)
  })
})
