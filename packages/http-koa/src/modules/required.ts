import type * as Http from 'node:http'
import type * as Https from 'node:https'
import { createRequire } from 'node:module'
import type KoaCors from '@koa/cors'
import type * as KoaRouter from '@koa/router'

const require = createRequire(import.meta.url)

/*
 * An ES module that imports `node:http`, as the router's own does, has Node read all of its names at once, and some are getters
 * that load what `fetch` is made of: as much work as Node's own start. `require` reads none.
 */
export const http = require('node:http') as typeof Http
export const koaRouter = require('@koa/router') as typeof KoaRouter

/** Loaded when it is asked for: a server without TLS does without. */
export const https = () => require('node:https') as typeof Https

/** Loaded when it is asked for: most servers do without. */
export const koaCors = () => require('@koa/cors') as typeof KoaCors
