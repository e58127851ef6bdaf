import { startService, type RunningService } from './running-service.ts'

/** A service of its own for each test of the suite that calls this. */
export function useService(): Omit<RunningService, typeof Symbol.asyncDispose> {
  let running: RunningService | undefined

  beforeEach(async () => {
    running = await startService()
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
  }
}
