import { expect } from 'chai'
import { SetupError } from '../../src/setup/advice.ts'

describe('SetupError', () => {
  it('has problem, remedies and cause, and both words in its message', () => {
    const cause = new Error('EACCES')
    const error = new SetupError('The file cannot be read', ['give it to that user.'], cause)
    expect(error.message).to.equal('The file cannot be read; give it to that user.')
    expect(error.name).to.equal('SetupError')
    expect(error.problem).to.equal('The file cannot be read')
    expect(error.remedies).to.deep.equal(['give it to that user.'])
    expect(error.cause).to.equal(cause)
  })

  it('needs neither remedies nor cause', () => {
    const error = new SetupError('The disk is full.')
    expect(error.message).to.equal('The disk is full.')
    expect(error.remedies).to.deep.equal([])
    expect(error).not.to.have.property('cause')
  })
})
