import { expect } from 'chai'
import { createMemoryCredentialSource, createMemoryFailureCounter } from '../../src/memory/index.ts'
import { FileServiceError } from '../../src/model/errors.ts'
import { createLoginBrake, noLoginBrake, type LoginBrake } from '../../src/policy/brakes.ts'
import type { CredentialSource, PasswordVerifier } from '../../src/ports/credential-source.ts'
import { authenticate, type Login } from '../../src/use-cases/authenticate.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'

const credentials = createMemoryCredentialSource([
  { name: 'alice', passwordHash: 'hash of secret' },
  { name: 'bob', passwordHash: 'hash of pass', quota: 0 },
])
const verify: PasswordVerifier = async (password, hash) => hash === `hash of ${password}`

/** Notes in order what is asked of the ports. A brake that holds rejects with `held`. */
function recording({ held }: { held?: FileServiceError } = {}) {
  const calls: string[] = []
  const source: CredentialSource = {
    find: (name) => {
      calls.push(`find ${name}`)
      return credentials.find(name)
    },
  }
  const verifier: PasswordVerifier = (password, hash, options) => {
    calls.push(`verify ${password} against ${hash ?? 'nothing'} for ${options?.address}`)
    return verify(password, hash)
  }
  const brake: LoginBrake = {
    async attempt({ name, address }, verify) {
      calls.push(`attempt of ${name} from ${address}`)
      if (held) throw held
      const isRight = await verify()
      calls.push(isRight ? 'right' : 'wrong')
      return isRight
    },
  }
  return { calls, attempt: (login: Login) => authenticate(source, verifier, brake, login) }
}

describe('authenticate', () => {
  it('gives the customer whose password is right, without quota when there is none', async () => {
    const login = { name: 'alice', password: 'secret' }
    const customer = await authenticate(credentials, verify, noLoginBrake, login)
    expect(customer).to.deep.equal({ name: 'alice' })
    expect(Object.keys(customer)).to.deep.equal(['name'])
  })

  it('gives the quota of the credential, a quota of nothing too', async () => {
    const login = { name: 'bob', password: 'pass' }
    const customer = await authenticate(credentials, verify, noLoginBrake, login)
    expect(customer).to.deep.equal({ name: 'bob', quota: 0 })
  })

  it('checks no password for a login that has ended, so that the time does not show that it was right', async () => {
    const ended = createMemoryCredentialSource([
      { name: 'alice/ci', login: 'ci', passwordHash: 'hash of secret', endsAtMs: 1_000 },
    ])
    const hashes: (string | undefined)[] = []
    const noting: PasswordVerifier = (password, hash) => {
      hashes.push(hash)
      return verify(password, hash)
    }
    const login = { name: 'alice/ci', password: 'secret' }
    await authenticate(ended, noting, noLoginBrake, login, () => 999)
    const late = authenticate(ended, noting, noLoginBrake, login, () => 1_000)
    expect(await refusal(late)).to.equal('invalid-credentials')
    expect(hashes).to.deep.equal(['hash of secret', undefined])
  })

  it('lets no login in whose end is no number, as of a date that could not be read', async () => {
    const ends = createMemoryCredentialSource([
      {
        name: 'alice/ci',
        login: 'ci',
        passwordHash: 'hash of secret',
        endsAtMs: Date.parse('soon'),
      },
    ])
    const attempt = authenticate(ends, verify, noLoginBrake, {
      name: 'alice/ci',
      password: 'secret',
    })
    expect(await refusal(attempt)).to.equal('invalid-credentials')
  })

  for (const login of [
    { name: '', password: 'secret' },
    { name: 'alice', password: '' },
    { name: '', password: '' },
  ]) {
    it(`asks neither source nor verifier when only ${JSON.stringify(login)} is given`, async () => {
      const { calls, attempt } = recording()
      const error = await rejection(attempt({ ...login, address: '1.1.1.1' }))
      expect(error).to.include({ code: 'missing-credentials', message: 'No auth headers' })
      expect(calls).to.deep.equal([])
    })
  }

  it('treats a wrong password and an unknown customer alike', async () => {
    const { attempt } = recording()
    const wrong = await rejection(attempt({ name: 'alice', password: 'guess' }))
    const unknown = await rejection(attempt({ name: 'nobody', password: 'guess' }))
    for (const error of [wrong, unknown]) {
      expect(error).to.be.instanceOf(FileServiceError)
      expect(error).to.include({ code: 'invalid-credentials', message: 'Invalid credentials' })
      expect(error).not.to.have.property('cause')
      expect(error).to.have.property('retryAfterMs', undefined)
    }
  })

  it('verifies the password of an unknown customer too, and counts both as failures', async () => {
    const { calls, attempt } = recording()
    await rejection(attempt({ name: 'alice', password: 'guess', address: '1.1.1.1' }))
    await rejection(attempt({ name: 'nobody', password: 'guess', address: '1.1.1.1' }))
    expect(calls).to.deep.equal([
      'attempt of alice from 1.1.1.1',
      'find alice',
      'verify guess against hash of secret for 1.1.1.1',
      'wrong',
      'attempt of nobody from 1.1.1.1',
      'find nobody',
      'verify guess against nothing for 1.1.1.1',
      'wrong',
    ])
  })

  it('counts no failure when the password is right', async () => {
    const { calls, attempt } = recording()
    await attempt({ name: 'alice', password: 'secret', address: '1.1.1.1' })
    expect(calls).to.deep.equal([
      'attempt of alice from 1.1.1.1',
      'find alice',
      'verify secret against hash of secret for 1.1.1.1',
      'right',
    ])
  })

  it('has no more guesses looked at in a crowd than in a row, not even by a verifier that knows the answer at once', async () => {
    const counter = createMemoryFailureCounter({ windowMs: 60_000 })
    const brake = createLoginBrake({ counter, waitingPerAddress: 1000 })
    const seen: string[] = []
    const hashing = Promise.withResolvers<false>()
    const verifier: PasswordVerifier = async (password) => {
      seen.push(password)
      return password === 'secret' || hashing.promise
    }
    const guesses = Array.from({ length: 1000 }, (_, n) => (n === 999 ? 'secret' : `guess ${n}`))
    const outcomes = guesses.map((password) =>
      refusal(authenticate(credentials, verifier, brake, { name: 'alice', password })),
    )
    await turn()
    expect(seen).to.have.length(10)
    hashing.resolve(false)
    const codes = await Promise.all(outcomes)
    expect(codes.filter((code) => code === 'invalid-credentials')).to.have.length(10)
    expect(codes.filter((code) => code === 'too-many-attempts')).to.have.length(990)
  })

  it('hands the signal to the brake and to the verifier', async () => {
    const { signal } = new AbortController()
    const seen: unknown[] = []
    const brake: LoginBrake = {
      attempt: async (attempt, verify) => {
        seen.push(attempt.signal)
        return verify()
      },
    }
    const verifier: PasswordVerifier = async (_password, _hash, options) => {
      seen.push(options?.signal)
      return true
    }
    const login = { name: 'alice', password: 'secret', signal }
    await authenticate(credentials, verifier, brake, login)
    expect(seen).to.deep.equal([signal, signal])
  })

  it('takes attempts without an address as coming from one', async () => {
    const { calls, attempt } = recording()
    await attempt({ name: 'alice', password: 'secret' })
    expect(calls[0]).to.equal('attempt of alice from ')
  })

  it('lets no one in whom the source does not know, whatever the verifier says', async () => {
    const login = { name: 'nobody', password: 'x' }
    const attempt = authenticate(credentials, async () => true, noLoginBrake, login)
    expect(await refusal(attempt)).to.equal('invalid-credentials')
  })

  it('neither looks nor hashes nor counts while the brake holds', async () => {
    const held = new FileServiceError('too-many-attempts', 'Slow down', { retryAfterMs: 5 })
    const { calls, attempt } = recording({ held })
    const login = { name: 'alice', password: 'secret', address: '1.1.1.1' }
    expect(await rejection(attempt(login))).to.equal(held)
    expect(calls).to.deep.equal(['attempt of alice from 1.1.1.1'])
  })

  it('counts no failure when the result is unknown', async () => {
    const counter = createMemoryFailureCounter({ windowMs: 60_000 })
    const brake = createLoginBrake({ counter, failuresPerName: 1 })
    const down = new Error('directory is down')
    const unable: CredentialSource = { find: () => Promise.reject(down) }
    const login = { name: 'alice', password: 'secret' }
    expect(await rejection(authenticate(unable, verify, brake, login))).to.equal(down)
    const overloaded = new FileServiceError('overloaded', 'Too many wait')
    const busy: PasswordVerifier = () => Promise.reject(overloaded)
    expect(await rejection(authenticate(credentials, busy, brake, login))).to.equal(overloaded)
    expect(await authenticate(credentials, verify, brake, login)).to.deep.equal({ name: 'alice' })
  })

  it('does not answer before the failure is counted', async () => {
    const down = new Error('counter is down')
    const counter = createMemoryFailureCounter({ windowMs: 60_000 })
    const brake = createLoginBrake({ counter: { ...counter, add: () => Promise.reject(down) } })
    const login = { name: 'alice', password: 'guess' }
    expect(await rejection(authenticate(credentials, verify, brake, login))).to.equal(down)
  })

  it('lets the customer in from elsewhere while strangers are refused', async () => {
    const counter = createMemoryFailureCounter({ windowMs: 60_000, now: () => 0 })
    const brake = createLoginBrake({ counter, failuresPerName: 3 })
    const attempt = (password: string, address: string, name = 'alice') =>
      authenticate(credentials, verify, brake, { name, password, address })
    for (let guess = 0; guess < 3; guess++) {
      expect(await refusal(attempt(`guess ${guess}`, '6.6.6.6'))).to.equal('invalid-credentials')
      expect(await refusal(attempt('x', '7.7.7.7', 'nobody'))).to.equal('invalid-credentials')
    }
    expect(await refusal(attempt('secret', '6.6.6.6'))).to.equal('too-many-attempts')
    expect(await refusal(attempt('x', '7.7.7.7', 'nobody'))).to.equal('too-many-attempts')
    expect(await attempt('secret', '1.1.1.1')).to.deep.equal({ name: 'alice' })
  })
})
