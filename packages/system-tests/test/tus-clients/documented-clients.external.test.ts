import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { tusClients } from './tus-clients.ts'
import type { Ability } from './tus-client.ts'

const readme = new URL('../../../resumable/README.md', import.meta.url)

/** What each column of the table in the README, from the second on, says of a client. */
const columns: readonly (Ability | undefined)[] = [
  undefined,
  'pause',
  'stop',
  'remember',
  'terminate',
]

describe('The table of clients in the README of @holdfast/resumable', () => {
  it('names the clients that are tested, and what each of them can do', () => {
    const [, section = ''] = readFileSync(readme, 'utf8').split('## Clients that are tested')
    const rows = section.match(/^\|.*\|$/gm) ?? []
    const documented = rows.slice(2).map((row) => {
      const [name = '', platform = '', ...cells] = row.split('|').slice(1, -1)
      return [titleOf(name, platform.trim()), cells.map((cell) => cell.trim() === 'yes')]
    })
    const tested = tusClients.map(({ title, abilities }) => [
      title,
      columns.map((ability) => ability === undefined || abilities.includes(ability)),
    ])
    expect(documented).to.deep.equal(tested)
  })
})

/** Where a client runs says whether it is a browser's or Node's; the others have a name of their own. */
function titleOf(cell: string, platform: string): string {
  const [name = ''] = /[a-z][a-z-]*/i.exec(cell) ?? []
  return ['Node', 'Chromium'].includes(platform) ? `${name} in ${platform}` : name
}
