import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { findBrowser } from '../../src/browsers.ts'
import { makeTemporaryDirectory } from '../../src/site.ts'

describe('findBrowser', () => {
  it('takes the program that the environment names, whatever PATH has', () => {
    const env = { PATH: '/usr/bin', HOLDFAST_BROWSER: '/a/chrome', HOLDFAST_FIREFOX: '/a/fox' }
    expect(findBrowser('chromium', env)).to.equal('/a/chrome')
    expect(findBrowser('firefox', env)).to.equal('/a/fox')
  })

  it('finds it in PATH otherwise', async () => {
    await using folder = await makeTemporaryDirectory()
    const program = join(folder.path, 'firefox-esr')
    await writeFile(program, '')
    await chmod(program, 0o755)
    const env = { PATH: `/no/such/folder:${folder.path}`, HOLDFAST_FIREFOX: '' }
    expect(findBrowser('firefox', env)).to.equal(program)
  })

  it('names the remedy where there is none', () => {
    const message = (name: 'chromium' | 'firefox') => () => findBrowser(name, { PATH: '/no' })
    expect(message('chromium')).to.throw(/HOLDFAST_BROWSER=PATH .*apt-get install chromium\)/)
    expect(message('firefox')).to.throw(/HOLDFAST_FIREFOX=PATH .*apt-get install firefox-esr\)/)
  })
})
