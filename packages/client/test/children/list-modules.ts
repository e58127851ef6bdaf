// Uploads a file and fetches it, then prints which modules of Node's own the process has loaded, as JSON.
import { createClient } from '../../src/index.ts'

const [url = '', name = '', password = ''] = process.argv.slice(2)
const client = createClient({ url, name, password })
await client.upload('a', 'content')
await (await client.download('a')).text()
// Not in the types: a list for Node's own tests, which is all that says so.
const { moduleLoadList } = process as typeof process & { moduleLoadList: readonly string[] }
const modules = moduleLoadList.map((entry) => entry.replace(/^NativeModule /, ''))
process.stdout.write(JSON.stringify(modules))
