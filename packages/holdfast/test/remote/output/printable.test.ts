import { expect } from 'chai'
import { printable } from '../../../src/terminal/print.ts'

describe('printable', () => {
  it('shows what a terminal would obey, hide or turn round', () => {
    const text = 'größe\u001b[2J\u202e\u0085\u200b\u2028 字'
    expect(printable(text)).to.equal('größe\\u{1b}[2J\\u{202e}\\u{85}\\u{200b}\\u{2028} 字')
  })
})
