// It repeats every request under every fault of a store.
import { everyFault } from './areas/every-fault.ts'
import { slowStore } from './areas/slow-store.ts'
import { openMemoryStore } from './support/open-memory-store.ts'
import { startService, type ServiceOptions } from './support/running-service.ts'

const figures = { faults: 0, delays: 0 }

// Faults strike between the service and its store, so that the steps do not depend on the store, but for the number of chunks that
// it gives. What a store leaves behind after a fault, the contract suite and the area `storeFaults` test.
describe('the service on the memory store with injected faults', () => {
  const start = (options: ServiceOptions = {}) => startService(openMemoryStore, options)
  everyFault(start, (count) => (figures.faults += count))
  slowStore(start, (count) => (figures.delays += count))
})

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
