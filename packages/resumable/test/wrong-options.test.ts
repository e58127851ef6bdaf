import { expect } from 'chai'
import { createDraft, createTus, createTusHandler } from '../src/index.ts'

describe('createTusHandler with what is wrong', () => {
  const filesOf = () => expect.fail('no request comes')
  const wrong: readonly (readonly [options: unknown, words: RegExp])[] = [
    [undefined, /Options are missing: createTusHandler\(\{ path, filesOf \}\)/],
    [{}, /path is missing/],
    [{ path: '/uploads' }, /filesOf is missing/],
    [{ path: '/uploads', filesOf: {} }, /filesOf must be a function/],
    [{ path: 'uploads', filesOf }, /path must begin with a slash and not end with one/],
    [{ path: '/uploads/', filesOf }, /path must begin .* not "\/uploads\/"/],
    [{ path: '/', filesOf }, /path must begin .* not "\/"/],
    [{ path: '/uploads', filesOf, onFault: {} }, /onFault must be a function/],
    [{ path: '/uploads', filesOf, maxFileSize: '5G' }, /maxFileSize.*"5G"/],
    [{ path: '/uploads', filesOf, fileName: 'a' }, /fileName must be a function/],
  ]
  for (const [options, words] of wrong) {
    it(`says ${words.source}`, () => {
      expect(() => createTusHandler(options as never)).to.throw(words)
    })
  }

  it('takes the empty path, of a handler that has a server for itself', () => {
    createTusHandler({ path: '', filesOf })
  })
})

for (const [name, create] of Object.entries({ createTus, createDraft })) {
  describe(`${name} with what is wrong`, () => {
    it('refuses a size that is no number', () => {
      expect(() => create({ maxFileSize: '5G' as never })).to.throw('the string "5G"')
    })
  })
}
