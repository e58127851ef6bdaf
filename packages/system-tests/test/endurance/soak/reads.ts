import { messageOf, type Answer, type Question } from './ask.ts'
import { contentOf, describeContent, sha256, type Version } from './content.ts'
import type { Attempt } from './ledger.ts'
import type { State } from './register.ts'
import { allowBreaking, fileOf, unexpected, type Turn } from './turn.ts'

/** Reads one file, whole or in part, with or without conditions, and judges what comes. */
export async function readFile(turn: Turn): Promise<void> {
  const { choices, names } = turn
  const name = choices.pick(names)
  const way = choices.weighted({ GET: 30, HEAD: 15, range: 25, condition: 20, 'if-range': 10 })
  const tag = chooseTag(turn, name)
  switch (way) {
    case 'GET':
    case 'HEAD':
      return read(turn, name, way)
    case 'range':
      return read(turn, name, 'GET', { range: chooseRange(turn) })
    case 'condition':
      return read(turn, name, choices.pick(['GET', 'HEAD']), {
        [choices.pick(['if-none-match', 'if-match'])]: tag,
      })
    case 'if-range':
      return read(turn, name, 'GET', { range: chooseRange(turn), 'if-range': tag })
  }
}

/** Reads the whole file, and resolves to its size; `undefined` when there is none. */
export async function readWhole(turn: Turn, name: string): Promise<number | undefined> {
  let size: number | undefined
  await read(turn, name, 'GET', {}, (answer) => {
    if (answer.status === 200) size = answer.body.length
  })
  return size
}

async function read(
  turn: Turn,
  name: string,
  method: 'GET' | 'HEAD',
  headers: Readonly<Record<string, string>> = {},
  tell: (answer: Answer) => void = () => {},
): Promise<void> {
  const question = { method, path: `/serve/${encodeURIComponent(name)}`, headers }
  const fields = Object.entries(headers).map(([field, value]) => `${field}: ${value}`)
  const what = [method, ...fields].join(', ')
  const attempt = turn.ledger.begin(fileOf(turn, name), (before) => before, turn.who, what)
  const answer = await turn.ask(question)
  const kind = [method === 'HEAD' ? 'HEAD' : 'serve', ...Object.keys(headers)].join(', ')
  if (!answer.isWhole) {
    attempt.forget()
    turn.tally.count(kind, 'broken')
    return allowBreaking(turn, what, answer)
  }
  judge(turn, name, question, attempt, answer)
  turn.tally.count(kind, `${answer.status}`)
  turn.tally.move(answer.body.length)
  tell(answer)
}

function judge(turn: Turn, name: string, question: Question, attempt: Attempt, answer: Answer) {
  const { status, body } = answer
  const headers = question.headers ?? {}
  const isPlain = question.method === 'GET'
  const told = status < 300 && isPlain ? describeContent(body) : messageOf(answer)
  const finish = (explains: (before: State) => boolean) =>
    attempt.finish(`${status} ${status === 206 ? `${body.length} bytes` : told}`, explains)

  if (status === 400 && (!isPlain || told === 'File not found')) {
    return finish((before) => before === undefined)
  }
  if (status === 304 || status === 412) {
    const tag = headers[status === 304 ? 'if-none-match' : 'if-match']
    const mayBeTag = (version: Version) => version.etag === undefined || version.etag === tag
    const mayBeOther = (version: Version) => version.etag !== tag
    const explains = status === 304 ? mayBeTag : mayBeOther
    if (tag !== undefined) return finish((before) => before !== undefined && explains(before))
  }
  if (status === 416 && headers['range'] !== undefined) {
    return finish((before) => before !== undefined && isBeyond(headers['range'], before.size))
  }
  if (status === 200 || status === 206) {
    const whole = { ...answer, sha256: sha256(body) }
    finish((before) => before !== undefined && isPartOf(before, question, whole))
    return learnEtag(turn, name, answer)
  }
  throw unexpected(turn, fileOf(turn, name), question.method, answer)
}

/** Whether the answer is what the question gets from a server that has this version. */
function isPartOf(
  version: Version,
  { method, headers = {} }: Question,
  { status, headers: got, body, sha256 }: Answer & { readonly sha256: string },
): boolean {
  const isSame = version.etag === undefined || version.etag === got.etag
  if (!isSame || got.etag === headers['if-none-match']) return false
  if ('if-match' in headers && got.etag !== headers['if-match']) return false
  if (method === 'HEAD') return got['content-length'] === `${version.size}`
  const isHonoured = !('if-range' in headers) || got.etag === headers['if-range']
  if (status === 200) {
    if (isHonoured && 'range' in headers && !isIgnored(headers['range'], version.size)) return false
    return version.size === body.length && version.sha256 === sha256
  }
  const range = isHonoured ? resolve(headers['range'], version.size) : undefined
  if (!range) return false
  const [first, end] = range
  return (
    got['content-range'] === `bytes ${first}-${end - 1}/${version.size}` &&
    contentOf(version).subarray(first, end).equals(body)
  )
}

/** Of a file whose upload was not answered, the tag is learnt here. Contents that are too short may not be the only ones. */
function learnEtag(turn: Turn, name: string, { headers: { etag }, body }: Answer): void {
  if (body.length < 32) return
  const digest = sha256(body)
  const versions = turn.ledger.possible(fileOf(turn, name))
  const version = versions.find((state) => state?.sha256 === digest)
  if (version) turn.ledger.learnTag(version, etag, turn.who)
}

/** The bytes that a range selects, from the first to behind the last. */
function resolve(range: string | number | undefined, size: number): [number, number] | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(`${range}`) ?? []
  const start = first === '' ? Math.max(size - Number(last), 0) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size)
  return start < end ? [start, end] : undefined
}

/** Whether the range is at an edge of an empty file, where the whole is the answer. */
function isIgnored(range: string | number | undefined, size: number): boolean {
  return size === 0 && /^bytes=(?:0-|-[1-9])/.test(`${range}`)
}

function isBeyond(range: string | number | undefined, size: number): boolean {
  return !resolve(range, size) && !isIgnored(range, size)
}

function chooseRange({ choices }: Turn): string {
  const first = choices.below(choices.pick([10, 1000, 100_000, 1_000_000]))
  const length = choices.between(1, choices.pick([10, 1000, 100_000]))
  const [last, suffix] = [first + length - 1, length]
  return `bytes=${choices.pick([`${first}-${last}`, `${first}-`, `-${suffix}`])}`
}

/** The tag of a file that may be there, of the same name under another customer, or of none. */
function chooseTag({ choices, ledger, customer }: Turn, name: string): string {
  const tags = ledger.possible({ customer: customer.name, name }).map((state) => state?.etag)
  const known = tags.find((tag) => tag !== undefined)
  return choices.chance(70) && known !== undefined ? known : '"another"'
}
