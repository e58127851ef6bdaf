import { expect } from 'chai'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { WireAnswer } from '../answers.ts'
import { expectSound, messageOf } from '../expect-sound.ts'
import { formInputs, type FormInput } from '../form-input.ts'
import {
  fileOfUpload,
  filesOfBatch,
  isPartContent,
  readForm,
  type ModelForm,
} from '../form-model.ts'
import type { FuzzStore } from '../fuzz-store.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { startFuzzService } from '../fuzz-service.ts'
import { filesNow, setFiles } from '../kept-files.ts'
import { chunked, demoRequest, type HeaderLine } from '../requests.ts'
import { keepConnection } from '../wire.ts'

export interface MultipartOptions {
  readonly name?: string
  readonly share?: number
  readonly openStore?: () => Promise<FuzzStore>
}

type Files = ReadonlyMap<string, Buffer>

const keptFiles: Files = new Map([['kept', Buffer.from('kept since before')]])

/**
 * Forms for `POST /upload` and `/upload/batch`, sent whole and again in pieces. What every reader must take for a form
 * is stored as it is, what has no end is refused, and what is in between is refused or stored as one of its parts; in
 * pieces all the same.
 */
export function multipart({
  name = 'multipart',
  share = 22,
  openStore = async () => ({ store: createMemoryBlobStore() }),
}: MultipartOptions = {}): FuzzTarget {
  return createTarget({
    name,
    share,
    inputs: formInputs,
    async open() {
      const { store, expectTidy, close } = await openStore()
      const service = await startFuzzService(store)
      const connection = keepConnection(service.port)

      const send = async (input: FormInput, request: Buffer) => {
        await setFiles(service.demo, keptFiles)
        const answer = await connection.ask(request)
        expectSound(answer)
        service.throwFault()
        const files = await filesNow(service.demo)
        expectTrue(input, answer, files)
        const lines = input.isBatch && answer.status === 200 ? linesOf(answer) : []
        return { status: answer.status, files, lines }
      }
      return {
        async check(input) {
          const [whole, pieces] = requestsOf(input)
          const one = await send(input, whole)
          const other = await send(input, pieces)
          expect(other, 'the same in pieces').to.deep.equal(one)
          const sibling = { ...input, isBatch: !input.isBatch }
          const way = await send(sibling, requestsOf(sibling)[0])
          const [upload, batch] = input.isBatch ? [way, one] : [one, way]
          expectSameMeaning(upload, batch)
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

function requestsOf({ isBatch, contentType, body, cuts }: FormInput): [Buffer, Buffer] {
  const path = isBatch ? '/upload/batch' : '/upload'
  const type: HeaderLine = ['Content-Type', contentType]
  const inChunks: HeaderLine = ['Transfer-Encoding', 'chunked']
  const head = demoRequest('POST', path, [type, inChunks])
  return [demoRequest('POST', path, [type], body), Buffer.concat([head, chunked(body, cuts)])]
}

function expectTrue(input: FormInput, answer: WireAnswer, files: Files): void {
  const form = readForm(input.body, input.boundary)
  expect(answer.status).to.be.oneOf([200, 400, 413])
  if (input.isBatch) expectTrueBatch(input, form, answer, files)
  else expectTrueUpload(input, form, answer, files)
}

function expectTrueUpload(
  { body, boundary }: FormInput,
  form: ModelForm,
  answer: WireAnswer,
  files: Files,
): void {
  const isStored = answer.status === 200
  if (isStored) expect(messageOf(answer)).to.equal('OK')
  if (form.kind === 'unclosed') expect(isStored, 'stored without its end').to.equal(false)
  if (form.kind === 'clear') {
    const file = fileOfUpload(form.parts)
    expect(isStored, `stored; ${messageOf(answer)}`).to.equal(file !== undefined)
    const stored = file ? [[file.filename ?? '', file.content] as const] : []
    return expectFiles(files, new Map([...keptFiles, ...stored]))
  }
  if (!isStored) return expectFiles(files, keptFiles)
  const changed = changes(files)
  expect(changed.length, 'files stored by one upload').to.be.at.most(1)
  for (const [, content] of changed) expectPart(content, body, boundary)
}

function expectTrueBatch(
  { body, boundary, lines: lengths }: FormInput,
  form: ModelForm,
  answer: WireAnswer,
  files: Files,
): void {
  const lines = answer.status === 200 ? linesOf(answer) : []
  const stored = lines.filter(({ statusCode }) => statusCode === 200)
  if (form.kind === 'unclosed') {
    const isTold = answer.status >= 400 || (lines.at(-1)?.statusCode ?? 0) >= 400
    expect(isTold, 'told that the form has no end').to.equal(true)
  }
  if (lengths) {
    const ofParts = lines.filter(({ message }) => !message.startsWith('Invalid sha256: no file'))
    expect(ofParts.length, 'lines').to.be.within(...lengths)
  }
  if (form.kind === 'clear') {
    const model = filesOfBatch(form.parts)
    const wanted = model.files.filter(({ isStored }) => isStored).map(({ file }) => file)
    expect(stored.map(({ filename }) => filename)).to.deep.equal(
      wanted.map((file) => file.filename),
    )
    expect(lines.length).to.equal(
      model.files.length + (model.isWhole || lines.length === 0 ? 0 : 1),
    )
    const contents = wanted.map((file) => [file.filename ?? '', file.content] as const)
    return expectFiles(files, new Map([...keptFiles, ...contents]))
  }
  for (const [, content] of changes(files)) expectPart(content, body, boundary)
  expect(changes(files).length).to.be.at.most(stored.length)
}

/** What became of a form. */
interface Outcome {
  readonly status: number
  readonly files: Files
  /** Of a batch. */
  readonly lines: readonly BatchLine[]
}

/** The two routes find the same files in a form: one stores what the other does, unless there are more of them. */
function expectSameMeaning(upload: Outcome, { status, files, lines }: Outcome): void {
  if (status !== 200) return void expect(upload.status, 'as the batch').to.equal(status)
  const [only, ...more] = lines
  if (only && more.length === 0) {
    expect(upload.status, 'as the line').to.equal(only.statusCode)
    return expectFiles(upload.files, files)
  }
  // A digest behind the file counts there.
  const rest = more.filter(({ message }) => !message.startsWith('Invalid sha256: no file'))
  if (rest.length > 0) expect(upload.status, 'of several files').to.not.equal(200)
}

interface BatchLine {
  readonly statusCode: number
  readonly message: string
  readonly filename?: string
}

function linesOf({ body }: WireAnswer): BatchLine[] {
  const lines = body.toString().split('\n')
  expect(lines.pop(), 'behind the last line').to.equal('')
  return lines.map((line) => {
    // Each storing of the same content has another one.
    const { etag: _tag, ...rest } = JSON.parse(line) as BatchLine & { readonly etag?: string }
    return rest
  })
}

/** The files that are not as they were before. */
function changes(files: Files): [string, Buffer][] {
  return [...files].filter(([name, content]) => !keptFiles.get(name)?.equals(content))
}

function expectFiles(files: Files, wanted: Files): void {
  expect([...files.keys()].sort()).to.deep.equal([...wanted.keys()].sort())
  for (const [name, content] of wanted) {
    expect(files.get(name)?.equals(content), `${name} is as it must be`).to.equal(true)
  }
}

function expectPart(content: Buffer, body: Buffer, boundary: string): void {
  expect(isPartContent(content, body, boundary), 'what is stored is a whole part').to.equal(true)
}
