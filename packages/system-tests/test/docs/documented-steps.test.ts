import { expect } from 'chai'
import { documentedSteps, stableOutput } from './documented-steps.ts'

const fenced = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`
const all = () => true

describe('documentedSteps', () => {
  it('takes a block whole, with the text block behind it as what it prints', () => {
    const markdown = `# Title\n\n${fenced('sh', 'one\ntwo')}\n${fenced('text', 'printed')}`
    expect(documentedSteps(markdown, all)).to.deep.equal([
      { line: 4, script: 'one\ntwo\n', expected: 'printed\n' },
    ])
  })

  it('takes lines alone when they say behind them what they print', () => {
    const markdown = fenced('sh', "one\ntwo '#'  # OK")
    expect(documentedSteps(markdown, all)).to.deep.equal([
      { line: 2, script: 'one', expected: undefined },
      { line: 3, script: "two '#'", expected: 'OK' },
    ])
  })

  it('does not take a text block behind other words for what is printed', () => {
    const markdown = `${fenced('sh', 'one')}Words.\n\n${fenced('text', 'printed')}`
    expect(documentedSteps(markdown, all)).to.deep.equal([
      { line: 2, script: 'one\n', expected: undefined },
    ])
  })

  it('passes over blocks that are not meant, and other languages', () => {
    const markdown = fenced('sh', 'npm install') + fenced('ts', 'curl')
    expect(documentedSteps(markdown, (script) => script.includes('curl'))).to.be.empty
  })
})

describe('stableOutput', () => {
  it('keeps what has to be the same each time', () => {
    const output = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK'
    expect(stableOutput(output)).to.equal('HTTP/1.1 200 OK\nContent-Length: 2\n\nOK')
  })

  it('takes out ids, dates and entity tags', () => {
    const one = 'x-request-id: 3bd45a51-3c49-4646-a7cf-67ecd19666e6\nETag: "5yxyd-g-dn0jmh9hvjyq"'
    const other = 'x-request-id: f90f3a32-bf31-4448-a21e-5eda5d0fac64\nETag: "5yxyg-g-dn0jmhc6qray"'
    expect(stableOutput(`${one}\nDate: Sat, 21 Nov 2026 02:45:56 GMT`)).to.equal(
      stableOutput(`${other}\nDate: Sun, 22 Nov 2026 00:00:00 GMT`),
    )
  })
})
