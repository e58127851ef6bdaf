/*
 * An ES module that imports `node:http` has Node read all of its names at once, and some are getters that load what `fetch` is made
 * of: as much work as Node's own start. This reads none.
 */
export const http = process.getBuiltinModule('node:http')

/** Loaded when it is asked for: a connection without TLS does without. */
export const https = () => process.getBuiltinModule('node:https')
