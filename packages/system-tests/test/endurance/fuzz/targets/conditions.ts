import { expect } from 'chai'
import fc from 'fast-check'
import { expectSound } from '../expect-sound.ts'
import { createTarget, type FuzzTarget } from '../fuzz-target.ts'
import { startFuzzService } from '../fuzz-service.ts'
import { setFiles } from '../kept-files.ts'
import { mutatedText } from '../mutations.ts'
import { demoRequest, type HeaderLine } from '../requests.ts'
import { keepConnection } from '../wire.ts'

/** A condition, and whether it holds; `undefined` where that depends on how what is no header is read. */
interface Condition {
  /** With `<etag>` for the file's own tag, and such as `<0 -3600>` for a date an hour before its own, in form 0. */
  readonly text: string
  readonly holds: boolean | undefined
}

interface FileState {
  readonly etag: string
  /** Whole seconds since the epoch. */
  readonly seconds: number
}

const otherTag = fc
  .string({ unit: fc.constantFrom(...Array.from('abz019!#,; \\/*-W')), maxLength: 8 })
  // Not the file's own by chance.
  .map((text) => `"z${text.replaceAll(' ', '')}"`)
const separator = fc.constantFrom(', ', ',', ' , ', ',\t', ',,', ', ,')

interface TagList {
  readonly items: readonly ('own' | 'weak' | { readonly other: string; readonly isWeak: boolean })[]
  readonly separator: string
}

const tagList: fc.Arbitrary<TagList> = fc.record({
  items: fc.array(
    fc.oneof(
      fc.constant('own' as const),
      fc.constant('weak' as const),
      fc.record({ other: otherTag, isWeak: fc.boolean() }),
    ),
    { minLength: 1, maxLength: 4 },
  ),
  separator,
})

/** RFC 9110 §8.8.3.2: strong comparison for If-Match, weak for If-None-Match. */
function tagCondition({ items, separator }: TagList, isStrong: boolean): Condition {
  const holds = items.some((item) => item === 'own' || (item === 'weak' && !isStrong))
  const text = items.map((item) => {
    if (item === 'own') return '<etag>'
    if (item === 'weak') return 'W/<etag>'
    return `${item.isWeak ? 'W/' : ''}${item.other}`
  })
  return { text: text.join(separator), holds }
}

const star: Condition = { text: '*', holds: true }
const noise = mutatedText(
  fc.constantFrom('"tag"', 'W/"tag", "a"', '*', 'Sat, 21 Nov 2026 02:45:56 GMT'),
  3,
)
  .map((text) => text.replaceAll(/[^ -~]/g, '?').trim())
  .map((text): Condition => ({ text, holds: undefined }))

const tags = (isStrong: boolean) =>
  fc.oneof(
    { weight: 4, arbitrary: tagList.map((list) => tagCondition(list, isStrong)) },
    fc.constant(star),
    noise,
  )

const forms = [imfDate, rfc850Date, asctimeDate] as const

/** Seconds from the file's own time, and in which of HTTP's three forms. */
const date = fc.record({
  offset: fc.oneof(fc.constantFrom(0, 1, -1), fc.integer({ min: -1e9, max: 1e8 })),
  form: fc.nat(forms.length - 1),
})
const dates = (isNewer: boolean) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: date.map(({ offset, form }): Condition => ({
        text: `<${form} ${offset}>`,
        holds: isNewer ? offset < 0 : offset >= 0,
      })),
    },
    noise,
  )

const maybe = (condition: fc.Arbitrary<Condition>) => fc.option(condition, { nil: undefined })
const inputs = fc.record({
  ifMatch: maybe(tags(true)),
  ifNoneMatch: maybe(tags(false)),
  ifModifiedSince: maybe(dates(true)),
  ifUnmodifiedSince: maybe(dates(false)),
})
type Input = typeof inputs extends fc.Arbitrary<infer Value> ? Value : never

/** RFC 9110 §13.2.2 for a GET: the status, or `undefined` where it hangs on something that is no header. */
function statusOf(input: Input): number | undefined {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = input
  const needed = ifMatch ?? ifUnmodifiedSince
  if (needed && needed.holds === undefined) return undefined
  if (needed?.holds === false) return 412
  if (ifNoneMatch)
    return ifNoneMatch.holds === undefined ? undefined : ifNoneMatch.holds ? 304 : 200
  if (ifModifiedSince && ifModifiedSince.holds === undefined) return undefined
  return ifModifiedSince?.holds === false ? 304 : 200
}

/** Entity tags and dates in all their forms, against the order of RFC 9110 §13.2.2. */
export function conditions(): FuzzTarget {
  return createTarget({
    name: 'conditions',
    share: 6,
    inputs,
    async open() {
      const service = await startFuzzService()
      const connection = keepConnection(service.port)
      await setFiles(service.demo, new Map([['a', Buffer.from('content')]]))
      const { headers } = await connection.ask(demoRequest('GET', '/serve/a'))
      const modified = Date.parse(headers.get('last-modified') ?? '')
      const state = { etag: headers.get('etag') ?? '', seconds: modified / 1000 }
      return {
        async check(input) {
          const answer = await connection.ask(demoRequest('GET', '/serve/a', linesOf(input, state)))
          expectSound(answer)
          service.throwFault()
          expect(answer.status).to.be.oneOf([200, 304, 412])
          expect(answer.status).to.equal(statusOf(input) ?? answer.status)
          if (answer.status === 200) expect(answer.body.toString()).to.equal('content')
        },
        async close() {
          connection.close()
          await service.close()
        },
      }
    },
  })
}

function linesOf(input: Input, state: FileState): HeaderLine[] {
  const all = [
    ['If-Match', input.ifMatch],
    ['If-None-Match', input.ifNoneMatch],
    ['If-Modified-Since', input.ifModifiedSince],
    ['If-Unmodified-Since', input.ifUnmodifiedSince],
  ] as const
  return all.flatMap(([name, condition]) =>
    condition ? [[name, render(condition, state)] as const] : [],
  )
}

function render({ text }: Condition, { etag, seconds }: FileState): string {
  const dated = text.replace(/<(\d) (-?\d+)>/, (_, form: string, offset: string) =>
    (forms[Number(form)] ?? imfDate)(new Date((seconds + Number(offset)) * 1000)),
  )
  return dated.replaceAll('<etag>', etag)
}

function imfDate(date: Date): string {
  return date.toUTCString()
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** Has two digits for the year: good for the fifty years before and after. */
function rfc850Date(date: Date): string {
  const [, day = '', month = '', year = '', time = ''] = date.toUTCString().split(' ')
  return `${weekdays[date.getUTCDay()]}, ${day}-${month}-${year.slice(2)} ${time} GMT`
}

function asctimeDate(date: Date): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = date.toUTCString().split(' ')
  return `${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`
}
