import type { CredentialSource } from '@holdfast/core'
import { linkKeyOfHash } from '@holdfast/passwords'
import { expect } from 'chai'
import type { RpcChannel } from '../../src/workers/rpc-channel.ts'
import type { ReplicaHandlers } from '../../src/workers/worker-protocol.ts'
import {
  createReplicatedFailureCounter,
  type ReplicatedFailure,
} from '../../src/workers/replicated-counters.ts'
import { sharePrimaryServices } from './share-primary-services.ts'

describe('createPrimaryServices', () => {
  it('sends as much of the key for links of an unknown customer as of any other', async () => {
    const keyOf = (name: string) => linkKeyOfHash(name, name === 'anna' ? 'a hash' : undefined)
    const credentials: CredentialSource = {
      find: () => undefined,
      linkKey: async (name) => keyOf(name),
    }
    const shared = sharePrimaryServices({ credentials })
    const { answers } = shared.openSession(() => {
      throw new Error('Nothing is sent')
    })
    const known = await answers.linkKey({ name: 'anna' })
    const unknown = await answers.linkKey({ name: 'bert' })
    expect([known.exists, unknown.exists]).to.deep.equal([1, 0])
    expect(known.key).to.equal(Buffer.from(keyOf('anna') ?? '').toString('base64'))
    expect(JSON.stringify(unknown).length).to.equal(JSON.stringify(known).length)
  })

  it('sends workers failed logins by keys that are short, however long the name was', async () => {
    const sent: ReplicatedFailure[] = []
    const channel = {
      ask: () => Promise.reject(new Error('Nothing is asked')),
      notify(topic: string, body: unknown) {
        if (topic === 'failure') sent.push(body as ReplicatedFailure)
      },
      end() {},
    } as RpcChannel<ReplicaHandlers>
    const session = sharePrimaryServices().openSession(() => channel)
    session.sendState()
    const name = 'x'.repeat(16_000)
    const login = { name, address: '192.0.2.1', password: 'guess' }
    expect(await session.answers.verify(login, new AbortController().signal)).to.be.false
    expect(sent).to.have.length(3)
    for (const { key } of sent) expect(key.length).to.be.at.most(65)

    const failures = createReplicatedFailureCounter()
    for (const failure of sent) failures.apply(failure)
    expect(failures.read(`name ${name}`).failures).to.equal(1)
    expect(failures.read(`name ${name}y`).failures).to.equal(0)
    expect(failures.read('address 192.0.2.1').failures).to.equal(1)
  })
})
