import { expect } from 'chai'
import { formatText } from '../format-text.ts'

describe('formatText', () => {
  it('formats each language as this repository does', async () => {
    expect(await formatText('a.ts', 'const a = "b";')).to.equal("const a = 'b'\n")
    expect(await formatText('a.md', '* one\n* two')).to.equal('- one\n- two\n')
    expect(await formatText('a.json', '{"a":1}')).to.equal('{ "a": 1 }\n')
  })

  it('rejects what it does not understand', async () => {
    const error = await formatText('a.ts', 'const').catch((reason: unknown) => reason)
    expect(error).to.match(/Cannot format a\.ts: /)
  })
})
