import { readdirSync, readFileSync } from 'node:fs'
import Router from '@koa/router'
import { auditRoutes } from 'daybook/koa'
import { sqliteStore } from 'daybook/sqlite'
import type { Middleware } from 'koa'
import { afterEach, expect, it } from 'vitest'
import { newEvent } from '../support/http.js'
import { tempDir } from '../support/temp.js'
import { done, parser, routed, startRecorded } from './recorded.js'

const CANARY = 'cAnary7351cAnary7351'
const base64 = (text: string): string => Buffer.from(text).toString('base64url')
const JWT = `eyJhbGciOiJIUzI1NiJ9.${base64(`{"sub":"${CANARY}"}`)}.c2ln${CANARY}`

const KEYS = [
  ['password', 'PHPSESSID', 'sid', 'connect.sid', 'auth_code', 'recovery_codes', 'passkey'],
  ['security_answer', 'SAMLResponse', 'assertion', 'connection_string', 'database_url', 'dsn'],
  ['mnemonic', 'pw', 'card_number', 'cvv', 'iban', 'code', 'jwt', 'X-Api-Key', 'csrf_token'],
].flat()

const TEXTS = [
  JWT,
  `-----BEGIN PRIVATE KEY-----\n${CANARY}\n-----END PRIVATE KEY-----`,
  `Basic ${Buffer.from(`ann:${CANARY}`).toString('base64')}`,
  `Bearer ${CANARY}`,
  `postgres://ann:${CANARY}@db/main`,
  `ghp_${CANARY}${CANARY}`,
  `xoxb-${CANARY}`,
  `sk_live_${CANARY}`,
  `https://example.org/?user=ann&access_token=${CANARY}`,
  `{"login":{"password":"${CANARY}"}}`,
]

const secrets = {
  keys: Object.fromEntries(KEYS.map((key) => [key, CANARY])),
  deep: [{ texts: TEXTS, [JWT]: true }],
}

const { dir, file, remove } = tempDir()
afterEach(remove)

// The canary within base64: of the payload of the JWT, and of Basic.
const forms = [CANARY, base64(`{"sub":"${CANARY}"}`), base64(`ann:${CANARY}`)]

it('secrets of requests and created events never reach the disk', async () => {
  let routes: Middleware
  const events: Middleware = (ctx, next) => routes(ctx, next)
  // In data of the host, `code` means the code of a thing, not a secret.
  const described = { ...secrets, keys: { ...secrets.keys, code: 'A1' } }
  const router = new Router()
  router.post('/reset/:token', done)
  router.put('/fail', (ctx) => ctx.throw(409, `cannot use ${TEXTS.join(' or ')}`))
  router.delete('/fail', () => {
    throw new Error(`cannot use ${TEXTS.join(' or ')}`)
  })
  const app = await startRecorded([parser as Middleware, events, ...routed(router), done], {
    store: sqliteStore({ filename: file('audit.sqlite') }),
    record: { describe: () => described, requestId: () => JWT },
  })
  routes = auditRoutes(app.audit, { redact: true, username: () => 'ann' }) as Middleware
  await app.postJson('/things', { kept: 'evidence', ...secrets })
  await app.postJson(`/reset/${CANARY}`, {})
  await app.postJson(`/unknown/${JWT}`, {})
  await app.send('/fail', { method: 'PUT' })
  await app.send('/fail', { method: 'DELETE' })
  const created = await app.send(
    '/api/events',
    newEvent({ type: 'x', kept: 'evidence', ...secrets }),
  )
  expect(created.status).toBe(201)
  const recorded = await app.events()
  expect(recorded.length).toBe(6)
  await app.close()
  const files = readdirSync(dir).map((name) => readFileSync(file(name), 'latin1'))
  const kept = [JSON.stringify(recorded), ...files]
  expect(kept.filter((text) => text.includes('evidence')).length).toBeGreaterThan(1)
  for (const form of forms) expect(kept.filter((text) => text.includes(form))).toEqual([])
})
