import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { resolveConfig } from '../../../server/src/config/resolve-config.ts'
import { settingNames } from '../../../server/src/config/settings.ts'
import { analyzeUnit } from './analyze-unit.ts'

const unit = new URL('../../../../docs/deploy/holdfast.service', import.meta.url)

describe('docs/deploy/holdfast.service', () => {
  const text = readFileSync(unit, 'utf8')

  it('is understood by systemd, and leaves the server next to no rights', async () => {
    const { complaints, exposure } = await analyzeUnit(unit)
    expect(complaints).to.equal('')
    expect(exposure).to.be.above(0).and.at.most(1.5)
  })

  it('starts the server with flags that there are', () => {
    const command = /^ExecStart=\S+ (.*)$/m.exec(text)?.[1] ?? ''
    const [subcommand, ...words] = command.split(' ')
    expect(subcommand).to.equal('serve')
    const flags = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2))
    expect(flags).to.include.members(['config', 'customers', 'data'])
    expect([...settingNames, 'config']).to.include.members(flags)
  })

  it('lets uploads under way finish', () => {
    const patienceSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])
    const { 'shutdown-grace': graceMs } = resolveConfig()
    expect(patienceSeconds * 1000).to.be.above(graceMs)
  })
})
