import { availableParallelism } from 'node:os'
import { isFileServiceError, type PasswordVerifier } from '@holdfast/core'
import { cheapCost, rejection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { computeScrypt, type ScryptCost, standardScryptCost } from '../src/compute-scrypt.ts'
import {
  createPasswordVerifier,
  type PasswordVerifierOptions,
} from '../src/create-password-verifier.ts'
import { hashPassword, sealPlainPassword } from '../src/hash-password.ts'
/** A verifier with a record of its computations, which wait while it is held. */
function openVerifier(options: PasswordVerifierOptions = {}) {
  const costs: (ScryptCost & { readonly length: number })[] = []
  const held: (() => void)[] = []
  const state = { running: 0, most: 0, isHeld: false, now: 1_000 }
  const verifier = createPasswordVerifier({
    cost: cheapCost,
    now: () => state.now,
    async computeScrypt(password, salt, length, cost) {
      costs.push({ ...cost, length })
      state.most = Math.max(state.most, ++state.running)
      if (state.isHeld) await new Promise<void>((resolve) => held.push(resolve))
      const derived = await computeScrypt(password, salt, length, cost)
      state.running--
      return derived
    },
    ...options,
  })
  const verify = async (...args: Parameters<PasswordVerifier>) => verifier(...args)
  const release = () => {
    state.isHeld = false
    for (const resolve of held.splice(0)) resolve()
  }
  return { verify, costs, state, release }
}

describe('createPasswordVerifier', () => {
  describe('telling right from wrong', () => {
    it('knows the password of a hash made with the standard cost', async () => {
      const verify = createPasswordVerifier()
      const hash = await hashPassword('secret', standardScryptCost)
      expect(await verify('secret', hash)).to.equal(true)
      expect(await verify('Secret', hash)).to.equal(false)
    })

    it('verifies a published test vector (RFC 7914 §12)', async () => {
      const salt = Buffer.from('SodiumChloride').toString('base64').replaceAll('=', '')
      const hash = Buffer.from(
        '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2' +
          'd5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887',
        'hex',
      )
      const phc = `$scrypt$ln=14,r=8,p=1$${salt}$${hash.toString('base64').replaceAll('=', '')}`
      expect(await createPasswordVerifier()('pleaseletmein', phc)).to.equal(true)
      expect(await createPasswordVerifier()('pleaseletmeout', phc)).to.equal(false)
    })

    it('compares passwords as UTF-8 bytes: normal forms, case and spaces count', async () => {
      const { verify } = openVerifier()
      const hash = await hashPassword('caf\u00e9 密', cheapCost)
      expect(await verify('caf\u00e9 密', hash)).to.equal(true)
      for (const other of ['cafe\u0301 密', 'CAF\u00c9 密', 'caf\u00e9 密 ', 'caf\u00e9', '']) {
        expect(await verify(other, hash), other).to.equal(false)
      }
    })

    it('knows a sealed plain-text password', async () => {
      const { verify } = openVerifier()
      expect(await verify('secret', sealPlainPassword('secret'))).to.equal(true)
      expect(await verify('secret!', sealPlainPassword('secret'))).to.equal(false)
      expect(await verify('', sealPlainPassword('secret'))).to.equal(false)
    })

    it('never takes a password for an unknown customer', async () => {
      const { verify } = openVerifier()
      expect(await verify('secret', undefined)).to.equal(false)
      expect(await verify('', undefined)).to.equal(false)
    })

    it('never takes a hash or a sealed password for its own password', async () => {
      const { verify } = openVerifier()
      for (const hash of [await hashPassword('secret', cheapCost), sealPlainPassword('secret')]) {
        expect(await verify(hash, hash)).to.equal(false)
      }
    })

    for (const hash of [
      '',
      'secret',
      '$2b$12$abcdefghijklmnopqrstuv',
      '$scrypt$ln=30,r=8,p=1$AAAA$AAAA',
    ]) {
      it(`rejects for ${JSON.stringify(hash)}, which it does not understand`, async () => {
        const { verify, costs } = openVerifier()
        expect(await rejection(verify('secret', hash))).to.be.instanceOf(RangeError)
        expect(costs).to.deep.equal([])
      })
    }
  })

  describe('cost', () => {
    it('is one computation of the same cost whoever is asked for and however it comes out', async () => {
      const hash = await hashPassword('secret', cheapCost)
      const sealed = sealPlainPassword('secret')
      const cases = { wrong: hash, unknown: undefined, 'plain, wrong': sealed }
      for (const [what, passwordHash] of Object.entries(cases)) {
        const { verify, costs } = openVerifier()
        expect(await verify('guess', passwordHash), what).to.equal(false)
        expect(costs, what).to.deep.equal([{ ...cheapCost, length: 32 }])
      }
      for (const [what, passwordHash] of Object.entries({ right: hash, 'plain, right': sealed })) {
        const { verify, costs } = openVerifier()
        expect(await verify('secret', passwordHash), what).to.equal(true)
        expect(costs, what).to.deep.equal([{ ...cheapCost, length: 32 }])
      }
    })

    it('is one computation for each of many equal wrong logins at once, known or not', async () => {
      const cases = [
        await hashPassword('secret', cheapCost),
        undefined,
        sealPlainPassword('secret'),
      ]
      for (const passwordHash of cases) {
        const { verify, costs } = openVerifier()
        await Promise.all(Array.from({ length: 20 }, () => verify('guess', passwordHash)))
        expect(costs.length).to.equal(20)
      }
    })

    it('is no more than `concurrency` computations for 50 equal right logins at once', async () => {
      for (const passwordHash of [
        await hashPassword('secret', cheapCost),
        sealPlainPassword('secret'),
      ]) {
        const { verify, costs } = openVerifier({ concurrency: 2 })
        const answers = await Promise.all(
          Array.from({ length: 50 }, () => verify('secret', passwordHash)),
        )
        expect(answers.every(Boolean)).to.equal(true)
        expect(costs.length).to.be.within(1, 2)
      }
    })

    it('is shared only by equal pairs: wrong ones among the right ones are computed', async () => {
      const hash = await hashPassword('secret', cheapCost)
      const { verify } = openVerifier({ concurrency: 1 })
      const passwords = Array.from({ length: 40 }, (_, n) => (n % 2 ? 'secret' : `guess ${n}`))
      const answers = await Promise.all(passwords.map((password) => verify(password, hash)))
      expect(answers).to.deep.equal(passwords.map((password) => password === 'secret'))
    })
  })

  describe('memory', () => {
    it('spares a right password the computation as long as it is in use, and no longer', async () => {
      const { verify, costs, state } = openVerifier({ rememberMs: 500 })
      const hash = await hashPassword('secret', cheapCost)
      await verify('secret', hash)
      for (let use = 0; use < 10; use++) {
        state.now += 499
        expect(await verify('secret', hash)).to.equal(true)
      }
      expect(costs.length).to.equal(1)
      state.now += 501
      expect(await verify('secret', hash)).to.equal(true)
      expect(costs.length).to.equal(2)
    })

    it('does not spare a wrong one', async () => {
      const { verify, costs } = openVerifier()
      const hash = await hashPassword('secret', cheapCost)
      await verify('guess', hash)
      await verify('guess', hash)
      expect(costs.length).to.equal(2)
    })

    it('does not carry over to another password or another hash', async () => {
      const { verify, costs } = openVerifier()
      const [hash, rotated] = [
        await hashPassword('secret', cheapCost),
        await hashPassword('new secret', cheapCost),
      ]
      await verify('secret', hash)
      expect(await verify('secret', rotated)).to.equal(false)
      expect(await verify('secret', undefined)).to.equal(false)
      expect(await verify('secret2', hash)).to.equal(false)
      expect(costs.length).to.equal(4)
    })

    it('is switched off by a `rememberMs` of 0', async () => {
      const { verify, costs } = openVerifier({ rememberMs: 0 })
      const hash = await hashPassword('secret', cheapCost)
      await verify('secret', hash)
      await verify('secret', hash)
      expect(costs.length).to.equal(2)
    })
  })

  describe('bounds', () => {
    it('computes no more than `concurrency` at a time', async () => {
      const { verify, state } = openVerifier({ concurrency: 3 })
      await Promise.all(Array.from({ length: 30 }, (_, n) => verify(`guess ${n}`, undefined)))
      expect(state.most).to.equal(3)
    })

    it('refuses as overloaded when too many wait, says when to come back, and recovers', async () => {
      const { verify, state, costs, release } = openVerifier({ concurrency: 1, queueLimit: 2 })
      const hash = await hashPassword('secret', cheapCost)
      state.isHeld = true
      const first = ['a', 'b', 'c'].map((password) => verify(password, undefined))
      const error = await rejection(verify('secret', hash))
      expect(isFileServiceError(error, 'overloaded') && error.retryAfterMs).to.equal(1_000)
      release()
      expect(await Promise.all(first)).to.deep.equal([false, false, false])
      expect(costs.length).to.equal(3)
      expect(await verify('secret', hash)).to.equal(true)
    })

    for (const { threads, most } of [
      { threads: undefined, most: 2 },
      { threads: '1', most: 1 },
      { threads: '16', most: 4 },
    ]) {
      it(`computes ${most} at a time in a pool of ${threads ?? 4} threads, or one for each processor`, async () => {
        const before = process.env.UV_THREADPOOL_SIZE
        setThreads(threads)
        const { verify, state } = openVerifier()
        setThreads(before)
        await Promise.all(Array.from({ length: 10 }, (_, n) => verify(`guess ${n}`, undefined)))
        expect(state.most).to.equal(Math.min(availableParallelism(), most))
      })
    }

    it('answers for a remembered password while overloaded', async () => {
      const { verify, state, release } = openVerifier({ concurrency: 1, queueLimit: 0 })
      const hash = await hashPassword('secret', cheapCost)
      await verify('secret', hash)
      state.isHeld = true
      const stuck = verify('guess', undefined)
      await until('the computation runs', () => state.running === 1)
      expect(await verify('secret', hash)).to.equal(true)
      release()
      await stuck
    })

    it('goes on after a failed computation', async () => {
      let calls = 0
      const verify = createPasswordVerifier({
        cost: cheapCost,
        concurrency: 1,
        computeScrypt: (...input) =>
          ++calls === 1 ? Promise.reject(new Error('out of memory')) : computeScrypt(...input),
      })
      const hash = await hashPassword('secret', cheapCost)
      const [failed, next] = await Promise.allSettled([
        verify('secret', hash),
        verify('secret', hash),
      ])
      expect(failed.status).to.equal('rejected')
      expect(next).to.deep.equal({ status: 'fulfilled', value: true })
    })

    it("leaves the caller's thread free while it hashes", async () => {
      let turns = 0
      const timer = setInterval(() => turns++, 1)
      await createPasswordVerifier()('guess', undefined)
      clearInterval(timer)
      expect(turns).to.be.greaterThan(0)
    })

    for (const options of [
      { concurrency: 0 },
      { concurrency: 1.5 },
      { queueLimit: -1 },
      { queueLimit: NaN },
    ]) {
      it(`refuses ${JSON.stringify(options)}`, () => {
        expect(() => createPasswordVerifier(options)).to.throw(RangeError)
      })
    }

    it('refuses a cost out of bounds', () => {
      expect(() => createPasswordVerifier({ cost: { ln: 30, r: 8, p: 1 } })).to.throw(RangeError)
    })
  })
})

function setThreads(threads: string | undefined): void {
  if (threads === undefined) delete process.env.UV_THREADPOOL_SIZE
  else process.env.UV_THREADPOOL_SIZE = threads
}
