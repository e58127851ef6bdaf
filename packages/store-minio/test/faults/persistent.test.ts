import { describeWithMinio } from '@holdfast/minio-container'
import type { BlobStore } from '@holdfast/core'
import { expect } from 'chai'
import { bytesOf, contentOf, expectOneOf, key, MiB, read } from './blobs.ts'
import { eachAtOnce } from './each-at-once.ts'
import type { Direction, Fault, FaultKind, Position } from './fault-proxy.ts'
import { expectSwept, expectUnavailable, withFaultyStore } from './faulty-store.ts'

interface Operation {
  readonly name: string
  /** The request that meets the fault. */
  readonly request: RegExp
  /** Which of its request and answer have a body. */
  readonly bodies: readonly Direction[]
  /** The bytes put; none where nothing is put. */
  readonly bytes?: Buffer
  readonly run?: (store: BlobStore) => Promise<unknown>
  /** Whether the server may have done it when the answer is lost. */
  readonly publishes?: boolean
}

const small = bytesOf(100_000, 2)
const large = bytesOf(9 * MiB, 2)
const earlier = bytesOf(9 * MiB, 3)

async function drain(source: AsyncIterable<unknown>): Promise<void> {
  for await (const each of source) void each
}

const operations: readonly Operation[] = [
  {
    name: 'put in one request',
    request: /x-id=PutObject/,
    bodies: ['request'],
    bytes: small,
    publishes: true,
  },
  {
    name: 'put in parts, when the upload begins',
    request: /^POST .*\?uploads/,
    bodies: ['answer'],
    bytes: large,
  },
  {
    name: 'put in parts, when a part is sent',
    request: /x-id=UploadPart.*partNumber=2/,
    bodies: ['request'],
    bytes: large,
  },
  {
    name: 'put in parts, when the upload is completed',
    request: /^POST .*\?uploadId=/,
    bodies: ['request', 'answer'],
    bytes: large,
    publishes: true,
  },
  { name: 'open and read', request: /x-id=GetObject/, bodies: ['answer'], run: read },
  { name: 'stat', request: /^HEAD /, bodies: [], run: (store) => store.stat(key) },
  {
    name: 'delete',
    request: /^DELETE /,
    bodies: [],
    run: (store) => store.delete(key),
    publishes: true,
  },
  {
    name: 'list',
    request: /list-type=2/,
    bodies: ['answer'],
    run: (store) => drain(store.list('alice')),
  },
  {
    name: 'usage',
    request: /list-type=2/,
    bodies: ['answer'],
    run: (store) => store.usage('alice'),
  },
  {
    name: 'customers',
    request: /list-type=2/,
    bodies: ['answer'],
    run: (store) => drain(store.customers()),
  },
]

const kinds: readonly FaultKind[] = ['cut', 'reset', 'stall']
const directions: readonly Direction[] = ['request', 'answer']

function faultsOf({ request, bodies }: Operation): Fault[] {
  return directions.flatMap((direction) => {
    const body: readonly Position[] = bodies.includes(direction) ? ['body'] : []
    const positions: readonly Position[] = ['first byte', 'head', ...body, 'last byte']
    return positions.flatMap((position) =>
      kinds.map((kind) => ({ kind, direction, position, request })),
    )
  })
}

describeWithMinio('openMinioBlobStore on a way that stays broken', (minio) => {
  for (const operation of operations) {
    describe(operation.name, function () {
      this.timeout(60_000)
      eachAtOnce(
        faultsOf(operation),
        ({ kind, direction, position }) =>
          `says store-unavailable and changes nothing: ${kind} at the ${direction}'s ${position}`,
        (fault) => expectHarmless(operation, fault),
      )
    })
  }

  async function expectHarmless(operation: Operation, fault: Fault): Promise<void> {
    await withFaultyStore(minio(), async (faulty) => {
      const { store, direct, proxy, bucket } = faulty
      await direct.put(key, contentOf(earlier))
      proxy.inject(fault)
      await expectUnavailable(attempt(operation, store), operation.name)
      // Else the test has shown nothing.
      expect(proxy.strikes(), 'requests that met the fault').to.be.at.least(1)
      proxy.heal()

      const isUnsure = operation.publishes === true && fault.direction === 'answer'
      if (operation.name === 'delete' && isUnsure) expect(await read(direct)).to.equal(undefined)
      else
        await expectOneOf(
          direct,
          earlier,
          ...(isUnsure && operation.bytes ? [operation.bytes] : []),
        )

      if (isBegun(fault)) await expectSwept(faulty)
      else expect(await minio().unfinishedUploads(bucket), 'litter').to.deep.equal([])
      await store.put(key, contentOf(small))
      await expectOneOf(store, small)
    })
  }
})

async function attempt({ bytes, run }: Operation, store: BlobStore): Promise<void> {
  if (bytes === undefined) {
    await run?.(store)
    return
  }
  const content = contentOf(bytes)
  try {
    await store.put(key, content)
  } finally {
    expect(content.isClosed(), 'content is closed').to.equal(true)
  }
}

/** Uploads that have begun on the server, but nobody has learned their ids. */
function isBegun({ request, direction }: Fault): boolean {
  return direction === 'answer' && request?.test('POST /bucket/key?uploads=') === true
}
