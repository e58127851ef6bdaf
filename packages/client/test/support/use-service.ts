import type { Client } from '../../src/index.ts'
import { clientOf, startService, type RunningService } from './running-service.ts'

interface UsedService extends Omit<RunningService, typeof Symbol.asyncDispose> {
  /** The customer's client. */
  readonly client: Client
  /** The content of a file of the customer. */
  stored(name: string): Promise<Buffer>
}

/** A service of its own for each test of the suite that calls this. */
export function useService(): UsedService {
  let running: (RunningService & Pick<UsedService, 'client'>) | undefined

  beforeEach(async () => {
    const service = await startService()
    running = { ...service, client: clientOf(service) }
  })

  afterEach(() => running?.[Symbol.asyncDispose]())

  const current = () => {
    if (running === undefined) throw new Error('There is a service only while a test runs')
    return running
  }
  return {
    get port() {
      return current().port
    },
    get files() {
      return current().files
    },
    get requests() {
      return current().requests
    },
    get client() {
      return current().client
    },
    stored: async (name) => Buffer.from(await (await current().client.download(name)).bytes()),
  }
}
