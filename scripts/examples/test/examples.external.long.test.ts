// It installs and runs seven applications.
// In one process, for what takes longest is the installation, which they share.
import { installedExamples } from './installed-examples.ts'
import './types.ts'
import './readmes.ts'
import './koa-sessions.ts'
import './express-multer.ts'
import './node-http.ts'
import './nightly-cleanup.ts'
import './postgres-customers.ts'
import './encrypted-store.ts'

before('installs the examples', async function () {
  this.timeout(300_000)
  await installedExamples()
})
