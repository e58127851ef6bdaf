import type * as Http from 'node:http'
import type * as Https from 'node:https'
import { createRequire } from 'node:module'

// Any path will do for modules of Node's own, and this one is there in every bundle, too.
const require = createRequire(process.execPath)

/*
 * An ES module that imports `node:http` has Node read all of its names at once, and some are getters that load what `fetch` is made
 * of: as much work as Node's own start. `require` reads none.
 */
export const http = require('node:http') as typeof Http

/** Loaded when it is asked for: a connection without TLS does without. */
export const https = () => require('node:https') as typeof Https
