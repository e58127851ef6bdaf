import { expect } from 'chai'
import { FileServiceError, isFileServiceError } from '../../src/model/errors.ts'

describe('FileServiceError', () => {
  it('is an Error with a code and a message', () => {
    const error = new FileServiceError('not-found', 'File not found')
    expect(error).to.be.instanceOf(Error)
    expect(error.name).to.equal('FileServiceError')
    expect(error.code).to.equal('not-found')
    expect(error.message).to.equal('File not found')
    expect(error.retryAfterMs).to.equal(undefined)
  })

  it('keeps the cause and the time after which another try makes sense', () => {
    const cause = new Error('ECONNREFUSED')
    const error = new FileServiceError('overloaded', 'Too much', { cause, retryAfterMs: 1500 })
    expect(error.cause).to.equal(cause)
    expect(error.retryAfterMs).to.equal(1500)
  })

  it('has no cause of its own when none is given', () => {
    expect(Object.hasOwn(new FileServiceError('not-found', ''), 'cause')).to.equal(false)
  })
})

describe('isFileServiceError', () => {
  const error: unknown = new FileServiceError('not-found', 'File not found')

  it('knows the error, and its code', () => {
    expect(isFileServiceError(error)).to.equal(true)
    expect(isFileServiceError(error, 'not-found')).to.equal(true)
    expect(isFileServiceError(error, 'already-exists')).to.equal(false)
  })

  it('knows the error of another copy of this package by its shape', () => {
    const foreign = Object.assign(new Error('x'), { name: 'FileServiceError', code: 'not-found' })
    expect(isFileServiceError(foreign)).to.equal(true)
    expect(isFileServiceError(foreign, 'not-found')).to.equal(true)
  })

  it('takes nothing else for one', () => {
    const others: unknown[] = [
      undefined,
      null,
      'not-found',
      { name: 'FileServiceError', code: 'not-found' },
      Object.assign(new Error('x'), { code: 'ENOENT' }),
      Object.assign(new Error('x'), { name: 'FileServiceError' }),
      new TypeError('x'),
    ]
    for (const other of others) expect(isFileServiceError(other), String(other)).to.equal(false)
  })
})
