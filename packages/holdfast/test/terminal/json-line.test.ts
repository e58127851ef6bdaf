import { expect } from 'chai'
import { jsonLine } from '../../src/terminal/print.ts'

describe('jsonLine', () => {
  it('escapes what a terminal would obey, and means the same', () => {
    const value = { 'a\u009b': 'größe\u001b[2J\u202e\u2028\u{e0041}🙂\n 字\ud800' }
    const line = jsonLine(value)
    expect(line).to.equal(
      String.raw`{"a\u009b":"größe\u001b[2J\u202e\u2028\udb40\udc41🙂\n 字\ud800"}` + '\n',
    )
    expect(JSON.parse(line)).to.deep.equal(value)
  })

  it('keeps the lines of JSON that is laid out', () => {
    expect(jsonLine({ a: ['b'] }, 2)).to.equal('{\n  "a": [\n    "b"\n  ]\n}\n')
  })
})
