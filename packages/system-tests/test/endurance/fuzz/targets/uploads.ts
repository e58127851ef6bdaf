import { expect } from 'chai'
import type { CustomerFiles, ResumableUpload } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import fc from 'fast-check'
import type { WireAnswer } from '../answers.ts'
import { draftModel } from '../draft-model.ts'
import { expectSound } from '../expect-sound.ts'
import type { FuzzStore } from '../fuzz-store.ts'
import { startFuzzService, type FuzzService } from '../fuzz-service.ts'
import { createTarget, type FuzzTarget, type Subject } from '../fuzz-target.ts'
import { filesNow, setFiles } from '../kept-files.ts'
import { mutate, mutations, type Mutation } from '../mutations.ts'
import { demoRequest, type HeaderLine } from '../requests.ts'
import { tusModel } from '../tus-model.ts'
import { sha256Of, type ModelAnswer, type ModelFiles, type ModelUpload } from '../upload-model.ts'
import { draftRequests, tusRequests, type UploadRequest } from '../upload-requests.ts'
import { keepConnection, type KeptConnection } from '../wire.ts'

const empty = Buffer.alloc(0)
const bytes = fc.uint8Array({ maxLength: 6 }).map((found) => Buffer.from(found))
const maybe = <T>(values: fc.Arbitrary<T>, percent: number) =>
  fc.oneof(
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary: values },
  )
const digest = maybe(fc.constantFrom('right' as const, 'right' as const, 'wrong' as const), 30)

const begin = fc.record({
  name: fc.constantFrom('a', 'a', 'a', 'b', '\u00e9', '..', 'a\n'),
  isCreateOnly: fc.boolean(),
  length: maybe(fc.nat(10), 70),
  bytes,
  digest,
  sha256: maybe(
    bytes.map((whole) => sha256Of(whole)),
    20,
  ),
  isLast: fc.boolean(),
})
const append = fc.record({
  /** From where the upload stands. */
  shift: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, fc.integer({ min: -3, max: 3 })),
  bytes,
  digest,
  length: maybe(fc.nat(10), 30),
  isLast: fc.boolean(),
})

/** Changes to one line of a request, after which the model does not know the answer. */
const mangling = (percent: number) => maybe(fc.tuple(fc.nat(), mutations(3)), percent)

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ what: fc.constant('append' as const), append, mangling: mangling(25) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constantFrom('HEAD' as const, 'HEAD' as const, 'DELETE' as const),
      mangling: mangling(25),
    }),
  },
  fc.record({ what: fc.constantFrom('store' as const, 'remove' as const) }),
)
const inputs = fc.record({
  begin,
  mangling: mangling(15),
  steps: fc.array(step, { maxLength: 6 }),
})
type Input = typeof inputs extends fc.Arbitrary<infer Value> ? Value : never

interface Run extends Input {
  readonly isDraft: boolean
}

export interface UploadsOptions {
  /** Whether it is the draft and not tus. Default: it is tus. */
  readonly isDraft?: boolean
  readonly name?: string
  readonly share?: number
  readonly openStore?: () => Promise<FuzzStore>
}

/** Uploads in pieces by tus or by the draft, right and mangled, against a model of the protocol. */
export function uploads({
  isDraft = false,
  name = isDraft ? 'draft' : 'tus',
  share = 4,
  openStore = async () => ({ store: createMemoryBlobStore() }),
}: UploadsOptions = {}): FuzzTarget {
  return createTarget({
    name,
    share,
    inputs,
    async open(): Promise<Subject<Input>> {
      const { store, expectTidy, close } = await openStore()
      const service = await startFuzzService(store, { resumableDraft: isDraft })
      const connection = keepConnection(service.port)
      return {
        async check(input) {
          await setFiles(service.demo, new Map())
          await runSteps(service, connection, { ...input, isDraft })
          await discardAll(service.demo)
          await expectTidy?.()
        },
        async close() {
          connection.close()
          await service.close()
          await close?.()
        },
      }
    },
  })
}

async function runSteps(service: FuzzService, connection: KeptConnection, input: Run) {
  const { demo } = service
  const files: ModelFiles = new Map()
  const model = input.isDraft ? draftModel(files) : tusModel(files)
  const requests = input.isDraft ? draftRequests : tusRequests
  let target = input.isDraft ? '/uploads/none' : '/resumable/none'

  const ask = async ({ method, target, lines, body }: UploadRequest) => {
    const request = demoRequest(method, target, lines, body)
    const answer = await connection.ask(request, method === 'HEAD')
    expectSound(answer, method === 'HEAD')
    service.throwFault()
    return answer
  }
  const send = async (request: UploadRequest, mangling: Mangling, expected: () => ModelAnswer) => {
    const mangled = mangling && mangle(request, mangling)
    if (mangled === undefined) {
      const answer = await ask(request)
      expectAnswer(answer, expected())
      return answer
    }
    const before = model.upload()
    const answer = await ask(mangled)
    target = targetAfter(answer, target, input.isDraft)
    const found = await uploadNow(demo, target)
    const isBegun = answer.headers.has('location')
    const bytes = Buffer.concat([before?.bytes ?? empty, request.body])
    if (!isBegun) expectNoOther(before, found, bytes.length)
    model.replace(found && { ...found, bytes: bytes.subarray(0, found.bytes.length) })
    await takeFiles(demo, files, bytes)
    return answer
  }

  const begun = await send(requests.begin(input.begin), input.mangling, () =>
    model.begin(input.begin),
  )
  target = targetAfter(begun, target, input.isDraft)
  // Only the interim response 104 has named it.
  if (!begun.headers.has('location')) model.replace(undefined)
  for (const one of input.steps) {
    if (!('mangling' in one)) {
      if (one.what === 'store') files.set('a', Buffer.from('other'))
      else files.delete('a')
      const published = model.upload()?.isPublished === true && model.upload()?.name
      const before = await etagOf(demo, published)
      await setFiles(demo, files)
      // It goes with the file that it has become.
      if (before !== (await etagOf(demo, published))) model.replace(undefined)
    } else if (one.what === 'append') {
      const { shift, ...rest } = one.append
      const offset = Math.max(0, (model.upload()?.bytes.length ?? 0) + shift)
      const patch = { ...rest, offset }
      await send(requests.append(target, patch), one.mangling, () => model.append(patch))
    } else {
      const answerOf = () => (one.what === 'HEAD' ? model.head() : model.end())
      await send(requests.of(one.what, target), one.mangling, answerOf)
    }
    expect(await filesNow(demo), `files after ${one.what}`).to.deep.equal(files)
  }
}

/** Of the file, if there is a name, and one. */
async function etagOf(demo: CustomerFiles, name: string | false | undefined) {
  if (name === false || name === undefined) return undefined
  return demo.stat(name).then(
    ({ etag }) => etag,
    () => undefined,
  )
}

type Mangling = readonly [place: number, changes: readonly Mutation[]] | undefined

/** With one line changed; `undefined` if the change changes nothing, or the line would be no line any more. */
function mangle(request: UploadRequest, [place, changes]: NonNullable<Mangling>) {
  const { lines } = request
  const at = place % lines.length
  const [name, value] = lines[at] ?? ['', '']
  const changed = mutate(Buffer.from(value), [...changes])
    .toString('latin1')
    .trim()
  if (changed === value || !/^[ -~\x80-\xff]*$/.test(changed)) return undefined
  const line: HeaderLine = [name, changed]
  return { ...request, lines: lines.with(at, line) }
}

function expectAnswer({ status, headers }: WireAnswer, expected: ModelAnswer): void {
  const offset = headers.get('upload-offset')
  const { offset: wanted } = expected
  expect({ status, ...(wanted !== undefined && { offset }) }).to.deep.equal({
    status: expected.status,
    ...(wanted !== undefined && { offset: String(wanted) }),
  })
}

/** Where the upload is: where the answer says that it has begun, or where it was. */
function targetAfter({ headers }: WireAnswer, target: string, isDraft: boolean): string {
  const location = headers.get('location')
  if (location === undefined) return target
  return new URL(location, `http://a${isDraft ? '/upload/a' : '/resumable'}`).pathname
}

/** What there is of the upload; of its bytes, only how many there are. */
async function uploadNow(
  { resumable }: CustomerFiles,
  target: string,
): Promise<ModelUpload | undefined> {
  const id = target.slice(target.lastIndexOf('/') + 1)
  const found = await resumable?.state(id).catch(() => undefined)
  return found && modelOf(found)
}

/** Whatever a request was: no upload comes out of nothing, and none has fewer bytes, or more than were sent. */
function expectNoOther(
  before: ModelUpload | undefined,
  found: ModelUpload | undefined,
  most: number,
): void {
  if (found === undefined) return
  if (before === undefined) throw new Error('An upload that had not begun')
  expect(found.bytes.length).to.be.within(before.bytes.length, most)
  if (before.isPublished) expect(found.isPublished, 'still published').to.equal(true)
}

/** Takes over the files that a mangled request has left; those that it changed can have no content but that of the upload. */
async function takeFiles(demo: CustomerFiles, files: ModelFiles, bytes: Buffer): Promise<void> {
  const found = await filesNow(demo)
  expect(
    [...files.keys()].filter((name) => !found.has(name)),
    'files that are gone',
  ).to.deep.equal([])
  for (const [name, content] of found) {
    if (files.get(name)?.equals(content) !== true) expect(content).to.deep.equal(bytes)
    files.set(name, content)
  }
}

async function discardAll({ resumable }: CustomerFiles): Promise<void> {
  if (resumable === undefined) return
  const ids: string[] = []
  for await (const page of resumable.list()) ids.push(...page.map(({ id }) => id))
  for (const id of ids) await resumable.discard(id)
}

function modelOf({ plan, published, offset }: ResumableUpload): ModelUpload {
  return {
    ...{ name: plan.name, isCreateOnly: plan.createOnly === true, length: plan.length },
    ...(plan.sha256 !== undefined && { sha256: plan.sha256 }),
    ...{ bytes: Buffer.alloc(offset), isPublished: published !== undefined },
  }
}
