import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import commonjsPlugin from '@rollup/plugin-commonjs'
import { nodeResolve } from '@rollup/plugin-node-resolve'
import * as esbuild from 'esbuild'
import { rollup } from 'rollup'
import { buildIndex } from './use-index.js'

// TypeScript assumes that the types of this package are those of a CommonJS module, which is wrong here.
const commonjs = commonjsPlugin as unknown as typeof commonjsPlugin.default

const host = `
import http from 'node:http'
import { AuditLog } from 'daybook'
import { auditPage, auditRoutes } from 'daybook/node'
import { sqliteStore } from 'daybook/sqlite'
${buildIndex}
async function main() {
  const warnings = []
  process.on('warning', ({ message }) => warnings.push(message))
  const types = { 'api:things:create': { data: ['name'] } }
  const audit = new AuditLog({ store: sqliteStore({ filename: 'bundled.db' }), types })
  await audit.record('api:things:create', { name: 'lamp' }, { username: 'ann' })
  const routes = auditRoutes(audit, { username: () => 'ann' })
  const page = auditPage(audit, { username: () => 'ann' })
  const server = http.createServer((request, response) => {
    const handle = request.url.startsWith('/audit') ? page : routes
    handle(request, response)
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const base = 'http://127.0.0.1:' + server.address().port
  const { data } = await (await fetch(base + '/api/events')).json()
  if (data.length === 0) throw new Error('the feed lacks the event')
  const document = await (await fetch(base + '/audit')).text()
  const [, script] = /src="([^"]+)"/.exec(document)
  const { status } = await fetch(base + script)
  if (status !== 200) throw new Error('expected the script of the page, got ' + status)
  server.closeAllConnections()
  server.close()
  // The file of the thread is not in the bundle.
  await buildIndex(audit)
  if (warnings.filter((text) => text.includes('builds its index in the main thread')).length !== 1)
    throw new Error('expected one warning of the store, got ' + warnings.join())
  await audit.close()
}
main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
`

/** A bundle for a worker, which has neither files nor packages. */
const worker = `
import { AuditLog } from 'daybook'
import { auditRoutes, recordRequests } from 'daybook/fetch'
import { memoryStore } from 'daybook/memory'
const audit = new AuditLog({ store: memoryStore(), types: {} })
const handle = recordRequests(audit)(() => new Response(), '/things')
await handle(new Request('http://service.test/things', { method: 'POST' }))
const feed = auditRoutes(audit, { username: () => 'ann' })
const { data } = await (await feed(new Request('http://service.test/api/events'))).json()
if (data.length !== 1) throw new Error('the feed lacks the event')
await audit.close()
`

/** A bundle for a browser, which has no modules of Node. */
const browser = `
import { openNote } from 'daybook/ledger'
import { toCloudEvent, toOcsf, toOtlp } from 'daybook/formats'
const event = { id: '01a20405-0fa8-7676-ba2c-be23e865d0a6', created_at: '2026-11-22T16:09:30.280404Z',
  username: 'ann', system: true, type: 'api:things:create', source: null, attributes: {} }
const texts = [
  toCloudEvent(event, { source: '/audit' }).data.sentence,
  toOcsf(event, { product: { name: 'things' } }).message,
  toOtlp([event], { service: 'things' }).resourceLogs[0].scopeLogs[0].logRecords[0].body.stringValue,
]
const vkey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
const signature = 'Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM='
const note = 'This is an example message.\\n\\n\\u2014 example.com/foo ' + signature + '\\n'
const { signedBy } = await openNote(note, [vkey])
if (signedBy[0] !== vkey) throw new Error('the note was not opened')
if (texts.some((text) => text !== 'ann created a thing')) throw new Error('wrong sentences: ' + texts.join())
`

/**
 * Bundles a small host and daybook with esbuild and Rollup, and runs the bundles in the folder, which has daybook and
 * better-sqlite3 installed. They serve the page, and build the index in the main thread. In another folder, which has
 * only the driver, the error must name the remedy, and bundles for a worker and a browser must run.
 */
export async function checkBundles(folder: string, elsewhere: string): Promise<void> {
  const input = path.join(folder, 'bundled-host.js')
  fs.writeFileSync(input, host)
  const output = (name: string): string => path.join(folder, name)

  for (const format of ['esm', 'cjs'] as const)
    await esbuild.build({
      entryPoints: [input],
      outfile: output(format === 'esm' ? 'esbuild.mjs' : 'esbuild.cjs'),
      bundle: true,
      platform: 'node',
      format,
      logLevel: 'error',
    })
  const bundle = await rollup({
    input,
    external: [/^node:/],
    plugins: [nodeResolve({ preferBuiltins: true }), commonjs()],
    // fast-json-patch refers to `this` at the top of a module, and does without it.
    onLog: (level, log, handle) => log.code !== 'THIS_IS_UNDEFINED' && handle(level, log),
  })
  await bundle.write({ file: output('rollup.mjs'), format: 'es', inlineDynamicImports: true })
  await bundle.close()

  for (const name of ['esbuild.mjs', 'esbuild.cjs', 'rollup.mjs']) {
    console.log(`> node ${name}`)
    execFileSync(process.execPath, [name], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  }

  const inWorker = path.join(elsewhere, 'worker.mjs')
  await esbuild.build({
    stdin: { contents: worker, resolveDir: folder },
    outfile: inWorker,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // A worker has no `import.meta.url`.
    define: { 'import.meta': '{}' },
    logLevel: 'error',
  })
  execFileSync(process.execPath, [inWorker], { stdio: ['ignore', 'inherit', 'inherit'] })

  const inBrowser = path.join(elsewhere, 'browser.mjs')
  await esbuild.build({
    stdin: { contents: browser, resolveDir: folder },
    outfile: inBrowser,
    bundle: true,
    platform: 'browser',
    format: 'esm',
    logLevel: 'error',
  })
  execFileSync(process.execPath, [inBrowser], { stdio: ['ignore', 'inherit', 'inherit'] })

  // In the folder with only the driver, the page cannot find its files.
  fs.copyFileSync(output('esbuild.cjs'), path.join(elsewhere, 'esbuild.cjs'))
  const { status, stderr } = spawnSync(process.execPath, ['esbuild.cjs'], {
    cwd: elsewhere,
    encoding: 'utf8',
  })
  if (status !== 1 || !stderr.includes('keep it external'))
    throw new Error(`a bundle without daybook beside it ended with ${status}: ${stderr}`)
}
