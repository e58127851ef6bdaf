import { expect } from 'chai'
import { refusal } from './refusal.ts'

describe('parseCustomers, of a file with several mistakes,', () => {
  it('says everything that is wrong, in the order of the lines', () => {
    const error = refusal(
      `customers:\n  - name: a/b\n    password: $2b$1\n    quota: 1X\n  - name: ..\n    password: x\n`,
    )
    expect(error.problems.map(({ line, field }) => [line, field])).to.deep.equal([
      [2, 'customers[0].name'],
      [3, 'customers[0].password'],
      [4, 'customers[0].quota'],
      [5, 'customers[1].name'],
    ])
    expect(error.message.split('\n').length).to.equal(4)
  })

  it('says it of a customer whose fields are wrong in more than one way, and of those beside', () => {
    const text = [
      ...['customers:', '  - name: a/b', '    pasword: x', '    quota: 5 Gigs'],
      ...['  - just text', '  - name: c', '    password: "$1$x"', '    maxFiles: many'],
      ...['  - name: c', '    password: y'],
    ].join('\n')
    const { problems } = refusal(text)
    expect(problems.map(({ line, field }) => `${line} ${field}`)).to.deep.equal([
      '2 customers[0]',
      '2 customers[0].name',
      '3 customers[0]',
      '4 customers[0].quota',
      '5 customers[1]',
      '7 customers[2].password',
      '8 customers[2].maxFiles',
      '9 customers[3].name',
    ])
  })

  it('names twenty problems and how many more there are', () => {
    const lines = refusal(
      `customers:\n${'  - name: 1\n    password: x\n'.repeat(50)}`,
    ).message.split('\n')
    expect(lines.length).to.equal(21)
    expect(lines.at(-1)).to.equal('customers.yaml: and 30 more problems')
  })
})
