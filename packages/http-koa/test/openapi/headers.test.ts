import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { operationsOf, readDescription } from '@holdfast/testing/api-description'
import { expect } from 'chai'
import ts from 'typescript'

const source = join(import.meta.dirname, '../../src')

/** What looks like the name of a header wherever it stands, with or without a dash in it. */
const compound =
  /^(accept|access|cache|content|cross|if|keep|last|proxy|retry|sec|transfer|x)(-[a-z]+)+$/
const simple =
  /^(allow|authorization|connection|cookie|date|etag|expect|host|location|origin|range|vary)$/

/** What looks like a name, and is the value of one, or that of a part of a form. */
const others = new Set(['cross-origin', 'content-transfer-encoding'])

/** The names of headers in a program: in strings, and behind `headers.`; in lower case. */
function headersIn(file: ts.SourceFile): string[] {
  const names: string[] = []
  const visit = (node: ts.Node) => {
    if (ts.isStringLiteralLike(node)) names.push(node.text.toLowerCase())
    if (ts.isPropertyAccessExpression(node) && /\bheaders$/.test(node.expression.getText(file))) {
      names.push(node.name.text.toLowerCase())
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return names.filter((name) => (compound.test(name) || simple.test(name)) && !others.has(name))
}

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest)
}

describe('docs/openapi.yaml', () => {
  const description = readDescription()
  const { parameters, securitySchemes } = description.components
  const { headers: beyond, connection } = description['x-beyond-operations']
  const responses = [
    ...operationsOf(description).flatMap((operation) => Object.values(operation.responses)),
    ...Object.values(connection),
  ]
  const inProse = [...description.info.description.matchAll(/`([A-Z][\w-]*)[:`]/g)]
  const described = new Set(
    [
      ...Object.values(parameters).map(({ name }) => name),
      ...Object.values(securitySchemes).map(({ name }) => name),
      ...Object.keys(beyond),
      ...responses.flatMap(({ headers = {} }) => Object.keys(headers)),
      ...inProse.map(([, name = '']) => name),
    ].map((name) => name.toLowerCase()),
  )

  it('has every header that the sources name', () => {
    const files = globSync('**/*.ts', { cwd: source }).map((path) => parse(join(source, path)))
    const named = new Set(files.flatMap(headersIn))
    expect([...named]).to.include.members(['x-auth-name', 'if-range', 'range', 'etag', 'host'])
    expect([...described]).to.include.members([...named])
  })
})
