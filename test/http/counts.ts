import type { EventCounts } from 'daybook'
import { expect } from 'vitest'
import { spaced } from '../support/host.js'
import type { RawResponse, TestServer } from '../support/http.js'
import { PATH } from './access.js'

export const COUNTS = `${PATH}/counts`

export interface CountsDocument {
  readonly meta: EventCounts
  readonly links: { readonly self: string }
}

export const countsOf = (response: RawResponse): CountsDocument['meta'] => {
  expect(response.status, response.body).toBe(200)
  return (JSON.parse(response.body) as CountsDocument).meta
}

export const counted = async (
  server: TestServer,
  query: string,
  user = 'ann',
): Promise<EventCounts> => countsOf(await server.send(spaced(`${COUNTS}?${query}`), { user }))

/** Gives counts the time that a busy machine may take, so that they are exact. */
export function inFull<Server extends TestServer>(server: Server): Server {
  const { audit } = server
  const { count } = audit
  audit.count = (query, options) => count.call(audit, query, { ...options, within: 60_000 })
  return server
}
