/** Writes what the client knows of the API, from docs/openapi.yaml. */
import { writeFile } from 'node:fs/promises'
import { readDescription } from '../packages/testing/src/api-description/index.ts'
import { clientApiFile } from './client-api/client-api-file.ts'
import { renderClientApi } from './client-api/render-client-api.ts'

await writeFile(clientApiFile, await renderClientApi(readDescription(), clientApiFile))
