import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { login } from '../support/running-service.ts'
import { useService } from '../support/use-service.ts'

describe('A program that uploads and downloads over HTTP', () => {
  const service = useService()

  it('loads neither what fetch is made of nor TLS', async () => {
    const child = join(import.meta.dirname, '../children/list-modules.ts')
    const url = `http://127.0.0.1:${service.port}`
    const { stdout } = await promisify(execFile)(process.execPath, [
      child,
      ...[url, login.name, login.password],
    ])
    const modules = JSON.parse(stdout) as readonly string[]
    expect(modules).to.include('_http_client')
    expect(modules).not.to.include.oneOf(['internal/deps/undici/undici', 'https', '_tls_wrap'])
  })
})
