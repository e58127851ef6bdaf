import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { makeTemporaryDirectory, until } from '@holdfast/testing'

/** WebKitGTK's MiniBrowser on a screen in memory, driven by WebDriver (W3C): the engine of Safari. */
export interface WebkitDriver extends AsyncDisposable {
  open(url: string): Promise<void>
  /** What `script`, the body of a function, returns: in the page, or in its first frame, whatever the frame's origin is. */
  run(script: string, where?: 'page' | 'frame'): Promise<unknown>
}

/** Starts it. Needs `Xvfb` and `WebKitWebDriver`, which `scripts/test` installs. */
export async function openWebkit(): Promise<WebkitDriver> {
  await using stack = new AsyncDisposableStack()
  const home = stack.use(await makeTemporaryDirectory('/tmp'))
  const start = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const child = spawn(program, args, {
      env: { ...process.env, HOME: home.path, ...env },
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    })
    stack.defer(() => end(child))
    return child
  }
  const screen = start('Xvfb', ['-displayfd', '3', '-screen', '0', '900x600x24'])
  const display = await firstLine(screen)
  const port = await freePort()
  start('WebKitWebDriver', ['--host=127.0.0.1', `--port=${port}`], {
    DISPLAY: `:${display}`,
    // Its own sandbox needs namespaces, which containers have not.
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
  })
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      signal: AbortSignal.timeout(90_000),
      ...(body && { body: JSON.stringify(body) }),
    })
    const { value } = (await answer.json()) as { readonly value: unknown }
    if (!answer.ok) throw new Error(`WebDriver: ${JSON.stringify(value)}`)
    return value
  }
  const isListening = async () =>
    send('GET', '/status').then(
      () => true,
      () => false,
    )
  await until('WebKitWebDriver listens', isListening)
  const { sessionId } = (await send('POST', '/session', { capabilities: {} })) as {
    readonly sessionId: string
  }
  const session = `/session/${sessionId}`
  stack.defer(async () => void (await send('DELETE', session)))
  const owned = stack.move()
  return {
    open: async (url) => void (await send('POST', `${session}/url`, { url })),
    async run(script, where = 'page') {
      await send('POST', `${session}/frame`, { id: null })
      if (where === 'frame') await send('POST', `${session}/frame`, { id: 0 })
      return send('POST', `${session}/execute/sync`, { script, args: [] })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function firstLine({ stdio }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdio[3] as Readable })) return line
  throw new Error('Xvfb has ended before it had a screen')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}
