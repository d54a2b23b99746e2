import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as esbuild from 'esbuild'
import { startPostgres } from '../support/postgres.js'
import { tempDir } from '../support/temp.js'
import type { Campaign } from './run.js'

/*
 * Installs the packed package with Bun, Deno, Next.js and Miniflare (workerd), whose binaries come from npm, and uses
 * `daybook/fetch` on each of them. Needs `npm run build`, and about 600 MB in the folder of temporary files.
 */
const root = path.join(import.meta.dirname, '../..')
const PACKAGES = [
  'better-sqlite3@13',
  'bun@1',
  'deno@2',
  'miniflare@4',
  'next@16',
  'node@24',
  'pg@8',
  'react@19',
  'react-dom@19',
]

/** The service. Workers have no files, and thus no page. */
const service = `
import { AuditLog } from 'daybook'
import { auditHealth, auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/fetch'
import { memoryStore } from 'daybook/memory'
export async function openStore(name) {
  const [connectionString, schema] = name.split('#')
  if (schema) return (await import('daybook/postgres')).postgresStore({ connectionString, schema })
  if (name.startsWith('sqlite:'))
    return (await import('daybook/sqlite')).sqliteStore({ filename: name.slice('sqlite:'.length) })
  return memoryStore()
}
export function createService(store, hasPage = true) {
  const audit = new AuditLog({ store, types: { 'api:orders:create': {}, 'info:stock:reserved': {} } })
  const record = recordRequests(audit)
  const signIn = basicAuth({ users: { ann: 'ann' } })
  const feed = auditRoutes(audit)
  const page = hasPage ? auditPage(audit) : () => undefined
  const probes = auditHealth(audit)
  const order = record(signIn(async (request) => {
    await request.json()
    await audit.record('info:stock:reserved')
    return Response.json({ ordered: true }, { status: 201 })
  }), '/orders')
  const fail = record(signIn(() => { throw new Error('kaboom') }), '/fail')
  const read = signIn(async (request) =>
    (await feed(request)) ?? (await page(request)) ?? new Response(null, { status: 404 }))
  const handle = async (request, ...passed) => {
    const { pathname } = new URL(request.url)
    if (pathname === '/orders') return order(request, ...passed)
    if (pathname === '/fail') return fail(request, ...passed)
    return (await probes(request)) ?? read(request, ...passed)
  }
  return { audit, feed: signIn(feed), page: signIn(page), probes, order, fail, handle }
}
`

const onBun = `
import { createService, openStore } from './service.mjs'
const { audit, handle } = createService(await openStore(process.env.STORE))
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handle })
console.log('listens at ' + server.url.origin + ' ')
process.once('SIGTERM', async () => {
  await server.stop(true)
  await audit.close()
  console.log('closed')
  process.exit()
})
`

const onDeno = `
import process from 'node:process'
import { createService, openStore } from './service.mjs'
const { audit, handle } = createService(await openStore(process.env.STORE))
const onListen = ({ port }) => console.log('listens at http://127.0.0.1:' + port + ' ')
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen }, handle)
process.once('SIGTERM', async () => {
  await audit.close()
  console.log('closed')
  process.exit()
})
`

const durableObject = `
import { createService, openStore } from './service.mjs'
export class Log {
  #service = openStore('memory:').then((store) => createService(store, false))
  async fetch(request) {
    return (await this.#service).handle(request)
  }
}
export default { fetch: (request, { LOG }) => LOG.get(LOG.idFromName('log')).fetch(request) }
`

const onMiniflare = `
import { Miniflare } from 'miniflare'
const miniflare = new Miniflare({
  modules: true,
  scriptPath: 'worker.bundle.mjs',
  compatibilityDate: '2026-04-01',
  compatibilityFlags: ['nodejs_compat'],
  durableObjects: { LOG: 'Log' },
  host: '127.0.0.1',
  port: 0,
})
console.log('listens at ' + (await miniflare.ready).origin + ' ')
process.once('SIGTERM', async () => {
  await miniflare.dispose()
  console.log('closed')
  process.exit()
})
`

/** Next.js has one file for each route. */
const nextRoutes: Readonly<Record<string, string>> = {
  orders: 'export const POST = service.order',
  fail: 'export const POST = service.fail',
  'health/[probe]': 'export const GET = service.probes',
  'audit/[[...path]]': 'export const GET = service.page',
  'api/events/[[...path]]': 'export const GET = service.feed\nexport const POST = service.feed',
}

const nextService = `
import { createService, openStore } from './service.mjs'
export const service = createService(await openStore(process.env.STORE ?? 'memory:'))
`

function writeFiles(folder: string): void {
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    fs.writeFileSync(path.join(folder, file), text)
  }
  write('package.json', '{"type":"module","private":true}')
  write('service.mjs', service)
  write('bun.mjs', onBun)
  write('deno.mjs', onDeno)
  write('worker.mjs', durableObject)
  write('miniflare.mjs', onMiniflare)
  write('next.config.mjs', `export default { serverExternalPackages: ['daybook'] }`)
  write('next-service.mjs', nextService)
  write('app/layout.jsx', 'export default ({ children }) => <html><body>{children}</body></html>')
  for (const [name, exports] of Object.entries(nextRoutes)) {
    const up = '../'.repeat(name.split('/').length + 1)
    write(`app/${name}/route.js`, `import { service } from '${up}next-service.mjs'\n${exports}`)
  }
}

interface Host {
  readonly command: readonly string[]
  readonly stores: readonly ('memory' | 'sqlite' | 'postgres')[]
  /** Missing features of the host. `close`: the host ends the process itself, so the service cannot close the log. */
  readonly lacks?: readonly ('page' | 'address' | 'close')[]
}

const hosts: Readonly<Record<string, Host>> = {
  bun: { command: ['bun', 'bun.mjs'], stores: ['memory', 'sqlite', 'postgres'] },
  deno: { command: ['deno', 'run', '-A', 'deno.mjs'], stores: ['memory', 'sqlite', 'postgres'] },
  next: {
    command: ['node', 'node_modules/next/dist/bin/next', 'start', '-p', '0', '-H', '127.0.0.1'],
    stores: ['memory', 'sqlite'],
    lacks: ['address', 'close'],
  },
  workerd: {
    command: ['node', 'miniflare.mjs'],
    stores: ['memory'],
    lacks: ['page', 'address', 'close'],
  },
}

const MANY = 300
const CLOSE_MS = 10_000

interface Listed {
  readonly data: readonly { readonly attributes: Readonly<Record<string, unknown>> }[]
}

/** Uses a running service. Throws an AssertionError at the first fault. */
async function use(url: string, lacks: Host['lacks'] = []): Promise<void> {
  const get = (target: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Basic ${btoa('ann:ann')}`, ...(init.headers as object) }
    return fetch(url + target, { ...init, headers })
  }
  const order = (id: string): Promise<Response> =>
    get('/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': id },
      body: '{"item":"tea","card_number":"4111"}',
    })
  const listed = async (filter: string): Promise<Listed['data']> =>
    ((await (await get(`/api/events?limit=500&${filter}`)).json()) as Listed).data

  const stopped = new AbortController()
  const stream = await get('/api/events/stream', { signal: stopped.signal })
  assert.equal(stream.status, 200)
  const response = await order('first')
  assert.deepEqual([response.status, await response.text()], [201, '{"ordered":true}'])
  let sent = ''
  for await (const text of stream.body!.pipeThrough(new TextDecoderStream())) {
    sent += text
    if (sent.includes('api:orders:create')) break
  }
  assert.match(sent, /info:stock:reserved/)
  stopped.abort()

  const [event] = await listed('filter[type_eq]=api:orders:create')
  const { username, request_body, remote_address } = event!.attributes
  assert.deepEqual([username, request_body], ['ann', { item: 'tea', card_number: '[redacted]' }])
  assert.equal(remote_address, lacks.includes('address') ? undefined : '127.0.0.1')

  const orders = Array.from({ length: MANY }, (_, i) => order(`order-${i}`))
  for (const { status } of await Promise.all(orders)) assert.equal(status, 201)
  for (const type of ['api:orders:create', 'info:stock:reserved']) {
    const found = await listed(`filter[type_eq]=${type}`)
    assert.equal(found.length, MANY + 1)
    assert.equal(new Set(found.map(({ attributes }) => attributes['request_id'])).size, MANY + 1)
  }

  assert.equal((await get('/fail', { method: 'POST' })).status, 500)
  const [failure] = await listed('filter[request_path_eq]=/fail')
  assert.equal(failure!.attributes['error'], 'kaboom')
  assert.equal(failure!.attributes['response_status'], 500)

  const csv = await (await get('/api/events/export?format=csv')).text()
  assert.match(csv, /api:orders:create/)
  for (const target of ['/api/events/counts?facets=username', '/health/ready'])
    assert.equal((await get(target)).status, 200, target)
  assert.equal((await fetch(`${url}/api/events`)).status, 401)
  if (lacks.includes('page')) return
  const [, script] = /src="([^"]+)"/.exec(await (await get('/audit')).text())!
  assert.match(await (await get(script!)).text(), /addEventListener/)
}

interface Installed {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
}

async function startHost(
  { folder, env }: Installed,
  [command, ...args]: readonly string[],
  store: string,
): Promise<{ url: string; child: ChildProcess; output: () => string }> {
  const child = spawn(command!, args, { cwd: folder, env: { ...env, STORE: store } })
  let output = ''
  child.stdout.on('data', (text: Buffer) => (output += text.toString()))
  child.stderr.on('data', (text: Buffer) => (output += text.toString()))
  const address = /(http:\/\/127\.0\.0\.1:\d+)\s[^]*/
  while (!address.test(output) && child.exitCode === null) await delay(20)
  const [, url] = address.exec(output) ?? assert.fail(`the host has ended: ${output}`)
  return { url: url!, child, output: () => output }
}

async function tryHost(installed: Installed, host: Host, store: string): Promise<void> {
  const { url, child, output } = await startHost(installed, host.command, store)
  const ended = once(child, 'exit')
  try {
    await use(url, host.lacks)
    child.kill('SIGTERM')
    await Promise.race([ended, delay(CLOSE_MS, undefined, { ref: false })])
    if (!host.lacks?.includes('close')) assert.match(output(), /closed/)
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

function install(folder: string): Installed {
  const run = (cwd: string, command: string, ...args: readonly string[]): string =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const packed = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
  const [{ filename }] = JSON.parse(run(root, 'npm', ...packed)) as [{ filename: string }]
  writeFiles(folder)
  const tarball = path.join(folder, filename)
  run(folder, 'npm', 'install', '--no-fund', '--no-audit', tarball, ...PACKAGES)
  const bin = path.join(folder, 'node_modules/.bin')
  const PATH = `${path.join(folder, 'node_modules/node/bin')}:${bin}:${process.env['PATH']}`
  const env = { ...process.env, PATH, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' }
  execFileSync('node', ['node_modules/next/dist/bin/next', 'build'], { cwd: folder, env })
  esbuild.buildSync({
    absWorkingDir: folder,
    entryPoints: ['worker.mjs'],
    outfile: 'worker.bundle.mjs',
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  return { folder, env }
}

export const campaign: Campaign = {
  rounds: 1,
  async run({ rounds, failed }) {
    const temp = tempDir()
    const postgres = await startPostgres()
    const figures: Record<string, string> = {}
    try {
      const installed = install(temp.dir)
      const versionOf = (name: string): string =>
        (
          JSON.parse(fs.readFileSync(temp.file(`node_modules/${name}/package.json`), 'utf8')) as {
            version: string
          }
        ).version
      for (let round = 0; round < rounds; round++)
        for (const [name, host] of Object.entries(hosts))
          for (const store of host.stores) {
            const stores = {
              memory: 'memory:',
              sqlite: `sqlite:${temp.file(`${name}-${round}.db`)}`,
              postgres: `${postgres.url}#${name}_${round}`,
            }
            const what = `${name} ${versionOf(name)}, ${store}`
            try {
              await tryHost(installed, host, stores[store])
              figures[what] = 'passed'
            } catch (error) {
              failed(`${what}: ${String(error)}`)
            }
          }
    } finally {
      await postgres.stop()
      temp.remove()
    }
    return figures
  },
}
