import { expect } from 'chai'
import { openStorage } from '../../page/browser/storage-and-timers.ts'

describe('openStorage', () => {
  it('keeps in memory what the browser will not keep', () => {
    const storage = openStorage(() => {
      throw new DOMException('Forbidden', 'SecurityError')
    })
    storage.setItem('a', '1')
    expect(storage.getItem('a')).to.equal('1')
    storage.removeItem('a')
    expect(storage.getItem('a')).to.equal(null)
  })
})
