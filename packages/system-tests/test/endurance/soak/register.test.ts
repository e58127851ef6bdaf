import { expect } from 'chai'
import { findOrder } from '../linearizability/find-order.ts'
import { createChoices } from './choices.ts'
import { createVersion } from './content.ts'
import { createRegister, type Effect, type Register, type State } from './register.ts'

const versionOf = (sequence: string) =>
  createVersion({ customer: 'anna', name: 'a', sequence, size: 8 }).version
const [one, two, three] = [versionOf('one'), versionOf('two'), versionOf('three')]

const look: Effect = (before) => before
const remove: Effect = () => undefined
const put =
  (state: State): Effect =>
  () =>
    state
const create =
  (state: State): Effect =>
  (before) =>
    before ?? state
const anything = () => true
const found = (state: State) => (before: State) => before === state

/** An operation that nothing else overlaps. */
function alone(register: Register, effect: Effect, explains: (before: State) => boolean): boolean {
  return register.finish(register.begin(effect), explains)
}

describe('createRegister', () => {
  it('takes an upload that was answered for certain', () => {
    const register = createRegister()
    expect(alone(register, put(one), anything)).to.equal(true)
    expect(register.possible()).to.deep.equal([one])
    expect(alone(register, look, found(undefined))).to.equal(false)
  })

  it('takes both for possible when an upload was cut off, until a look has settled it', () => {
    for (const settled of [one, two]) {
      const register = createRegister()
      alone(register, put(one), anything)
      register.settle(register.begin(put(two)))
      expect(register.possible()).to.have.members([one, two])
      expect(alone(register, look, found(settled))).to.equal(true)
      expect(register.possible()).to.deep.equal([settled])
      expect(alone(register, look, found(settled === one ? two : one))).to.equal(false)
    }
  })

  it('takes an upload without an answer for under way while its server lives', () => {
    const register = createRegister()
    alone(register, put(one), anything)
    const lost = register.begin(put(two))
    expect(alone(register, look, found(one))).to.equal(true)
    expect(alone(register, look, found(two))).to.equal(true)
    register.settle(lost)
    expect(register.possible()).to.deep.equal([two])
  })

  it('lets either of two uploads at the same time be the last', () => {
    for (const last of [one, two]) {
      const register = createRegister()
      const [first, second] = [register.begin(put(one)), register.begin(put(two))]
      expect(register.finish(first, anything)).to.equal(true)
      expect(register.finish(second, anything)).to.equal(true)
      expect(alone(register, look, found(last))).to.equal(true)
      expect(register.possible()).to.deep.equal([last])
    }
  })

  it('lets a look see what was there when it began, or any that came until it ended', () => {
    for (const seen of [one, two, three]) {
      const register = createRegister()
      alone(register, put(one), anything)
      const looking = register.begin(look)
      alone(register, put(two), anything)
      alone(register, put(three), anything)
      expect(register.finish(looking, found(seen))).to.equal(true)
      expect(register.possible()).to.deep.equal([three])
    }
  })

  it('does not let a later look see an earlier file', () => {
    const register = createRegister()
    alone(register, put(one), anything)
    register.begin(put(two))
    expect(alone(register, look, found(two))).to.equal(true)
    expect(alone(register, look, found(one))).to.equal(false)
  })

  it('lets one of several create-only uploads win', () => {
    const register = createRegister()
    const [first, second] = [register.begin(create(one)), register.begin(create(two))]
    expect(register.finish(second, found(undefined))).to.equal(true)
    expect(register.finish(first, (before) => before !== undefined)).to.equal(true)
    expect(register.possible()).to.deep.equal([two])
    expect(alone(register, create(three), found(undefined))).to.equal(false)
  })

  it('does not let an upload be taken back that a client has seen', () => {
    const register = createRegister()
    const refused = register.begin(put(one))
    expect(alone(register, look, found(one))).to.equal(true)
    expect(register.cancel(refused)).to.equal(false)
  })

  it('says of random histories what a search for an order says', () => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const verdicts = { possible: 0, impossible: 0 }
    for (let round = 0; round < 3000; round++) {
      const history = randomHistory(createChoices(seed, `${round}`))
      const operations = history.map((done) => ({
        ...done,
        what: '',
        explains: found(done.answer),
      }))
      const expected = findOrder(operations, undefined, labelOf) !== undefined
      verdicts[expected ? 'possible' : 'impossible']++
      expect(replay(history), `seed ${seed}, round ${round}`).to.equal(expected)
    }
    expect(Math.min(verdicts.possible, verdicts.impossible), 'of each kind').to.be.above(100)
  })
})

/** An operation of a history: when it began and ended, and what it says that it found. */
interface Done {
  readonly effect: Effect
  readonly begin: number
  readonly end: number
  readonly answer: State
}

function randomHistory(choices: ReturnType<typeof createChoices>): readonly Done[] {
  return Array.from({ length: choices.between(2, 5) }, () => {
    const begin = choices.below(20)
    return {
      effect: choices.pick([look, remove, put(one), put(two), create(three)]),
      // No two moments are the same.
      begin: begin + choices.below(1000) / 10_000,
      end: begin + choices.between(1, 12) + choices.below(1000) / 10_000 + 0.2,
      answer: choices.pick([undefined, undefined, one, two, three]),
    }
  })
}

function replay(history: readonly Done[]): boolean {
  const register = createRegister()
  const begun = new Map<Done, number>()
  const moments = history.flatMap((done) => [
    { at: done.begin, run: () => begun.set(done, register.begin(done.effect)).size > 0 },
    { at: done.end, run: () => register.finish(begun.get(done) ?? -1, found(done.answer)) },
  ])
  return moments.sort((a, b) => a.at - b.at).every(({ run }) => run())
}

const labelOf = (state: State) => state?.sequence ?? 'nothing'
