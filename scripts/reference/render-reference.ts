import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'

const require = createRequire(import.meta.url)

/** Nothing is loaded from anywhere, whatever the viewer would like to. */
const policy =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"

/** The page that shows the API's description in the repository at `root`: HTML with all it needs in it. */
export async function renderReference(root: string): Promise<string> {
  const description: unknown = parse(await readFile(join(root, 'docs/openapi.yaml'), 'utf8'))
  const viewer = dirname(require.resolve('swagger-ui-dist/package.json'))
  const script = await readFile(join(viewer, 'swagger-ui-bundle.js'), 'utf8')
  const style = await readFile(join(viewer, 'swagger-ui.css'), 'utf8')
  const options = `{
    spec: ${JSON.stringify(description)},
    dom_id: '#reference',
    deepLinking: true,
    validatorUrl: null,
    // A page cannot ask a server that knows of no other origins.
    supportedSubmitMethods: [],
  }`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>holdfast: HTTP API</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="reference"></div>
<script>${withoutTags(script)}</script>
<script>SwaggerUIBundle(${withoutTags(options)})</script>
</body>
</html>
`
}

/** Tags in a program end it, or hide its end. They stand in strings, where this says the same. */
function withoutTags(program: string): string {
  return program.replaceAll(/<(?=\/script|script|!--)/gi, '\\x3c')
}
