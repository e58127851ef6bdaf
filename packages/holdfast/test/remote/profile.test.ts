import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { userInfo } from 'node:os'
import { makeTemporaryDirectory, rejection, type TemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { findLogin, profilePath, writeProfile, userDirectory } from '../../src/remote/profile.ts'

describe('findLogin', () => {
  let directory: TemporaryDirectory
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(() => directory.remove())

  const kept = { url: 'http://kept', name: 'k', password: 'kp' }
  const variables = { HOLDFAST_URL: 'http://given', HOLDFAST_NAME: 'g', HOLDFAST_PASSWORD: 'gp' }
  const home = () => ({ XDG_CONFIG_HOME: directory.path })
  const keep = () => writeProfile(profilePath(home()), kept)

  it('takes what is kept', async () => {
    await keep()
    expect(await findLogin(home())).to.deep.equal(kept)
  })

  it('prefers the variables', async () => {
    await keep()
    const given = { url: 'http://given', name: 'g', password: 'gp' }
    expect(await findLogin({ ...home(), ...variables })).to.deep.equal(given)
  })

  it('takes the password from the file that a variable names', async () => {
    const path = join(directory.path, 'secret')
    await writeFile(path, 'fp\n')
    const { HOLDFAST_PASSWORD: _, ...others } = variables
    const { password } = await findLogin({ ...others, HOLDFAST_PASSWORD_FILE: path })
    expect(password).to.equal('fp')
    const missing = findLogin({ ...others, HOLDFAST_PASSWORD_FILE: `${path}x` })
    expect(await rejection(missing)).to.include({ exitCode: 3 })
    const both = findLogin({ ...variables, HOLDFAST_PASSWORD_FILE: path })
    expect((await rejection(both)).message).to.include('both set')
  })

  it('sends a kept password to no server that a variable names', async () => {
    await keep()
    const error = await rejection(findLogin({ ...home(), HOLDFAST_URL: 'http://given' }))
    expect(error).to.include({ exitCode: 3 })
    expect(error.message).to.include(
      'set HOLDFAST_NAME, HOLDFAST_PASSWORD or HOLDFAST_PASSWORD_FILE, too',
    )
  })

  it('says how to log in where there is no login', async () => {
    const error = await rejection(findLogin(home()))
    expect(error).to.include({ exitCode: 3 })
    expect(error.message).to.include('Run holdfast login URL')
  })

  it('refuses a profile on which others have permissions', async () => {
    await keep()
    for (const mode of [0o640, 0o604, 0o620]) {
      await chmod(profilePath(home()), mode)
      const error = await rejection(findLogin(home()))
      expect(error).to.include({ exitCode: 3 })
      expect(error.message).to.include('chmod 600')
    }
  })

  it('refuses what is no login', async () => {
    const path = profilePath(home())
    await mkdir(join(path, '..'))
    for (const text of ['', '{', 'null', '{}', '{"url":"http://a","name":"b","password":1}']) {
      await writeFile(path, text, { mode: 0o600 })
      expect((await rejection(findLogin(home()))).message).to.include('contains no login')
    }
  })

  it('lies in the directory that the environment names', () => {
    expect(profilePath({ XDG_CONFIG_HOME: '/x' })).to.equal('/x/holdfast/profile.json')
    expect(profilePath({ XDG_CONFIG_HOME: 'x' })).to.match(
      /^\/.*\.config\/holdfast\/profile\.json$/,
    )
  })
})

describe('userDirectory', () => {
  const { HOME } = process.env
  afterEach(() => {
    if (HOME === undefined) delete process.env['HOME']
    else process.env['HOME'] = HOME
  })

  it('is below the variable, unless that is relative', () => {
    process.env['HOME'] = '/home/zoe'
    expect(userDirectory('XDG_STATE_HOME', { XDG_STATE_HOME: '/x' })).to.equal('/x/holdfast')
    for (const environment of [{}, { XDG_STATE_HOME: '' }, { XDG_STATE_HOME: 'x' }]) {
      const state = userDirectory('XDG_STATE_HOME', environment)
      expect(state).to.equal('/home/zoe/.local/state/holdfast')
      const config = userDirectory('XDG_CONFIG_HOME', environment)
      expect(config).to.equal('/home/zoe/.config/holdfast')
    }
  })

  it('is never below the directory that a command is started in', () => {
    for (const home of ['', 'here']) {
      process.env['HOME'] = home
      const directory = userDirectory('XDG_CONFIG_HOME', {})
      expect(directory).to.equal(join(userInfo().homedir, '.config/holdfast'))
    }
  })
})
