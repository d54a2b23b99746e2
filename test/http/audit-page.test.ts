import type http from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { AuditLog } from 'daybook'
import {
  auditPage,
  type AuditPageOptions,
  auditRoutes,
  basicAuth,
  recordRequests,
  subscriptionRoutes,
  viewRoutes,
} from 'daybook/koa'
import { auditPage as nodeAuditPage, auditRoutes as nodeAuditRoutes } from 'daybook/node'
import express from 'express'
import Koa from 'koa'
import mount from 'koa-mount'
import { describe, expect, it } from 'vitest'
import { type RawRequest, type RawResponse, send } from '../support/http.js'
import { openLog, serveOn } from './until-finished.js'

interface Served {
  readonly audit: AuditLog
  get(path: string, request?: RawRequest): Promise<RawResponse>
}

type Handler = (...exchange: Parameters<http.RequestListener>) => unknown

async function listening(handler: Handler, audit: AuditLog): Promise<Served> {
  const url = await serveOn(handler)
  return { audit, get: (path, request) => send(url, path, request) }
}

function serve(options?: AuditPageOptions, feed = '/api/events'): Promise<Served> {
  const audit = openLog()
  const app = new Koa()
  app.silent = true
  app.use(recordRequests(audit))
  app.use(basicAuth({ users: { ann: 'ann' } }))
  app.use(auditPage(audit, options))
  app.use(auditRoutes(audit, { path: feed }))
  return listening(app.callback(), audit)
}

const filesOf = (document: string): string[] =>
  [...document.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, file]) => file!)

/** All files that the page can load, found by following file names. */
async function loadAll({ get }: Served, path: string): Promise<Map<string, RawResponse>> {
  const { body } = await get(path)
  const found = new Map<string, RawResponse>()
  const wanted = new Set(filesOf(body))
  for (const file of wanted) {
    const response = await get(file)
    found.set(file, response)
    for (const [name] of response.body.matchAll(/[\w-]+\.(?:js|css)\b/g)) {
      const beside = file.replace(/[^/]+$/, name)
      if (/-[\w-]{8}\.(js|css)$/.test(name)) wanted.add(beside)
    }
  }
  return found
}

describe('auditPage', () => {
  it('serves a document that loads only its own files', async () => {
    const served = await serve()
    const { status, headers, body } = await served.get('/audit')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers['cache-control']).toBe('private, no-cache')
    expect(body).toContain('data-api="/api/events"')
    expect(body).not.toMatch(
      /<script(?![^>]*\ssrc=)|\sstyle=|<style|\son\w+=|https?:(?!\/\/www\.w3\.org)/,
    )
    expect(body).not.toContain('{{')
    const files = await loadAll(served, '/audit')
    expect(files.size).toBeGreaterThan(5)
    expect([...files].filter(([, response]) => response.status !== 200)).toEqual([])
    const types = new Set([...files.values()].map((file) => String(file.headers['content-type'])))
    expect([...types].toSorted()).toEqual([
      'image/svg+xml',
      'text/css; charset=utf-8',
      'text/javascript; charset=utf-8',
    ])
  })

  it('needs one script of about 40 kB compressed and the texts of one language for the first rows', async () => {
    const served = await serve()
    const br = { headers: { 'accept-encoding': 'br' } }
    for (const language of ['en', 'de']) {
      const { body } = await served.get('/audit', { headers: { 'accept-language': language } })
      const scripts = filesOf(body).filter((file) => file.endsWith('.js'))
      const [texts, script, ...others] = scripts
      expect(others).toEqual([])
      expect(texts).toMatch(new RegExp(`/assets/${language}-[\\w-]{8}\\.js$`))
      expect((await served.get(script!, br)).bytes.length).toBeLessThan(40_000)
      expect((await served.get(texts!, br)).bytes.length).toBeLessThan(7000)
      // All imports are dynamic: `import()` on first use. If the texts imported the script, the script could not wait
      // for the texts.
      for (const file of scripts)
        expect((await served.get(file)).body).not.toMatch(/(?:^|;)import[^(]|from"\.\//)
    }
    const files = await loadAll(served, '/audit')
    const all = [...files.keys()].filter((name) => name.endsWith('.js'))
    const sizes = await Promise.all(
      all.map(async (name) => (await served.get(name, br)).bytes.length),
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(170_000)
  })

  it('has the language that the browser prefers, unless the host chooses one', async () => {
    const { get } = await serve()
    const languageOf = async (accept: string, page = get): Promise<unknown> => {
      const headers = accept === '' ? {} : { 'accept-language': accept }
      const { body, headers: sent } = await page('/audit', { headers })
      const [, preloaded] = /<link rel="modulepreload" hreflang="(\w+)"/.exec(body) ?? []
      const [, lang] = /<html\s+lang="(\w+)"/.exec(body) ?? []
      return [lang, preloaded, String(sent.vary).includes('Accept-Language')]
    }
    expect(await languageOf('')).toEqual(['en', 'en', true])
    expect(await languageOf('fr')).toEqual(['en', 'en', true])
    expect(await languageOf('de-AT,de;q=0.9,en;q=0.8')).toEqual(['de', 'de', true])
    expect(await languageOf('fr, de;q=0.5, en;q=0.4')).toEqual(['de', 'de', true])
    const german = await serve({ language: 'de' })
    expect(await languageOf('en', german.get)).toEqual(['de', 'de', false])
    expect(() => auditPage(openLog(), { language: 'fr' as 'de' })).toThrow(
      'language must be one of en, de; it is "fr"',
    )
  })

  it('sends a policy that forbids inline code, other origins and framing', async () => {
    const { get } = await serve()
    for (const path of ['/audit', '/audit/icon.svg']) {
      const { headers } = await get(path)
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).toContain("require-trusted-types-for 'script'")
      expect(policy).not.toMatch(/unsafe|\*|https?:|data:|blob:/)
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['referrer-policy']).toBe('no-referrer')
      expect(headers['cross-origin-opener-policy']).toBe('same-origin')
      expect(headers['cross-origin-resource-policy']).toBe('same-origin')
    }
  })

  it('lets the listed sites frame it, and any site load the element for frames', async () => {
    const { get } = await serve({ frameAncestors: ['self', 'https://admin.example.com'] })
    const { headers } = await get('/audit')
    expect(String(headers['content-security-policy'])).toContain(
      "frame-ancestors 'self' https://admin.example.com",
    )
    const script = await get('/audit/daybook-page.js')
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(script.headers['cross-origin-resource-policy']).toBe('cross-origin')
    expect(script.bytes.length).toBeLessThan(4000)
  })

  it('links the style sheet of a theme, and names the logo and the title', async () => {
    const accent = { light: '#7a1fa2', dark: '#e1bee7' }
    const { get } = await serve({ theme: { accent }, logo: '/logo.svg', title: 'Led<ger' })
    const { body } = await get('/audit')
    expect(body).toContain('data-title="Led&lt;ger"')
    expect(body).toContain('data-logo="/logo.svg"')
    const sheets = filesOf(body).filter((file) => file.endsWith('.css'))
    const { headers, body: sheet } = await get(sheets.at(-1)!)
    expect(headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'private, max-age=31536000, immutable',
    })
    expect(sheet).toContain('--accent: light-dark(#7a1fa2, #e1bee7);')
  })

  it('refuses wrong options of its appearance when it is mounted', async () => {
    const audit = openLog()
    expect(() => auditPage(audit, { frameAncestors: ['*'] })).toThrow('frameAncestors must list')
    expect(() => auditPage(audit, { logo: 'https://example.com/x.png' })).toThrow('logo must be')
  })

  it('names files by a hash of their content, so that browsers may cache them', async () => {
    const { get } = await serve()
    const { body } = await get('/audit')
    const script = filesOf(body).find((file) => file.endsWith('.js'))!
    const { headers } = await get(script)
    expect(headers['cache-control']).toBe('private, max-age=31536000, immutable')
    const again = await get('/audit', {
      headers: { 'if-none-match': (await get('/audit')).headers.etag! },
    })
    expect(again.status).toBe(304)
    expect(again.headers['content-security-policy']).toBeDefined()
    expect(again.headers['cross-origin-opener-policy']).toBe('same-origin')
    for (const response of [await get('/audit/none'), await get('/audit', { user: null })])
      expect(response.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      })
  })

  it('is compressed with a coding that the client accepts', async () => {
    const { get } = await serve()
    const { body } = await get('/audit')
    const script = filesOf(body).find((file) => file.endsWith('.js'))!
    const plain = await get(script)
    const br = await get(script, { headers: { 'accept-encoding': 'br' } })
    const gzip = await get(script, { headers: { 'accept-encoding': 'gzip' } })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(brotliDecompressSync(br.bytes).toString()).toBe(plain.body)
    expect(gunzipSync(gzip.bytes).toString()).toBe(plain.body)
    expect(br.bytes.length).toBeLessThan(plain.bytes.length / 2)
    expect(br.headers.vary).toContain('Accept-Encoding')
  })

  it('requires authentication', async () => {
    const { get } = await serve()
    for (const path of ['/audit', '/audit/icon.svg', '/audit/nothing']) {
      const { status, headers } = await get(path, { user: null })
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toMatch(/^Basic /)
    }
    const open = await listening(new Koa().use(auditPage(openLog())).callback(), openLog())
    expect((await open.get('/audit', { user: null })).status).toBe(401)
  })

  it('supports HEAD, and refuses other methods and unknown paths', async () => {
    const { get } = await serve()
    const head = await get('/audit', { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([200, ''])
    const post = await get('/audit', { method: 'POST' })
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
    for (const path of [
      '/audit/nothing',
      '/audit/../package.json',
      '/audit/index.html',
      '/audit/assets/',
    ])
      expect((await get(path)).status, path).toBe(404)
    expect((await get('/auditing')).body).toBe('Not Found')
  })

  it('is recorded only if access is refused', async () => {
    const { get, audit } = await serve()
    await get('/audit')
    await get('/audit/nothing')
    await get('/audit', { method: 'POST' })
    await get('/audit', { user: null })
    await get('/audit', { user: 'ann:wrong' })
    const { events } = await audit.list()
    expect(events.map(({ type, attributes }) => [type, attributes['response_status']])).toEqual([
      ['error:unmatched:get', 401],
    ])
  })

  it('contains the path of the feed and the name of the service', async () => {
    const { get } = await serve(
      { path: '/ops/history/', name: '<b>"Acme" & sons</b>' },
      '/ops/feed',
    )
    const { body } = await get('/ops/history')
    expect(body).toContain('data-api="/ops/feed"')
    expect(body).toContain('data-name="&lt;b&gt;&quot;Acme&quot; &amp; sons&lt;/b&gt;"')
    for (const file of filesOf(body)) {
      expect(file).toMatch(/^\/ops\/history\//)
      expect((await get(file)).status).toBe(200)
    }
    const other = await serve({ api: '/elsewhere' })
    expect((await other.get('/audit/')).body).toContain('data-api="/elsewhere"')
  })

  it('contains the paths for managing subscriptions, if there are any', async () => {
    const { get, audit } = await serve()
    const pathsIn = ({ body }: RawResponse): unknown[] => [
      /data-subscriptions="(.*)"/.exec(body)?.[1],
      /data-channels="(.*)"/.exec(body)?.[1],
    ]
    expect(pathsIn(await get('/audit'))).toEqual(['', ''])
    subscriptionRoutes(audit, { path: '/ops/api' })
    expect(pathsIn(await get('/audit'))).toEqual([
      '/ops/api/subscriptions',
      '/ops/api/notification_channels',
    ])
  })

  it('contains the path for saving views, if there is one', async () => {
    const { get, audit } = await serve()
    const pathIn = ({ body }: RawResponse): unknown => /data-views="(.*)"/.exec(body)?.[1]
    expect(pathIn(await get('/audit'))).toBe('')
    viewRoutes(audit, { path: '/ops/views' })
    expect(pathIn(await get('/audit'))).toBe('/ops/views')
  })

  it('refuses the root path', () => {
    for (const path of ['', '/', 'audit'])
      expect(() => auditPage(openLog(), { path })).toThrow(
        `path must be an absolute path such as /audit, and not the root; it is ${JSON.stringify(path)}`,
      )
  })

  it('works under a mount path of koa-mount and of Express', async () => {
    const audit = openLog()
    const inner = new Koa()
    inner.use(basicAuth({ users: { ann: 'ann' } }))
    inner.use(auditPage(audit, { path: '/ops/audit' }))
    inner.use(auditRoutes(audit, { path: '/ops/events' }))
    const koa = await listening(new Koa().use(mount('/ops', inner)).callback(), audit)

    const log = openLog()
    const router = express.Router()
    router.use(nodeAuditPage(log, { path: '/ops/audit', username: () => 'ann' }))
    router.use(nodeAuditRoutes(log, { path: '/ops/events', username: () => 'ann' }))
    const node = await listening(express().use('/ops', router), log)

    for (const served of [koa, node]) {
      const { status, body } = await served.get('/ops/audit')
      expect(status).toBe(200)
      expect(body).toContain('data-api="/ops/events"')
      const files = await loadAll(served, '/ops/audit')
      expect([...files.values()].map((file) => file.status).every((code) => code === 200)).toBe(
        true,
      )
      expect((await served.get('/ops/events')).status).toBe(200)
    }
    expect((await node.get('/elsewhere')).status).toBe(404)
  })
})
