import { expect } from 'chai'
import { Context, Suite, Test } from 'mocha'
import { leaveOut } from '../../src/s3-servers.ts'

describe('leaveOut', () => {
  /** A suite `store` of two groups, each with the tests `a` and `b`. */
  const suite = () => {
    const made = new Suite('store', new Context())
    for (const group of ['one', 'two']) {
      const child = Suite.create(made, group)
      for (const title of ['a', 'b']) child.addTest(new Test(title, () => {}))
    }
    return made
  }

  const titlesLeft = (titles: readonly string[]) => {
    const made = suite()
    leaveOut(made, titles)
    const found: string[] = []
    made.eachTest((test) => void found.push(test.titlePath().slice(1).join(' > ')))
    return found
  }

  it('removes a test, and no other of its title', () => {
    expect(titlesLeft(['two > a'])).to.deep.equal(['one > a', 'one > b', 'two > b'])
  })

  it('removes a suite with its tests', () => {
    expect(titlesLeft(['one'])).to.deep.equal(['two > a', 'two > b'])
  })

  it('removes nothing where no title is given', () => {
    expect(titlesLeft([])).to.have.length(4)
  })

  it('refuses a title that no test has, or none that is left', () => {
    expect(() => titlesLeft(['a'])).to.throw(/no such test: a$/)
    expect(() => titlesLeft(['one', 'one > a'])).to.throw(/no such test: one > a$/)
  })
})
