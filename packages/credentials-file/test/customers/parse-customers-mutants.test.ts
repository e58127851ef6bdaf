import { expect } from 'chai'
import { CustomersFileError } from '../../src/customers/customers-file-error.ts'
import { parseCustomers } from '../../src/customers/parse-customers.ts'

describe('parseCustomers', () => {
  it('parses or refuses whatever becomes of a file, and throws nothing else', () => {
    const text = `# c\ncustomers:\n  - name: "a"\n    password: 'b'\n    quota: 5 MB\n  - {name: &x c, password: *x}\n`
    const pieces = [
      '"',
      "'",
      '{',
      '}',
      '[',
      ']',
      ':',
      ': ',
      '-',
      '\n',
      '\t',
      '*',
      '&',
      '!',
      '%',
      '#',
      '|',
      '>',
      '\0',
      '\ud800',
      '---\n',
      '? ',
      '<<: ',
      '~',
      '1e999',
    ]
    // A fixed sequence (Park and Miller's), so that a failure can be seen again.
    let state = 42
    const below = (bound: number) => (state = (state * 48_271) % 2_147_483_647) % bound
    const counts = { parsed: 0, refused: 0 }
    for (let round = 0; round < 3_000; round++) {
      let mutant = text
      for (let edits = 1 + below(3); edits > 0; edits--) {
        const at = below(mutant.length)
        mutant =
          mutant.slice(0, at) + (pieces[below(pieces.length)] ?? '') + mutant.slice(at + below(4))
      }
      try {
        parseCustomers(mutant, 'f')
        counts.parsed++
      } catch (error) {
        if (!(error instanceof CustomersFileError))
          throw new Error(JSON.stringify(mutant), { cause: error })
        expect(error.message).to.match(/^f(:\d+)?: /)
        counts.refused++
      }
    }
    expect(counts.parsed).to.be.greaterThan(50)
    expect(counts.refused).to.be.greaterThan(1_000)
  })
})
