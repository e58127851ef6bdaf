import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { formatEvent, formatOmission } from '../../../server/src/audit/open-trail-file.ts'
import { fencedBlocks } from './documented-steps.ts'

const event = {
  time: new Date(),
  event: 'upload',
  outcome: 'ok',
  reason: undefined,
  customer: undefined,
  file: undefined,
  bytes: undefined,
  requestId: undefined,
  address: undefined,
} as const

const fieldsOf = (line: string) => Object.keys(JSON.parse(line) as object)

describe('docs/audit.md', () => {
  const markdown = readFileSync(new URL('../../../../docs/audit.md', import.meta.url), 'utf8')
  const [events = '', omissions = '', ...others] = fencedBlocks(markdown, 'json')
  const linesOf = (text: string) => text.trim().split('\n')

  it('shows lines as they are written', () => {
    for (const line of linesOf(events)) {
      expect(fieldsOf(line)).to.deep.equal(fieldsOf(formatEvent(event)))
    }
    for (const line of linesOf(omissions)) {
      expect(fieldsOf(line)).to.deep.equal(fieldsOf(formatOmission(event.time, 'too-many', 1)))
    }
    expect([linesOf(events).length, linesOf(omissions).length, others]).to.deep.equal([4, 2, []])
  })

  it('explains every field, in order', () => {
    const table = markdown.slice(markdown.indexOf('## Fields'), markdown.indexOf('| `outcome` |'))
    const explained = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
    const all = formatEvent({ ...event, login: 'ci', to: 'b.txt', versions: 1, isByLink: true })
    expect(explained).to.deep.equal(fieldsOf(all))
  })
})
