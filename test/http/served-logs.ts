import type http from 'node:http'
import { AuditLogs, type LogStores } from 'daybook'
import { memoryLogs } from 'daybook/memory'
import * as node from 'daybook/node'
import { afterEach, expect } from 'vitest'
import { checkAnswersBy, type RawRequest, send } from '../support/http.js'
import { listen as listenOn } from '../support/node-server.js'
import { type AnswerCheck, checkBy, compileAll, type OpenApiDocument } from '../support/openapi.js'

export const TYPES = { note: {}, 'api:orders:create': {} } as const
export const PATH = '/api/logs'

/** Run after each test, the last one first. */
export const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

export async function listen(listener: http.RequestListener): Promise<string> {
  const { url, close } = await listenOn(listener)
  closing.push(close)
  return url
}

/** A server of many logs in memory. */
export async function serve(options: node.LogRoutesOptions = {}, stores: LogStores = memoryLogs()) {
  const logs: AuditLogs = new AuditLogs({ stores, types: TYPES })
  closing.push(() => logs.close())
  const authenticate = node.basicAuth({ users: { ann: 'ann', bob: 'bob' } })
  const routes = node.logRoutes(logs, options)
  const url = await listen((request, response) =>
    authenticate(request, response, () => routes(request, response)),
  )
  const get = (path: string, request?: RawRequest) => send(url, PATH + path, request)
  return { logs, url, get }
}

let check: AnswerCheck | undefined

/** Checks that the OpenAPI document declares every response for several logs. */
export async function checkAnswers(url: string): Promise<void> {
  const { body } = await send(url, `${PATH}/openapi.json`)
  const document = JSON.parse(body) as OpenApiDocument
  if (!check) expect(compileAll(document)).toBeGreaterThan(0)
  check ??= checkBy(document, PATH)
  const isOfOneLog = /^\/api\/logs\/[^/?]+\/events/
  const end = checkAnswersBy(url, (answered) => {
    if (!isOfOneLog.test(answered.target)) check?.(answered)
  })
  closing.push(async () => end())
}
