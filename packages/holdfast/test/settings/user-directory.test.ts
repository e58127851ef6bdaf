import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { userDirectory } from '../../src/settings/user-directory.ts'

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
