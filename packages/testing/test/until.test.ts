import { expect } from 'chai'
import { rejection, until } from '../src/until.ts'

describe('until', () => {
  it('resolves once the condition holds', async () => {
    let asked = 0
    await until('it was asked three times', () => ++asked === 3)
    expect(asked).to.equal(3)
  })

  it('rejects after its limit with what it has waited for, as it is then', async () => {
    let asked = 0
    const what = () => `it is done; it was asked ${asked > 0 ? 'before' : 'never'}`
    const condition = () => {
      asked += 1
      return false
    }
    expect((await rejection(until(what, condition, 0))).message).to.equal(
      'Waited in vain until it is done; it was asked before',
    )
  })
})

describe('rejection', () => {
  it('is the error of a promise that rejects', async () => {
    const error = new Error('no')
    expect(await rejection(Promise.reject(error))).to.equal(error)
  })

  it('rejects where the promise resolves, or rejects with what is no error', async () => {
    expect((await rejection(rejection(Promise.resolve()))).message).to.include('Resolved where')
    const strange = Promise.resolve().then(() => {
      // oxlint-disable-next-line typescript/only-throw-error
      throw 'no'
    })
    expect((await rejection(rejection(strange))).message).to.include('which is no error')
  })
})
