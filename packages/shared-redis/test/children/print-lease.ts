// Prints every few milliseconds whether the server has a lease. Takes the URL of the engine.
import { openEngine } from '../../src/index.ts'

const engine = await openEngine({ url: process.argv[2] ?? '', leaseMs: 3_000 })
setInterval(() => console.log(engine.servers.hasLease()), 5)
