import { createFaults, injectFaults } from '@holdfast/contract/faults'
import type { BlobStore } from '@holdfast/core'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectOk } from '../support/answer.ts'
import { older } from '../support/faulty-requests.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

const fault = new Error('the secret cause of the fault')

function isLogged({ log }: RunningService): boolean {
  return log.some(({ fields }) => fields['err'] === fault)
}

export function cutAnswers(start: StartService): void {
  describe('a fault when the answer has begun', () => {
    it('cuts a download off, so that a part does not pass for the whole', async () => {
      const faults = createFaults()
      await using service = await start({ wrap: (store) => injectFaults(store, faults) })
      expectOk(await service.anna.upload('a', older))
      faults.plan({ nth: 2, only: { method: 'open', moment: 'item' }, error: fault })
      const failure = await service.anna.serve('a').catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(TypeError)
      await until('the fault is logged', () => isLogged(service))
      expect((await service.anna.send('GET', '/ping')).status).to.equal(200)
    })

    it('cuts a list off, so that a part does not pass for the whole', async () => {
      const breaking = (store: BlobStore): BlobStore => ({
        ...store,
        async *list() {
          for (let index = 0; index < 10_000; index++) yield [`name ${index}`]
          throw fault
        },
      })
      await using service = await start({ wrap: breaking })
      const failure = await service.anna.list().catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(TypeError)
      await until('the fault is logged', () => isLogged(service))
    })
  })
}
