import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { describeDenial } from '@holdfast/credentials-file'

const user = `uid ${process.getuid?.()}, gid ${process.getgid?.()}`

describe('describeDenial', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-denial-'))
    await mkdir(join(folder, 'inner'))
    await writeFile(join(folder, 'inner', 'file'), '')
  })
  afterEach(async () => {
    await chmod(join(folder, 'inner'), 0o700)
    await rm(folder, { recursive: true })
  })

  /** What it says of the error of `statement`, in a process for which permissions hold, whoever runs the tests. */
  const denialOf = (statement: string) => {
    const script = `
      import * as fs from 'node:fs'
      import { describeDenial } from '@holdfast/credentials-file'
      try { ${statement} } catch (error) { process.stdout.write(String(describeDenial(error))) }`
    const node = [process.execPath, '--input-type=module', '--eval', script]
    const obedient = ['setpriv', '--bounding-set=-dac_override,-dac_read_search', ...node]
    const [program = '', ...args] = process.getuid?.() === 0 ? obedient : node
    return execFileSync(program, args, { encoding: 'utf8', cwd: import.meta.dirname })
  }
  const path = (...names: readonly string[]) => JSON.stringify(join(folder, ...names))
  const belongs = (mode: string) => `which belongs to ${user} and has mode ${mode}`

  it('names the file that may not be read, or not be written', async () => {
    const file = join(folder, 'inner', 'file')
    await chmod(file, 0o200)
    const reading = denialOf(`fs.readFileSync(${path('inner', 'file')})`)
    expect(reading).to.equal(`${user} may not read ${file}, ${belongs('0200')}`)
    await chmod(file, 0o400)
    const writing = denialOf(`fs.writeFileSync(${path('inner', 'file')}, '')`)
    expect(writing).to.equal(`${user} may not write to ${file}, ${belongs('0400')}`)
  })

  it('names the directory where nothing may be made or removed', async () => {
    const directory = join(folder, 'inner')
    await chmod(directory, 0o500)
    for (const statement of [
      `fs.mkdirSync(${path('inner', 'new')})`,
      `fs.writeFileSync(${path('inner', 'new')}, '')`,
      `fs.rmSync(${path('inner', 'file')})`,
    ]) {
      expect(denialOf(statement), statement).to.equal(
        `${user} may not write to ${directory}, ${belongs('0500')}`,
      )
    }
  })

  it('names the first directory on the way that may not be entered', async () => {
    const directory = join(folder, 'inner')
    await chmod(directory, 0o600)
    expect(denialOf(`fs.readFileSync(${path('inner', 'file')})`)).to.equal(
      `${user} may not enter ${directory}, ${belongs('0600')}`,
    )
  })

  it('names the owner and the user who was refused', async () => {
    // Whoever is not root cannot give anything away, and has directories that are root's.
    const isRoot = process.getuid?.() === 0
    const directory = isRoot ? join(folder, 'inner') : '/usr'
    if (isRoot) {
      await chmod(directory, 0o755)
      await chown(directory, 4711, 4712)
    }
    const owner = isRoot ? 'uid 4711, gid 4712' : 'uid 0, gid 0'
    expect(denialOf(`fs.mkdirSync(${JSON.stringify(join(directory, 'new'))})`)).to.equal(
      `${user} may not write to ${directory}, which belongs to ${owner} and has mode 0755`,
    )
  })

  it('says nothing of other errors, and of refusals that have other reasons', () => {
    expect(denialOf(`fs.readFileSync(${path('missing')})`)).to.equal('undefined')
    expect(denialOf(`fs.mkdirSync(${path('inner')})`)).to.equal('undefined')
    const strange = Object.assign(new Error('no'), { code: 'EPERM', path: join(folder, 'inner') })
    expect(describeDenial(strange)).to.equal(undefined)
    expect(describeDenial(new Error('no'))).to.equal(undefined)
    expect(describeDenial('no')).to.equal(undefined)
  })
})
