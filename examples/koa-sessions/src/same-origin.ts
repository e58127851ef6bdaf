import type { Context, Next } from 'koa'

const safeMethods = ['GET', 'HEAD', 'OPTIONS']

/**
 * Refuses what pages of others have a browser send: it would come with the cookie of the session, and upload or
 * delete in the user's name. `SameSite=Lax` keeps the cookie from most such requests, but not from those of other
 * servers of one domain.
 */
export async function sameOriginOnly(ctx: Context, next: Next): Promise<void> {
  if (!safeMethods.includes(ctx.method) && comesFromElsewhere(ctx)) ctx.throw(403, 'Not from here')
  await next()
}

function comesFromElsewhere(ctx: Context): boolean {
  const site = ctx.get('Sec-Fetch-Site')
  if (site !== '') return site !== 'same-origin' && site !== 'none'
  // Programs that are no browsers send neither, and no page can make them send a cookie.
  const origin = ctx.get('Origin')
  return origin !== '' && origin !== `${ctx.protocol}://${ctx.host}`
}
