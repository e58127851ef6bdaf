import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { secretNames, secretVariables } from '../../../server/src/config/environment.ts'
import { environmentName, settingNames, settings } from '../../../server/src/config/settings.ts'

describe('docs/configuration.md', () => {
  const markdown = readFileSync(
    new URL('../../../../docs/configuration.md', import.meta.url),
    'utf8',
  )
  const rows = markdown
    .split('\n')
    .filter((line) => line.startsWith('| `--'))
    .map((line) => line.split('|').map((cell) => cell.trim()))

  for (const name of settingNames) {
    it(`has a row for --${name} with its variable and its default`, () => {
      const row = rows.find(([, flag]) => flag === `\`--${name}\``)
      expect(row?.[2]).to.equal(`\`${environmentName(name)}\``)
      expect(row?.[4]).to.equal(settings[name].default ? `\`${settings[name].default}\`` : 'none')
    })
  }

  for (const name of secretNames) {
    it(`reports the variables of ${name}`, () => {
      const { value, file } = secretVariables(name)
      expect(markdown).to.match(new RegExp(`\\| \`${value}\` +\\| \`${file}\` +\\|`))
    })
  }

  it('shows examples that are accepted', () => {
    for (const name of settingNames) {
      const example = rows.find(([, flag]) => flag === `\`--${name}\``)?.[5] ?? ''
      expect(() => settings[name].parse(example.replaceAll('`', ''))).not.to.throw()
    }
  })

  it('names all settings in the example of an error', () => {
    expect(markdown).to.include(`there are ${settingNames.join(', ')}\n`)
  })

  it('has no row for what cannot be set', () => {
    const flags = rows.map(([, flag]) => flag)
    expect(flags).to.have.members(['`--config`', ...settingNames.map((name) => `\`--${name}\``)])
  })
})
