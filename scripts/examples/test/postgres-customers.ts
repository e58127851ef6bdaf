import { expect } from 'chai'
import { readmeLines, runInExample, startExample, type RunningExample } from './run-example.ts'
import { startPostgres, type Postgres } from './start-postgres.ts'

describe('examples/postgres-customers', function () {
  this.timeout(120_000)
  let postgres: Postgres
  before(async () => {
    postgres = await startPostgres()
  })
  after(() => postgres.remove())

  const run = (command: string) =>
    runInExample('postgres-customers', command, { DATABASE_URL: postgres.url })

  it('passes the suite of the port', async () => {
    const { code, stdout } = await run('npm test')
    expect(stdout)
      .to.match(/^ *\d\d passing/m)
      .and.not.to.match(/failing|pending/)
    expect(code).to.equal(0)
  })

  describe('as a server', () => {
    let app: RunningExample
    before(async () => {
      // As the README has it.
      const lines = await readmeLines('postgres-customers', /^(psql|node) /)
      expect(lines).to.have.length(2)
      for (const line of lines) {
        const { code, stderr } = await run(line)
        expect([code, stderr]).to.deep.equal([0, ''])
      }
      app = await startExample('postgres-customers', { DATABASE_URL: postgres.url })
    })
    after(async () => {
      expect(await app.stop()).to.equal(0)
    })

    const execute = async (sql: string) => {
      const program = `import { Pool } from 'pg'
        const pool = new Pool({ connectionString: process.env.DATABASE_URL })
        await pool.query(process.env.SQL)
        await pool.end()`
      const env = { DATABASE_URL: postgres.url, SQL: sql, PROGRAM: program }
      const command = 'node --input-type=module --eval "$PROGRAM"'
      const { code, stderr } = await runInExample('postgres-customers', command, env)
      expect([code, stderr]).to.deep.equal([0, ''])
    }
    const add = async (args: string) => {
      const { code, stdout, stderr } = await run(`node src/add-customer.ts ${args}`)
      expect([code, stderr]).to.deep.equal([0, ''])
      return stdout.trim()
    }
    const ask = async (name: string, password: string, path = '/list', init: RequestInit = {}) => {
      const headers = { 'x-auth-name': name, 'x-auth-password': password }
      const response = await fetch(`${app.url}${path}`, { ...init, headers })
      return { status: response.status, text: await response.text(), headers: response.headers }
    }

    it('lets customers of the table in, within their quota', async () => {
      const password = await add('alice 10')
      const put = (body: string) => ask('alice', password, '/upload/note', { method: 'PUT', body })
      expect((await put('0123456789')).text).to.equal('OK')
      expect((await put('0123456789.')).status).to.equal(413)
      expect((await ask('alice', password)).text).to.equal('["note"]')
      expect((await ask('alice', 'a guess')).text).to.contain('Invalid credentials')
      expect((await ask('Alice', password)).text).to.contain('Invalid credentials')
    })

    it('notices at once when a password changes, or a customer is gone', async () => {
      const first = await add('bob')
      expect((await ask('bob', first)).text).to.contain('No files uploaded yet')
      const second = await add('bob')
      expect((await ask('bob', first)).text).to.contain('Invalid credentials')
      expect((await ask('bob', second)).text).to.contain('No files uploaded yet')
      await execute("DELETE FROM customers WHERE name = 'bob'")
      expect((await ask('bob', second)).text).to.contain('Invalid credentials')
    })

    it('asks to come back while the database is down, and goes on when it is there again', async () => {
      const password = await add('carol')
      expect((await ask('carol', password)).text).to.contain('No files uploaded yet')
      await postgres.stop()
      const down = await ask('carol', password)
      expect([down.status, down.headers.get('retry-after')]).to.deep.equal([503, '5'])
      expect((await ask('nobody', 'password')).status).to.equal(503)
      await postgres.start()
      expect((await ask('carol', password)).text).to.contain('No files uploaded yet')
    })

    it('calls a table that is missing a fault', async () => {
      await execute('ALTER TABLE customers RENAME TO former_customers')
      expect((await ask('alice', 'password')).status).to.equal(500)
      expect(app.said()).to.contain('relation "customers" does not exist')
      await execute('ALTER TABLE former_customers RENAME TO customers')
    })
  })
})
