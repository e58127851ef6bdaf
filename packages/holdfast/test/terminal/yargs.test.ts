import { expect } from 'chai'
import { createCli, serverCommands } from '../../src/create-cli.ts'
import { verbNames } from '../../src/remote/client-verbs.ts'
import { formatHelp } from '../../src/terminal/yargs.ts'

describe('formatHelp', () => {
  const helpOf = async (verb: string, width: number) => {
    const cli = createCli([verb], { run: () => Promise.resolve(), warn: () => {} })
    return formatHelp(await cli.getHelp(), width)
  }

  for (const verb of [...verbNames, ...serverCommands]) {
    it(`lays out the help of ${verb} without types, and loses no word`, async () => {
      const wide = await helpOf(verb, 1000)
      expect(wide).not.to.match(/\[(boolean|string|array|default: no)\]/)
      for (const width of [80, 40]) {
        const help = await helpOf(verb, width)
        const words = (text: string) => text.split(/\s+/).filter((word) => word !== '')
        expect(words(help)).to.deep.equal(words(wide))
        const texts = help.split('\n').filter((line) => /^[A-Z]/.test(line))
        for (const line of texts) {
          if (/\S {1}\S/.test(line)) expect(line.length).to.be.at.most(width)
        }
      }
    })
  }

  it('breaks no path', async () => {
    expect(await helpOf('login', 60)).to.include('$XDG_CONFIG_HOME/holdfast/profile.json')
  })
})
