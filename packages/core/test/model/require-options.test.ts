import { expect } from 'chai'
import {
  having,
  oneOf,
  requireCount,
  requireFlag,
  requireFunction,
  requireOptions,
  requireText,
  requireTexts,
} from '../../src/index.ts'

describe('requireOptions', () => {
  const checks = {
    path: requireText,
    'size?': requireCount,
    'isNew?': requireFlag,
    'onEnd?': requireFunction,
    'names?': requireTexts,
    'log?': having('warn'),
    'mode?': oneOf('plain', 'escaped'),
  }
  const check = (options: unknown) => () => requireOptions('make({ path })', options, checks)

  it('takes what has all that is needed, and what it does not know', () => {
    const log = { warn: () => {} }
    const all = { size: 1, isNew: false, onEnd: log.warn, names: ['a'], log, mode: 'plain' }
    check({ path: '' })()
    check({ path: 'a', ...all, other: 1 })()
    check({ path: 'a', size: undefined, log: undefined })()
  })

  const wrong: readonly (readonly [options: unknown, message: string])[] = [
    [undefined, 'Options are missing: make({ path })'],
    [null, 'Options are missing: make({ path })'],
    ['./x', 'Options must be an object, not a string: make({ path })'],
    [{}, 'path is missing: make({ path })'],
    [{ path: 5 }, 'path must be a string, not a number'],
    [{ path: null }, 'path must be a string, not null'],
    [{ path: 'a', size: '1M' }, 'size must be a number of bytes, not the string "1M"'],
    [{ path: 'a', isNew: 'no' }, 'isNew must be a boolean, not a string'],
    [{ path: 'a', onEnd: {} }, 'onEnd must be a function, not an Object'],
    [{ path: 'a', names: '*' }, 'names must be an array of strings, not a string'],
    [{ path: 'a', names: ['a', 5] }, 'names must be an array of strings, not an Array'],
    [{ path: 'a', log: {} }, 'log has no warn()'],
    [{ path: 'a', mode: 'flat' }, 'mode must be "plain" or "escaped", not "flat"'],
    [{ path: 'a', mode: 5 }, 'mode must be "plain" or "escaped", not a number'],
  ]
  for (const [options, message] of wrong) {
    it(`says: ${message}`, () => {
      expect(check(options)).to.throw(TypeError, message)
    })
  }

  it('names the version that is needed where JavaScript is too old', () => {
    const kept = Object.getOwnPropertyDescriptor(Promise, 'withResolvers')
    try {
      Reflect.deleteProperty(Promise, 'withResolvers')
      const words = `holdfast needs Node.js 22 or newer, and this is ${process.version}`
      expect(check({ path: 'a' })).to.throw(words)
    } finally {
      Object.defineProperty(Promise, 'withResolvers', kept ?? {})
    }
  })
})
