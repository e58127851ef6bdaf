import { FileServiceError } from '@holdfast/core'
import type { Middleware } from 'koa'
import type { HoldfastState } from '../holdfast-state.ts'
import { onAnswerEnd } from '../http/on-answer-end.ts'

/** When a client that was refused for want of a place may come back, in milliseconds. */
const retryAfterMs = 1_000

/**
 * Lets at most `max` requests be under way at a time of those for which `keyOf` gives the same; others are refused with
 * `overloaded` before anything of them is read. Default of `keyOf`: all requests count together.
 *
 * A request is under way until it has been dealt with and its answer has been taken to the end, or its connection is
 * gone; so whoever reads slowly keeps the place. One that is refused further in frees it at once: it is read on only
 * for the sake of the connection.
 */
export function createRequestLimit(
  max: number,
  keyOf: (state: HoldfastState) => string = () => '',
): Middleware<HoldfastState> {
  const underWay = new Map<string, number>()
  const change = (key: string, by: 1 | -1) => {
    const count = (underWay.get(key) ?? 0) + by
    if (count === 0) underWay.delete(key)
    else underWay.set(key, count)
  }

  return async (ctx, next) => {
    const key = keyOf(ctx.state)
    if ((underWay.get(key) ?? 0) >= max) {
      const whose = key === '' ? '' : ` of "${key}"`
      const message = `${max} requests${whose} are under way already`
      throw new FileServiceError('overloaded', message, { retryAfterMs })
    }
    change(key, 1)
    const free = () => change(key, -1)
    const { promise: end, resolve } = Promise.withResolvers<undefined>()
    onAnswerEnd(ctx.req, ctx.res, () => resolve(undefined))
    try {
      await next()
    } catch (error) {
      free()
      throw error
    }
    void end.then(free)
  }
}
