// Each of some 150 faults has a store of its own.
import { describeWithMinio } from '@holdfast/testing/minio'
import type { BlobStore } from '@holdfast/core'
import { expect } from 'chai'
import { bytesOf, contentOf, drain, expectOneOf, key, MiB, read } from './blobs.ts'
import { eachAtOnce } from './each-at-once.ts'
import type { Direction, Fault, FaultKind, Position } from './fault-proxy.ts'
import { expectSwept, expectUnavailable, inTime, withFaultyStore } from './faulty-store.ts'

interface Operation {
  readonly name: string
  /** The request that meets the fault. */
  readonly request: RegExp
  /** Which of its request and answer have a body. */
  readonly bodies: readonly Direction[]
  /** Calls of the store that need this request. */
  readonly calls: readonly ((store: BlobStore) => Promise<unknown>)[]
  /** What has become of the blob when the answer is lost: the server has done it, and a look finds it out. */
  readonly after?: Buffer | 'deleted'
}

const small = bytesOf(100_000, 2)
const large = bytesOf(9 * MiB, 3)
// Reading goes on as long as bytes come: of so few there are none left soon.
const earlier = bytesOf(2, 4)

const putting = (bytes: Buffer) => [(store: BlobStore) => putClosing(store, bytes)]

const operations: readonly Operation[] = [
  {
    name: 'put in one request',
    request: /x-id=PutObject/,
    bodies: ['request'],
    calls: putting(small),
    after: small,
  },
  {
    name: 'put in parts, when the upload begins',
    request: /^POST .*\?uploads/,
    bodies: ['answer'],
    calls: putting(large),
  },
  {
    name: 'put in parts, when a part is sent',
    request: /x-id=UploadPart.*partNumber=2/,
    bodies: ['request'],
    calls: putting(large),
  },
  {
    name: 'put in parts, when the upload is completed',
    request: /^POST .*\?uploadId=/,
    bodies: ['request', 'answer'],
    calls: putting(large),
    after: large,
  },
  {
    name: 'open and read',
    request: /^GET [^?]*(?: HTTP|\?x-id=GetObject)/,
    bodies: ['answer'],
    calls: [read],
  },
  { name: 'stat', request: /^HEAD /, bodies: [], calls: [(store) => store.stat(key)] },
  {
    name: 'delete',
    request: /^DELETE /,
    bodies: [],
    calls: [(store) => store.delete(key)],
    after: 'deleted',
  },
  {
    name: 'list, usage and customers',
    request: /list-type=2/,
    bodies: ['answer'],
    calls: [
      (store) => drain(store.list('alice')),
      (store) => store.usage('alice'),
      (store) => drain(store.customers()),
    ],
  },
]

async function putClosing(store: BlobStore, bytes: Buffer): Promise<void> {
  const content = contentOf(bytes)
  try {
    await store.put(key, content)
  } finally {
    expect(content.isClosed(), 'content is closed').to.equal(true)
  }
}

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

describeWithMinio('openMinioBlobStore on a way that stays broken', function (minio) {
  eachAtOnce(
    operations.flatMap((operation) => faultsOf(operation).map((fault) => ({ operation, fault }))),
    ({ operation, fault }) =>
      `${isFoundOut(operation, fault) ? 'finds out that it is done' : 'says store-unavailable and changes nothing'}: ${fault.kind} at the ${fault.direction}'s ${fault.position}`,
    ({ operation, fault }) => expectHarmless(operation, fault),
    ({ operation }) => operation.name,
  )

  async function expectHarmless(operation: Operation, fault: Fault): Promise<void> {
    const { calls, name, after } = operation
    const isDone = isFoundOut(operation, fault)
    // Short only where it is waited for: on a busy machine a server may well be silent for so long.
    const idleTimeoutMs = fault.kind === 'stall' ? 2000 : 20_000
    await withFaultyStore(minio(), { idleTimeoutMs }, async (faulty) => {
      const { store, direct, proxy, bucket } = faulty
      await direct.put(key, contentOf(earlier))
      proxy.inject(fault)
      const expectOutcome = isDone ? inTime : expectUnavailable
      // Some wait for a silent server many times.
      await Promise.all(calls.map((call) => expectOutcome(call(store), name, 90_000)))
      // Else the test has shown nothing.
      expect(proxy.strikes(), 'requests that met the fault').to.be.at.least(1)
      proxy.heal()

      const found = isDone ? after : earlier
      if (found === 'deleted') expect(await read(direct)).to.equal(undefined)
      else await expectOneOf(direct, found ?? earlier)
      if (leavesUpload(fault)) await expectSwept(faulty)
      else expect(await minio().unfinishedUploads(bucket), 'litter').to.deep.equal([])
      await store.put(key, contentOf(small))
      await expectOneOf(direct, small)
    })
  }
})

/** Whether the server has done what it was asked for, and only its answers to that are lost. */
function isFoundOut({ after }: Operation, { direction }: Fault): boolean {
  return after !== undefined && direction === 'answer'
}

/** Whether an upload may have begun on the server without anybody having learned its id. */
function leavesUpload({ kind, request, direction }: Fault): boolean {
  const isBeginning = request?.test('POST /bucket/key?uploads=') === true
  return kind === 'stall' || (direction === 'answer' && isBeginning)
}
