import type { IncomingMessage } from 'node:http'
import { problems } from '../errors/problem.ts'
import { inviteBody } from '../exchange/invite-body.ts'
import { takeBodyAtHand } from './body-at-hand.ts'
import { chunksOf } from './chunks-of.ts'
import { requireAnnouncedLength, requireIntactBody } from './intact-body.ts'
import type { UploadBytes } from './stage-upload.ts'

/** The bytes of the body: whole where they are there, or else those that a waiting client sends when they are read. */
export function bodyOf(request: IncomingMessage): UploadBytes {
  requireIntactBody(request)
  const whole = takeBodyAtHand(request)
  if (whole) {
    request.resume()
    return whole
  }
  return {
    [Symbol.asyncIterator]() {
      inviteBody(request)
      return chunksOf(request, problems.truncatedBody, (size) =>
        requireAnnouncedLength(request, size),
      )
    },
  }
}
