import { createHmac } from 'node:crypto'
import { operationsOf, readDescription } from '@holdfast/testing/api-description'
import { createFileService } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { expect } from 'chai'
import { createRouter } from '../../src/app.ts'
import { runApp } from '../support/running-app.ts'

const operations = operationsOf(readDescription())
const paths = [...new Set(operations.map(({ path }) => path))]
const methodsOf = (path: string) =>
  operations.filter((operation) => operation.path === path).map(({ method }) => method)

/** What the router knows, in the words of OpenAPI. What answers every method of a path is left out. */
function routes(): string[] {
  const service = createFileService({
    store: createMemoryBlobStore(),
    credentials: createMemoryCredentialSource([]),
    links: { createSignature: (key) => createHmac('sha256', key) },
  })
  const { stack } = createRouter(service)
  return stack
    .filter(({ methods }) => methods.length > 0 && !methods.includes('OPTIONS'))
    .flatMap(({ path, methods }) =>
      methods.flatMap((method) => expand(String(path)).map((each) => `${method} ${each}`)),
    )
}

/** `/serve{/}` stands for two paths, and `:filename` for what OpenAPI has in braces. */
function expand(path: string): string[] {
  const all = path.includes('{/}') ? [path.replace('{/}', ''), path.replace('{/}', '/')] : [path]
  return all.map((each) => each.replaceAll(/:(\w+)/g, '{$1}'))
}

describe('docs/openapi.yaml', () => {
  it('has every route, and no other operation but OPTIONS', () => {
    const described = operations
      .filter(({ method }) => method !== 'OPTIONS')
      .map(({ method, path }) => `${method} ${path}`)
    expect(described).to.have.members(routes())
    expect(described).to.include.members(['GET /ping', 'HEAD /list', 'DELETE /delete/batch'])
  })

  for (const path of paths) {
    it(`has the methods that ${path} says it knows`, async () => {
      await using app = await runApp()
      const target = path.replace('{filename}', 'a.txt').replace('{id}', '0123456789abcdef')
      // With a link, since one path knows a method for it only.
      const answer = await fetch(`${app.url}${target}?link=x`, { method: 'OPTIONS' })
      expect(answer.headers.get('allow')?.split(', ')).to.have.members(methodsOf(path))
    })
  }
})
