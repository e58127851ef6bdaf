import { expect } from 'chai'
import { groupCommands } from '../../src/main.ts'

describe('groupCommands', () => {
  it('puts a heading before each group', () => {
    const help = `holdfast <command>

Commands:
  holdfast serve      Run it
                      here
  holdfast put [x]    Store
  holdfast get        Fetch

Options:
  --help
`
    expect(groupCommands(help, 'holdfast', 'put')).to.equal(`holdfast <command>

Server commands:
  holdfast serve      Run it
                      here

Client commands:
  holdfast put [x]    Store
  holdfast get        Fetch

Options:
  --help
`)
  })
})
