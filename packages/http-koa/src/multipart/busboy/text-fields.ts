import type { Readable } from 'node:stream'
import { problems } from '../../errors/problem.ts'
import { formLimits } from '../syntax/form-limits.ts'

/** The text fields of a form. They are counted and not kept, except for digests. */
export interface TextFields {
  /** Reads the field `name`, whose value is `stream`. */
  readonly read: (name: string, stream: Readable) => void
  /**
   * The fields `sha256` since the last call, as `expectedSha256` takes them. No more of them is kept than it takes to
   * see that they are wrong.
   */
  readonly takeDigests: () => readonly string[]
}

/** Characters of a digest; a value that is longer is wrong, whatever follows. */
const digestLength = 64

/** @param fail called with what is beyond the limits */
export function createTextFields(fail: (error: Error) => void): TextFields {
  let count = 0
  let digests: string[] = []
  return {
    read(name, stream) {
      if (++count > formLimits.fields) fail(problems.tooManyFields(formLimits.fields))
      let size = 0
      let digest = ''
      const isDigest = name === 'sha256' || name.startsWith('sha256[')
      consume(stream, (chunk) => {
        size += chunk?.length ?? 0
        if (size > formLimits.fieldSize) fail(problems.fieldTooLarge(formLimits.fieldSize))
        if (!isDigest) return
        if (chunk) digest += chunk.toString('latin1', 0, digestLength + 1 - digest.length)
        // Multer's way to write a list or an object is refused as such, and a third digest says no more than a second.
        else if (digests.length < 2) digests.push(name === 'sha256' ? digest : '')
      })
    },
    takeDigests() {
      const taken = digests
      digests = []
      return taken
    },
  }
}

/**
 * Hands the chunks of `stream` to `take` as they are pushed, and `null` at the end. To read it would be too late: the
 * parser goes on to the next part meanwhile.
 */
function consume(stream: Readable, take: (chunk: Buffer | null) => void): void {
  const push = stream.push.bind(stream)
  stream.push = (chunk: Buffer | null) => {
    take(chunk)
    return chunk === null ? push(null) : true
  }
  stream.resume()
}
