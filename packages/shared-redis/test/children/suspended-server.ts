/**
 * A server of its own process, for tests that suspend it: takes the lock `alice` of the engine at `process.argv[2]`, prints a line,
 * and releases the lock when it gets a line.
 */
import { once } from 'node:events'
import { createSharedLocks, openEngine } from '../../src/index.ts'

const engine = await openEngine({ url: process.argv[2] ?? '', leaseMs: 3_000 })
const { release } = await createSharedLocks(engine)('alice')
process.stdout.write('taken\n')
await once(process.stdin, 'data')
release()
