import { expect } from 'chai'
import { createChoices, type Choices } from '../soak/choices.ts'
import { fileOperation, labelOfFile, type FileOperation, type FileState } from './file-operation.ts'
import { findOrder, type Operation } from './find-order.ts'
import { operationsOf } from './upload-history.ts'

type Done = Operation<FileState>

const { upload, create, refused, read, remove, missing } = fileOperation
const during = (begin: number, end: number, kind: FileOperation): Done => ({
  ...kind,
  begin,
  end,
})
const unanswered = (begin: number, kind: FileOperation): Done => ({
  ...kind,
  begin,
  end: Infinity,
  explains: () => true,
})
const orderOf = (...history: Done[]) =>
  findOrder(history, undefined, labelOfFile)?.map(({ what }) => what)

describe('findOrder', () => {
  it('finds the order of operations one after the other', () => {
    expect(
      orderOf(
        during(1, 2, upload('a')),
        during(3, 4, read('a')),
        during(5, 6, refused('b')),
        during(7, 8, remove),
        during(9, 10, create('c')),
        during(11, 12, read('c')),
      ),
    ).to.deep.equal([
      'upload of a',
      'read of a',
      'refused creation of b',
      'deletion',
      'creation of c',
      'read of c',
    ])
  })

  it('lets either of two operations at once be the first', () => {
    for (const last of ['a', 'b']) {
      expect(
        orderOf(during(1, 4, upload('a')), during(2, 3, upload('b')), during(5, 6, read(last))),
      ).to.have.length(3)
    }
  })

  it('lets what was not answered happen at any time later, or never', () => {
    const lost = unanswered(1, upload('a'))
    expect(orderOf(lost, during(2, 3, missing))).to.deep.equal(['nothing found'])
    expect(orderOf(lost, during(2, 3, missing), during(4, 5, read('a')))).to.have.length(3)
    const lostDeletion = unanswered(3, remove)
    const file = [during(1, 2, upload('a')), during(4, 5, read('a')), lostDeletion]
    expect(orderOf(...file)).to.have.length(2)
    expect(orderOf(...file, during(6, 7, missing))).to.have.length(4)
  })

  it('lets a doubled upload happen once more at any time later', () => {
    const copy = unanswered(1, upload('a'))
    const back = [during(3, 4, remove), during(5, 6, read('a'))]
    expect(orderOf(during(1, 2, upload('a')), copy, ...back)).to.have.length(4)
    const oftener = [...back, during(7, 8, remove), during(9, 10, read('a'))]
    expect(orderOf(during(1, 2, upload('a')), copy, ...oftener)).to.equal(undefined)
  })

  it('lets a look without an answer publish an upload that has all its bytes, and no other event', () => {
    const history = (kind: 'look' | 'discard') =>
      operationsOf({
        ...{ label: 'u', path: '/u', length: 9, createOnly: true, downloads: [] },
        events: [
          {
            kind: 'append',
            writer: 'w',
            begin: 2,
            end: 3,
            outcome: 'taken',
            range: { from: 0, to: 9 },
          },
          { kind, writer: 'w', begin: 6, end: Infinity, outcome: 'unknown' },
        ],
      })
    const before = [during(1, 4, upload('a')), during(5, 7, remove)]
    expect(orderOf(...before, ...history('look'), during(8, 9, read('u')))).to.have.length(5)
    expect(orderOf(...before, ...history('discard'), during(8, 9, read('u')))).to.equal(undefined)
  })

  describe('of deletions that look before they remove', () => {
    const looking = (begin: number, end: number): readonly Done[] => {
      const [look, removal] = fileOperation.lookAndRemove
      const first = during(begin, end, look)
      return [first, { ...during(begin, end, removal), after: first }]
    }

    it('lets two at once find one file', () => {
      const two = [...looking(3, 6), ...looking(4, 5)]
      expect(orderOf(during(1, 2, upload('a')), ...two, during(7, 8, missing))).to.have.length(6)
    })

    it('lets one remove what came after its look', () => {
      expect(
        orderOf(
          during(1, 2, upload('a')),
          ...looking(3, 8),
          ...[during(4, 5, upload('b')), during(6, 7, read('b')), during(9, 10, missing)],
        ),
      ).to.have.length(6)
    })

    it('refuses one that finds nothing, removes nothing, or looks after it has removed', () => {
      expect(orderOf(...looking(1, 2))).to.equal(undefined)
      const file = during(1, 2, upload('a'))
      expect(orderOf(file, ...looking(3, 4), during(5, 6, read('a')))).to.equal(undefined)
      const late = [during(4, 5, create('b')), during(9, 10, read('b'))]
      expect(orderOf(...looking(1, 8), ...late)).to.equal(undefined)
    })
  })

  for (const [what, ...history] of [
    ['an upload that is lost', during(1, 2, upload('a')), during(3, 4, missing)],
    [
      'a read of what was replaced before it began',
      ...[during(1, 2, upload('a')), during(3, 4, upload('b')), during(5, 6, read('a'))],
    ],
    [
      'a later read that sees less than an earlier one',
      ...[during(1, 10, upload('a')), during(2, 3, read('a')), during(4, 5, missing)],
    ],
    [
      'two deletions that both find one file',
      ...[during(1, 2, upload('a')), during(3, 6, remove), during(4, 5, remove)],
    ],
    ['two creations of one file', during(1, 4, create('a')), during(2, 3, create('b'))],
    ['a creation that is refused for no file', during(1, 2, refused('a'))],
    [
      'a creation that is refused for its own file',
      ...[during(1, 2, missing), during(3, 4, refused('a')), during(5, 6, missing)],
    ],
    ['a read of what was never uploaded', during(1, 2, read('a'))],
    [
      'an unanswered deletion that happens twice',
      ...[during(1, 2, upload('a')), unanswered(3, remove)],
      ...[during(4, 5, create('b')), during(6, 7, missing)],
    ],
    [
      'an unanswered upload that happens twice',
      ...[unanswered(1, upload('a')), during(2, 3, read('a'))],
      ...[during(4, 5, upload('b')), during(6, 7, read('a'))],
    ],
    [
      'an unanswered upload that happens again after a deletion',
      ...[unanswered(1, upload('a')), during(2, 3, remove), during(4, 5, read('a'))],
    ],
    [
      'an unanswered upload that happened before it began',
      ...[during(1, 2, read('a')), unanswered(3, upload('a'))],
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(orderOf(...(history as readonly Done[]))).to.equal(undefined)
    })
  }

  it('says of random histories what trying all orders says', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const verdicts = { possible: 0, impossible: 0 }
    for (let round = 0; round < 3000; round++) {
      const history = randomHistory(createChoices(seed, `${round}`))
      const expected = hasOrder(history)
      verdicts[expected ? 'possible' : 'impossible']++
      const found = orderOf(...history) !== undefined
      expect(found, `seed ${seed}, round ${round}`).to.equal(expected)
    }
    expect(Math.min(verdicts.possible, verdicts.impossible), 'of each kind').to.be.above(100)
  })
})

function randomHistory(choices: Choices): readonly Done[] {
  return Array.from({ length: choices.between(2, 6) }, () => {
    const kind = choices.pick([
      upload('a'),
      upload('b'),
      create('c'),
      read('a'),
      read('b'),
      remove,
      missing,
    ])
    // No two moments are the same.
    const begin = choices.below(20) + choices.below(1000) / 10_000
    const done = {
      ...kind,
      begin,
      end: begin + choices.between(1, 12) + 0.2 + choices.below(1000) / 10_000,
    }
    return choices.chance(20) ? unanswered(begin, done) : done
  })
}

/** Whether the operations, or all but some of those that were not answered, can be put into an order. */
function hasOrder(history: readonly Done[], state?: FileState): boolean {
  if (history.every(({ end }) => end === Infinity)) return true
  return history.some((next) => {
    const others = history.filter((other) => other !== next)
    const isDue = others.every(({ end }) => end > next.begin)
    return isDue && next.explains(state) && hasOrder(others, next.effect(state))
  })
}
