import { expect } from 'chai'
import { nextName } from '../../page/uploads/upload-queue.ts'

describe('nextName', () => {
  for (const [name, next] of [
    ['a.txt', 'a (2).txt'],
    ['a (2).txt', 'a (3).txt'],
    ['a (9)', 'a (10)'],
    ['a', 'a (2)'],
    ['a (b).txt', 'a (b) (2).txt'],
    ['IMG (20261129083550124).jpg', 'IMG (20261129083550124) (2).jpg'],
  ] as const) {
    it(`follows ${name} with ${next}`, () => expect(nextName(name)).to.equal(next))
  }
})
