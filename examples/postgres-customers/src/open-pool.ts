import { Pool } from 'pg'

/**
 * Connections to the database at `url`, at most ten at a time. One that cannot be had, or does not answer, is given
 * up after five seconds: a client waits for it.
 */
export function openPool(url: string, onLost: (error: Error) => void = () => {}): Pool {
  const pool = new Pool({
    connectionString: url,
    max: 10,
    connectionTimeoutMillis: 5000,
    query_timeout: 5000,
  })
  // An idle connection that breaks is reported only here; without a listener it would end the process.
  pool.on('error', onLost)
  return pool
}
