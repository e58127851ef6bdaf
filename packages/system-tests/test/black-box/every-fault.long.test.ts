// It repeats every request under every fault of a store.
import { everyError, everyFault } from './areas/every-fault.ts'
import { slowStore } from './areas/slow-store.ts'
import { openDiskStore } from './support/open-disk-store.ts'
import { openMemoryStore } from './support/open-memory-store.ts'
import { startService, type ServiceOptions } from './support/running-service.ts'

const figures = { faults: 0, delays: 0 }

for (const [storeName, openStore, errors] of [
  ['the memory store', openMemoryStore, everyError],
  // What an error is told as does not depend on the store; where it strikes may.
  ['the disk store', openDiskStore, everyError.slice(0, 1)],
] as const) {
  describe(`the service on ${storeName} with injected faults`, () => {
    const start = (options: ServiceOptions = {}) => startService(openStore, options)
    everyFault(start, errors, (count) => (figures.faults += count))
    slowStore(start, (count) => (figures.delays += count))
  })
}

describe('the service with injected faults', () => {
  after(() =>
    console.log(
      `figures: injected faults: ${figures.faults} faults and ${figures.delays} delays of the store, over sockets`,
    ),
  )

  it('has met some of each kind', () => {
    if (figures.faults === 0 || figures.delays === 0) throw new Error('Nothing was injected')
  })
})
