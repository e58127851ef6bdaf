import { expect } from 'chai'
import {
  advice,
  adviceOf,
  adviceText,
  asSentence,
  carriesAdvice,
  rangeErrorOf,
  SetupError,
} from '../../src/setup/advice.ts'

describe('adviceText', () => {
  for (const [said, text] of [
    [advice('f.yaml: it is wrong'), 'f.yaml: it is wrong'],
    [advice('f.yaml: it is wrong', 'change it'), 'f.yaml: it is wrong; change it'],
    [advice('It is late', 'Wait', 'or go.'), 'It is late. Wait; or go.'],
    [advice('a; b. C is missing', 'make it'), 'a; b. C is missing; make it'],
    [advice('It cannot be used:', 'change it.'), 'It cannot be used: change it.'],
    [advice('It needs:', '--one', '--two'), 'It needs:\n  --one\n  --two'],
    [advice('It needs:', 'ONE'), 'It needs:\n  ONE'],
  ] as const) {
    it(`says ${JSON.stringify(text)}`, () => {
      expect(adviceText(said)).to.equal(text)
    })
  }
})

describe('adviceOf', () => {
  const said = advice('It is wrong', 'change it')

  it('is what an error carries', () => {
    for (const error of [new SetupError('It is wrong', ['change it']), rangeErrorOf(said)]) {
      expect(adviceOf(error)).to.deep.equal(said)
      expect(carriesAdvice(error)).to.equal(true)
    }
  })

  it('takes the shape for it, since the class may come from another copy of the package', () => {
    const error = Object.assign(new Error('It is wrong; change it'), said)
    expect(adviceOf(error)).to.deep.equal(said)
  })

  it('is the message of any other error, without remedies', () => {
    for (const error of [new Error('It is wrong; so'), 'It is wrong; so']) {
      expect(adviceOf(error)).to.deep.equal(advice('It is wrong; so'))
      expect(carriesAdvice(error)).to.equal(false)
    }
    const halves = [
      { problem: 'It' },
      { problem: 1, remedies: [] },
      { problem: 'It', remedies: '' },
    ]
    for (const half of halves) {
      expect(carriesAdvice(Object.assign(new Error('It'), half))).to.equal(false)
    }
  })
})

describe('rangeErrorOf', () => {
  it('is a RangeError whose message has the remedy, too', () => {
    const error = rangeErrorOf(advice('is no port', 'write a number'))
    expect(error).to.be.instanceOf(RangeError)
    expect(error.message).to.equal('is no port; write a number')
  })
})

describe('asSentence', () => {
  it('ends with a full stop, which the last remedy has if there is one', () => {
    expect(adviceText(asSentence(advice('It is wrong')))).to.equal('It is wrong.')
    expect(adviceText(asSentence(advice('It is wrong', 'a', 'b')))).to.equal('It is wrong; a; b.')
  })

  it('adds nothing to what has an end', () => {
    expect(adviceText(asSentence(advice('It is', 'is it?')))).to.equal('It is; is it?')
    expect(adviceText(asSentence(advice('It is.')))).to.equal('It is.')
  })
})

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
