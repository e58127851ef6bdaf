import { readFile } from 'node:fs/promises'
import { describeCredentialSource } from '@holdfast/contract'
import type { Credential } from '@holdfast/core'
import { openPool } from '../src/open-pool.ts'
import { createPostgresCredentialSource } from '../src/postgres-credential-source.ts'

const { DATABASE_URL = 'postgres://localhost/files' } = process.env
const schema = await readFile(new URL('../schema.sql', import.meta.url), 'utf8')

/** A source of exactly these customers, in a schema of its own. */
async function open(credentials: readonly Credential[]) {
  const space = `test_${crypto.randomUUID().replaceAll('-', '')}`
  const url = new URL(DATABASE_URL)
  url.searchParams.set('options', `-csearch_path=${space}`)
  const pool = openPool(url.href)
  await pool.query(`CREATE SCHEMA ${space}`)
  await pool.query(schema)
  for (const { name, passwordHash, quota, maxFiles } of credentials) {
    const values = [name, passwordHash, quota, maxFiles]
    await pool.query('INSERT INTO customers VALUES ($1, $2, $3, $4)', values)
  }
  return {
    source: createPostgresCredentialSource(pool),
    async dispose() {
      await pool.query(`DROP SCHEMA ${space} CASCADE`)
      await pool.end()
    },
  }
}

/** A source whose database is not there: no program listens at port 1. */
async function openUnable() {
  const pool = openPool('postgres://127.0.0.1:1/files')
  return { source: createPostgresCredentialSource(pool), dispose: () => pool.end() }
}

describeCredentialSource('createPostgresCredentialSource', open, { openUnable })
