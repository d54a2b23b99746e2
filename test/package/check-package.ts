import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { docModules } from '../support/doc-modules.js'
import { blocksOf, docPages } from '../support/doc-pages.js'
import { checkBundles } from './check-bundles.js'
import { checkCliWithoutStores, checkCliWithStores } from './check-cli.js'
import { checkJest } from './check-jest.js'
import { countModules } from './count-modules.js'
import { buildIndex } from './use-index.js'

/*
 * Checks the published package: packs the build, checks its exports and types, installs the tarball
 * in an empty folder and uses every entry point there, first without the optional packages, then with
 * them, and on newer versions of Node. Run after `npm run build`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const temp = fs.mkdtempSync(path.join(os.tmpdir(), 'daybook-package-'))

function run(cwd: string, command: string, ...args: readonly string[]): string {
  console.log(`> ${command} ${args.join(' ')}`)
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

const bin = (name: string): string => path.join(root, 'node_modules', '.bin', name)

function write(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}

interface Manifest {
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
  readonly scripts: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}
const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as Manifest
const entries = Object.keys(manifest.exports)
  .filter((entry) => !entry.endsWith('.json'))
  .map((entry) => entry.replace(/^\./, 'daybook'))

/** Fails if files are missing or superfluous, or if a built entry is not in `exports`. */
function checkFiles(files: ReadonlySet<string>): void {
  for (const needed of ['README.md', 'LICENSE', 'CHANGELOG.md', 'package.json'])
    if (!files.has(needed)) throw new Error(`the package lacks ${needed}`)
  // No module imports these files, because threads are started by their paths.
  const threads = [
    'start-sealing-thread',
    'sealing-thread',
    'check-file',
    'checking-thread',
    'hashing',
    'hashing-thread',
  ]
  for (const name of threads)
    if (!files.has(`dist/chunks/${name}.js`)) throw new Error(`the package lacks ${name} of SQLite`)
  if (!files.has('dist/page/index.html')) throw new Error('the package lacks the page')
  const expected =
    /^(?:[^/]+\.(?:md|json)|LICENSE|docs\/overview\.svg|docs\/(?:guide|internals|reference)\/.*\.md|dist\/(?:page|chunks)\/.*|dist\/cli\/main\.js|dist\/.*(?:\/(?:index|browser)\.js|\.d\.ts))$/
  const superfluous = [...files].filter((file) => !expected.test(file) || file.endsWith('.map'))
  if (superfluous.length > 0) throw new Error(`the package contains ${superfluous.join(', ')}`)
  const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8')
  const links = [...readme.matchAll(/[^!]\[[^\]]*\]\((?!\w+:)([^)#]+)/g)].map(([, file]) => file!)
  const dead = links.filter((file) => !files.has(file))
  if (dead.length > 0) throw new Error(`README.md links to ${dead.join(', ')}`)
  const indexes = [...files].filter((file) => /^dist\/.*\/index\.js$/.test(file))
  const exported = JSON.stringify(manifest.exports)
  const hidden = indexes.filter((file) => !exported.includes(`./${file}`))
  if (hidden.length > 0) throw new Error(`no entry of exports refers to ${hidden.join(', ')}`)
}

const MAX_PACKED_BYTES = 1_520_000

/** Maximum number of modules that these entries load. Each module costs about a millisecond. */
const MAX_MODULES: readonly (readonly [max: number, ...entries: string[]])[] = [
  [56, 'daybook'],
  [82, 'daybook/koa', 'daybook/sqlite'],
  [90, 'daybook', 'daybook/koa', 'daybook/postgres', 'daybook/sqlite'],
]

const importEverything = `
${entries.map((entry, i) => `import * as entry${i} from '${entry}'`).join('\n')}
const entries = { ${entries.map((entry, i) => `'${entry}': entry${i}`).join(', ')} }
for (const [name, entry] of Object.entries(entries))
  if (Object.keys(entry).length === 0) throw new Error(name + ' exports nothing')
`

const requireEverything = `
for (const name of ${JSON.stringify(entries)})
  if (Object.keys(require(name)).length === 0) throw new Error(name + ' exports nothing')
`

const useMemory = `
import { AuditLog, AuditLogError } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { workflowEventTypes } from 'daybook/workflow'
const audit = new AuditLog({ store: memoryStore(), types: workflowEventTypes })
await audit.record('api:changes:create', { name: 'nightly' }, { username: 'ann' })
const { events } = await audit.list('filter[name_start]=NIGHT')
if (events.length !== 1 || events[0].username !== 'ann') throw new Error('lost an event')
await audit.close()
`

/** Calls that need an optional package, by the name of the package. */
const needing = {
  'better-sqlite3': `sqliteStore({ filename: 'audit.db' })`,
  nodemailer: `email({ transport: 'smtp://localhost', from: 'a@b.example', to: 'c@d.example' })`,
  'request-filtering-agent': `webhookKind()`,
  'hyparquet-writer': `parquetWriter()`,
  hyparquet: `await fromParquet('events.parquet').next()`,
}

const useMissingPackages = `
import { email, webhookKind } from 'daybook/channels'
import { fromParquet, parquetWriter } from 'daybook/parquet'
${Object.entries(needing)
  .map(
    ([name, call]) => `
try {
  ${call}
  throw new Error('expected an error')
} catch (error) {
  if (!(error instanceof AuditLogError) || error.code !== 'MISSING_DEPENDENCY') throw error
  if (!error.message.includes('npm install ${name}')) throw error
}`,
  )
  .join('')}
`

const openSqlite = `sqliteStore({ filename: 'audit.db' })`
const openPostgres = `postgresStore({ connectionString: 'postgres://127.0.0.1:1/none' })`
const withoutBinary = `module.exports = class { constructor() { throw new Error('Could not locate the bindings file. Tried:\\n') } }`

/**
 * Packages that are broken or must not be loaded, and a part of the expected message. Loading the first package would
 * end the process.
 */
const brokenDrivers = [
  {
    name: 'better-sqlite3',
    version: process.version.startsWith('v20.') ? '13.2.0' : '12.11.1',
    code: 'process.abort()',
    open: openSqlite,
    message: 'npm install better-sqlite3@1',
  },
  {
    name: 'better-sqlite3',
    version: '14.0.0',
    code: withoutBinary,
    open: openSqlite,
    message: 'Could not locate the bindings file. Tried:): its native binary is missing',
  },
  {
    name: 'better-sqlite3',
    version: '14.0.0',
    code: `throw new Error('half a file')`,
    open: openSqlite,
    message: 'cannot be loaded (half a file)',
  },
  {
    name: 'pg',
    version: '8.20.0',
    code: `require('pg-pool')`,
    open: openPostgres,
    message: `cannot be loaded (Cannot find module 'pg-pool')`,
  },
  { name: 'pg', version: '8.20.0', code: '', open: openPostgres, message: 'it has no Pool' },
]

const useBrokenDriver = (open: string, message: string): string => `
import { AuditLogError } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
let error = new Error('expected an error')
try { ${open} } catch (thrown) { error = thrown }
if (!(error instanceof AuditLogError) || error.code !== 'MISSING_DEPENDENCY') throw error
if (!error.message.includes(${JSON.stringify(message)})) throw error
`

const useSqlite = `
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { auditPage, auditRoutes, recordRequests } from 'daybook/koa'
import { auditRoutes as nodeRoutes } from 'daybook/node'
import http from 'node:http'
import Koa from 'koa'
const audit = new AuditLog({ store: sqliteStore({ filename: 'audit.db' }), types: {} })
const app = new Koa()
app.use(recordRequests(audit))
app.use(auditRoutes(audit, { username: () => 'ann' }))
app.use(auditPage(audit, { username: () => 'ann' }))
app.use((ctx) => { ctx.status = 201 })
const server = app.listen(0, '127.0.0.1')
await new Promise((resolve) => server.once('listening', resolve))
const base = 'http://127.0.0.1:' + server.address().port
await fetch(base + '/things', { method: 'POST' })
const { data } = await (await fetch(base + '/api/events?filter[system_true]=1')).json()
if (data.length !== 1) throw new Error('expected one event, got ' + JSON.stringify(data))
const page = await (await fetch(base + '/audit')).text()
const [, script] = /src="([^"]+)"/.exec(page)
const { status } = await fetch(base + script)
if (status !== 200) throw new Error('expected the script of the page, got ' + status)
const bare = http.createServer(nodeRoutes(audit, { username: () => 'ann' })).listen(0, '127.0.0.1')
await new Promise((resolve) => bare.once('listening', resolve))
const answer = await fetch('http://127.0.0.1:' + bare.address().port + '/api/events/' + data[0].id)
if (answer.status !== 200) throw new Error('expected the event, got ' + answer.status)
bare.closeAllConnections()
bare.close()
server.closeAllConnections()
server.close()
await audit.close()
`

const gettingStarted = docPages.find(({ file }) => file === 'docs/guide/getting-started.md')!

/** Runs the first script of the documentation on a free port, and checks its promised output. */
const useFirstEvent = `
${blocksOf(gettingStarted, 'ts')[0]!
  .code.replace('http.createServer', 'const server = http.createServer')
  .replace('listen(3000)', `listen(0, '127.0.0.1')`)
  .replace('audit.db', 'first.db')}
await new Promise((resolve) => server.once('listening', resolve))
const get = (path) => fetch('http://127.0.0.1:' + server.address().port + path, {
  headers: { authorization: 'Basic ' + btoa('ann:secret') },
})
const { data } = await (await get('/api/events')).json()
if (data.length !== 1) throw new Error('expected one event, got ' + JSON.stringify(data))
const { status } = await get('/audit')
if (status !== 200) throw new Error('expected the page, got ' + status)
server.closeAllConnections()
server.close()
await audit.close()
`

const useIndex = `
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
${buildIndex}
const audit = new AuditLog({ store: sqliteStore({ filename: 'indexed.db' }), types: {} })
const { threads, warnings } = await buildIndex(audit)
await audit.close()
// The thread ends after it has built the index.
if (threads !== 1 || warnings.length > 0)
  throw new Error('expected one thread, got ' + threads + ': ' + warnings.join())
`

const types = `
import { AuditLog, defineEventTypes, type AuditEvent, type EventStore } from 'daybook'
import { auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { email, emailKind, slack, slackKind, webhook, webhookKind } from 'daybook/channels'
import { toCloudEvent, toOcsf, toOtlp } from 'daybook/formats'
import { exportEvents, lineTime } from 'daybook/export'
import { checkConsistency, checkProof, generateKey, keyFile, openNote } from 'daybook/ledger'
import { fromParquet, parquetWriter, toParquet } from 'daybook/parquet'
import { fromDrizzle, fromKnex, fromKysely, fromPrisma, fromTypeOrm } from 'daybook/orm'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { storeConformance } from 'daybook/testing'
import { workflowEventTypes } from 'daybook/workflow'
const store: EventStore = memoryStore({ maxEvents: 10 })
const types = defineEventTypes({ ...workflowEventTypes, 'api:orders:create': { data: ['total'] } })
const audit = new AuditLog({ store, types })
const event: Promise<AuditEvent | undefined> = audit.record('api:orders:create', { total: 1 })
// @ts-expect-error
void audit.record('api:orders:creat', {})
void [event, auditPage(audit), auditRoutes(audit), basicAuth({ users: {} }), recordRequests(audit), fromDrizzle, fromKnex, fromKysely, fromPrisma, fromTypeOrm, storeConformance, sqliteStore, postgresStore, toCloudEvent, toOcsf, toOtlp, exportEvents, lineTime, checkConsistency, checkProof, generateKey, keyFile, openNote, fromParquet, parquetWriter, toParquet, email, emailKind, slack, slackKind, webhook, webhookKind]
`

const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'esnext.disposable'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    types: ['node'],
    typeRoots: [path.join(root, 'node_modules', '@types')],
  },
  include: ['*.ts'],
}

/** Links packages of this project into a folder. */
function link(folder: string, names: Iterable<string>): void {
  for (const name of names) {
    const target = path.join(folder, 'node_modules', name)
    if (fs.existsSync(target)) continue
    fs.mkdirSync(path.dirname(target), { recursive: true })
    fs.symlinkSync(path.join(root, 'node_modules', name), target)
  }
}

/** The packages that examples import, and their types; tsc reports those that are not installed. */
function packagesOf(modules: readonly { readonly code: string }[]): readonly string[] {
  const imports = modules.flatMap(({ code }) => [
    ...code.matchAll(/from '((?:@[^/']+\/)?[^./'][^/']*)(?:\/[^']*)?'/g),
  ])
  return imports
    .flatMap(([, name]) => [name!, `@types/${name!}`])
    .filter((name) => fs.existsSync(path.join(root, 'node_modules', name)))
}

try {
  // Skips the script that builds, because tests that use the page may run at the same time.
  if (manifest.scripts['prepack'] !== 'npm run build')
    throw new Error('npm pack has to build the package: the script prepack is missing')
  const [packed] = JSON.parse(
    run(root, 'npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', temp),
  ) as { filename: string; size: number; files: { path: string }[] }[]
  if (!packed) throw new Error('npm pack returned nothing')
  if (packed.size > MAX_PACKED_BYTES)
    throw new Error(`the package has ${packed.size} bytes, more than ${MAX_PACKED_BYTES}`)
  checkFiles(new Set(packed.files.map((file) => file.path)))
  const tarball = path.join(temp, packed.filename)
  run(root, bin('publint'), '--strict', tarball)
  run(root, bin('attw'), tarball, '--profile', 'esm-only')

  const empty = path.join(temp, 'empty')
  write(path.join(empty, 'package.json'), '{"type":"module","private":true}')
  run(empty, 'npm', 'install', '--no-fund', '--no-audit', '--omit=peer', tarball)
  const installed = fs.readdirSync(path.join(empty, 'node_modules'))
  const peers = Object.keys(manifest.peerDependencies).filter((peer) => installed.includes(peer))
  if (peers.length > 0) throw new Error(`optional packages were installed: ${peers.join(', ')}`)
  write(path.join(empty, 'import.js'), importEverything)
  write(path.join(empty, 'use.js'), useMemory + useMissingPackages)
  run(empty, process.execPath, 'import.js')
  run(empty, process.execPath, 'use.js')
  checkCliWithoutStores(empty, manifest.version)
  for (const [max, ...names] of MAX_MODULES) {
    const count = countModules(empty, names)
    console.log(`${names.join(', ')}: ${count} modules`)
    if (count > max) throw new Error(`${names.join(', ')} load more than ${max} modules`)
  }
  write(path.join(empty, 'types.ts'), types)
  write(path.join(empty, 'tsconfig.json'), JSON.stringify(tsconfig))
  run(empty, bin('tsc'), '-p', 'tsconfig.json')

  for (const { name, version, code, open, message } of brokenDrivers) {
    const broken = path.join(empty, 'node_modules', name)
    write(path.join(broken, 'package.json'), JSON.stringify({ name, version }))
    write(path.join(broken, 'index.js'), code)
    write(path.join(empty, 'broken.js'), useBrokenDriver(open, message))
    run(empty, process.execPath, 'broken.js')
    fs.rmSync(broken, { recursive: true })
  }

  const host = path.join(temp, 'host')
  // Keeps the links of npm to the command line relative.
  fs.cpSync(empty, host, { recursive: true, verbatimSymlinks: true })
  link(
    host,
    new Set([
      ...Object.keys(manifest.peerDependencies),
      '@types/connect',
      '@types/express',
      '@types/koa',
      '@types/node',
      ...packagesOf(docModules),
    ]),
  )
  for (const { name, code } of docModules) write(path.join(host, name), code)
  // NestJS needs these decorators.
  run(host, bin('tsc'), '-p', 'tsconfig.json', '--skipLibCheck', '--experimentalDecorators')
  write(path.join(host, 'use.cjs'), requireEverything)
  run(host, process.execPath, 'use.cjs')
  write(path.join(host, 'use.js'), useSqlite)
  run(host, process.execPath, 'use.js')
  checkCliWithStores(host)
  checkJest(tarball, temp)
  write(path.join(host, 'index.js'), useIndex)
  run(host, process.execPath, 'index.js')

  const newer = path.join(temp, 'newer')
  fs.cpSync(empty, newer, { recursive: true })
  link(
    newer,
    Object.keys(manifest.peerDependencies).filter((name) => name !== 'better-sqlite3'),
  )
  write(path.join(newer, 'use.js'), useSqlite)
  write(path.join(newer, 'index.js'), useIndex)
  write(path.join(newer, 'first.js'), useFirstEvent)
  const prebuilt = path.join(temp, 'prebuilt')
  fs.cpSync(newer, prebuilt, { recursive: true, verbatimSymlinks: true })
  // Installed outside the folder, because npm would remove the links there. This version contains its binary.
  run(temp, 'npm', 'install', '--no-fund', '--no-audit', '--prefix', temp, 'better-sqlite3@13')
  fs.cpSync(path.join(temp, 'node_modules'), path.join(prebuilt, 'node_modules'), {
    recursive: true,
  })
  fs.rmSync(path.join(temp, 'node_modules'), { recursive: true })
  for (const [version, folder] of [
    ['22', prebuilt],
    ['24', newer],
    ['latest', newer],
    ['latest', prebuilt],
  ] as const) {
    for (const name of ['audit.db', 'indexed.db', 'first.db'])
      fs.rmSync(path.join(folder, name), { force: true })
    const command = 'node import.js && node use.js && node index.js && node first.js'
    run(folder, 'npx', '-y', '-p', `node@${version}`, '-c', command)
  }

  const elsewhere = path.join(temp, 'elsewhere')
  link(elsewhere, ['better-sqlite3'])
  await checkBundles(host, elsewhere)
  console.log(`the package passed: ${entries.join(', ')}`)
} finally {
  fs.rmSync(temp, { recursive: true, force: true })
}
