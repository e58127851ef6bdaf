import { expect } from 'chai'
import { namesFinding } from '../../../src/inspect/inspect-data-directory.ts'

describe('namesFinding', () => {
  it('is content where all names are kept apart', () => {
    for (const mode of ['plain', 'escaped', undefined] as const) {
      expect(namesFinding(undefined, mode).mark).to.equal('ok')
    }
  })

  it('is content where files are, or will be, named in a safe form', () => {
    for (const mode of ['escaped', undefined] as const) {
      const { mark, message } = namesFinding('A', mode)
      expect(mark).to.equal('ok')
      expect(message).to.match(/such as "A"; they are written in a safe form$/)
    }
  })

  it('calls it a problem where they stand as they are', () => {
    const { mark, message, remedies } = namesFinding('x'.repeat(255), 'plain')
    expect(mark).to.equal('problem')
    expect(message).to.match(/^this file system does not keep all names .* one of 255 bytes$/)
    expect(remedies.join()).to.include('the server refuses it here')
  })
})
