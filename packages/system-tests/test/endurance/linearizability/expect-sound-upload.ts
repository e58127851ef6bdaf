import { AssertionError } from 'chai'
import { bytesOf, type PieceEvent, type UploadHistory } from './upload-history.ts'

/**
 * Passes when the upload's offset never went back, when each acknowledged byte is that of one append, and when nothing of an
 * upload that was discarded was found later.
 */
export function expectSoundUpload(upload: UploadHistory): void {
  const found = [problemOfOffsets, problemOfAppends, problemOfEnd, problemOfContent]
  const problems = found.flatMap((problemOf) => problemOf(upload) ?? [])
  if (problems.length === 0) return
  const lines = [...upload.events].sort((a, b) => a.begin - b.begin).map(lineOf)
  throw new AssertionError(
    [`The upload ${upload.label} ${problems.join(', ')}:`, ...lines].join('\n  '),
  )
}

const isAppended = ({ kind, outcome }: PieceEvent) => kind === 'append' && outcome === 'done'

function problemOfOffsets({ events }: UploadHistory): string | undefined {
  for (const { end, offset = 0 } of events) {
    const later = events.filter(({ begin, outcome }) => begin > end && outcome === 'done')
    const wrong = later.find((event) => lowest(event) < offset)
    if (wrong) return `was at ${offset} and then at ${lowest(wrong)} bytes`
  }
  const early = events.find(({ end, offset = 0 }) => {
    const sent = events.filter(({ begin }) => begin < end).map(({ range }) => range?.to ?? 0)
    return offset > Math.max(0, ...sent)
  })
  return early && `was at ${early.offset} bytes before that many were sent`
}

/** Where the upload stood at the least, when the event happened. */
function lowest({ kind, range, offset = Infinity }: PieceEvent): number {
  return kind === 'append' ? (range?.from ?? 0) : offset
}

function problemOfAppends({ events }: UploadHistory): string | undefined {
  const appended = events.filter(isAppended)
  const wrong = appended.find(({ range, offset }) => range?.to !== offset)
  if (wrong) return `stood at ${wrong.offset} bytes after ${wrong.range?.to} were acknowledged`
  const ranges = appended.flatMap(({ range }) => range ?? [])
  const twice = ranges.find((one) =>
    ranges.some((other) => other !== one && other.from < one.to && one.from < other.to),
  )
  return twice && `acknowledged two appends from ${twice.from} on`
}

/** An upload goes with the file that it has become, which others replace and delete. */
function problemOfEnd({ events, length }: UploadHistory): string | undefined {
  const discards = events.filter(({ kind }) => kind === 'discard')
  const mayEnd = events.filter(({ kind, range }) => kind === 'discard' || range?.to === length)
  const lost = events.find(
    (event) =>
      event.outcome === 'gone' && !mayEnd.some((one) => one !== event && one.begin < event.end),
  )
  if (lost) return 'is gone, and was neither discarded nor published'
  const isBack = events.some(
    ({ outcome, begin }) =>
      ['done', 'taken'].includes(outcome) &&
      discards.some((one) => one.outcome === 'done' && one.end < begin),
  )
  return isBack ? 'was found after it was discarded' : undefined
}

function problemOfContent(upload: UploadHistory): string | undefined {
  const [first, ...others] = upload.downloads
  if (first === undefined) return undefined
  if (others.some((other) => !other.equals(first))) return 'became files that differ'
  if (first.length !== upload.length) return `became a file of ${first.length} bytes`
  if (isOfAppends(first, upload)) return undefined
  return 'became a file whose bytes are not those of appends, one after the other'
}

/** Whether `content` is what appends sent, from where each began: all of it if it was acknowledged, or else the first bytes. */
function isOfAppends(content: Buffer, upload: UploadHistory): boolean {
  const begins = new Set(upload.events.flatMap(({ range }) => range?.from ?? []))
  const ends = [...begins, content.length].sort((a, b) => a - b)
  const reached = new Set([0])
  for (const place of ends) {
    if (!reached.has(place)) continue
    for (const event of upload.events) {
      const most = place + runFrom(place, content, event, upload)
      const isWhole = event.outcome === 'done'
      for (const end of ends) {
        if (end > place && (isWhole ? end === most : end <= most)) reached.add(end)
      }
    }
  }
  return reached.has(content.length)
}

/** So many bytes of `content` from `place` on are those of an append that began there. */
function runFrom(
  place: number,
  content: Buffer,
  { range, writer, outcome }: PieceEvent,
  { label }: UploadHistory,
): number {
  if (range?.from !== place) return 0
  const sent = bytesOf(label, writer, range)
  const found = content.subarray(place, range.to)
  const differs = found.findIndex((byte, index) => byte !== sent[index])
  if (differs < 0) return found.length
  return outcome === 'done' ? 0 : differs
}

function lineOf({ kind, writer, range, begin, end, outcome, offset }: PieceEvent): string {
  const moments = `${begin} to ${end === Infinity ? 'the end' : end}`
  const bytes = range ? ` of ${range.from} to ${range.to}` : ''
  return `${moments.padEnd(14)} ${kind}${bytes} by ${writer}: ${outcome}, at ${offset ?? '?'}`
}
