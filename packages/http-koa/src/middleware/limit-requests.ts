import { FileServiceError } from '@holdfast/core'
import type { Middleware } from 'koa'
import type { HoldfastState } from '../holdfast-state.ts'
import { onAnswerEnd } from '../http/on-answer-end.ts'
import type { RequestTally } from './request-tally.ts'

/** When a client that was refused for want of a place may come back, in milliseconds. */
const retryAfterMs = 1_000

/**
 * Lets at most `max` requests be under way at a time of those for which `keyOf` gives the same, counted in `underWay`;
 * others are refused with `overloaded` before their body is read.
 *
 * A request is under way until it has been dealt with and its answer has been taken to the end, or its connection is
 * gone; so whoever reads slowly keeps the place. One that is refused further in frees it at once: it is read on only
 * for the sake of the connection.
 */
export function createRequestLimit(
  max: number,
  keyOf: (state: HoldfastState) => string,
  underWay: RequestTally,
): Middleware<HoldfastState> {
  return async (ctx, next) => {
    const key = keyOf(ctx.state)
    if (underWay.count(key) >= max) {
      const whose = key === '' ? '' : ` of "${key}"`
      const message = `${max} requests${whose} are under way already`
      throw new FileServiceError('overloaded', message, { retryAfterMs })
    }
    underWay.change(key, 1)
    const free = () => underWay.change(key, -1)
    try {
      await next()
    } catch (error) {
      free()
      throw error
    }
    onAnswerEnd(ctx.req, ctx.res, free)
  }
}
