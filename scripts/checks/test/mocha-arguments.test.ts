import { join } from 'node:path'
import { expect } from 'chai'
import { mochaArguments } from '../mocha-arguments.ts'

const root = join(import.meta.dirname, '../../..')
const everything = ['packages/*/test/**/*.test.ts', 'scripts/**/*.test.ts']

describe('mochaArguments', () => {
  it('runs all tests where nothing is named', () => {
    expect(mochaArguments(root, [])).to.deep.equal(everything)
  })

  it('runs the tests below a folder, and only those', () => {
    expect(mochaArguments(root, ['packages/core'])).to.deep.equal(['packages/core/**/*.test.ts'])
    expect(mochaArguments(root, ['scripts/links/'])).to.deep.equal(['scripts/links/**/*.test.ts'])
  })

  it('runs a file as it is named', () => {
    const file = 'scripts/checks/test/mocha-arguments.test.ts'
    expect(mochaArguments(root, [file])).to.deep.equal([file])
  })

  it('passes options on, to all tests or to those named', () => {
    const grep = ['--grep', 'keeps the old file']
    expect(mochaArguments(root, grep)).to.deep.equal([...everything, ...grep])
    const required = ['--require', './scripts/setup.ts']
    expect(mochaArguments(root, required)).to.deep.equal([...everything, ...required])
    expect(mochaArguments(root, ['packages/core', '--bail'])).to.deep.equal([
      'packages/core/**/*.test.ts',
      '--bail',
    ])
  })
})
