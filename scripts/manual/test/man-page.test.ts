import { execFileSync, spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { manPage } from '../man-page.ts'

describe('manPage', () => {
  let page: string
  before(async () => {
    page = await manPage()
  })

  it('is roff that mandoc finds nothing wrong with', () => {
    const { stdout, error } = spawnSync('mandoc', ['-Tlint', '-Wwarning'], {
      input: page,
      encoding: 'utf8',
    })
    if (error !== undefined) throw error
    // A date would have to come from somewhere.
    const problems = stdout.split('\n').filter((line) => !line.includes('missing date'))
    expect(problems).to.deep.equal([''])
  })

  it('explains commands, options, arguments and exit codes', () => {
    const text = execFileSync('mandoc', ['-Tascii', '-Owidth=200'], {
      input: page,
      encoding: 'utf8',
    }).replace(/.\x08/g, '')
    expect(text).to.match(/^ +holdfast customers add \[name\]\n +Make a customer/m)
    expect(text).to.match(/^ +--max-file-size\n +Largest file/m)
    expect(text).to.match(/^ +-l, --long\n +Show sizes/m)
    expect(text).to.match(/^EXIT CODES OF THE CLIENT\n +0 if all is done/m)
    expect(text).to.match(/^ +holdfast ls -l holiday-$/m)
    expect(text.indexOf('CLIENT COMMANDS')).to.be.below(text.indexOf('SERVER COMMANDS'))
    expect(text).not.to.include('[boolean]')
  })

  it('is the same each time', async () => {
    expect(await manPage()).to.equal(page)
  })
})
