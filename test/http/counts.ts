import type { EventCounts } from 'daybook'
import { expect } from 'vitest'
import { countExactly } from '../support/exact-counts.js'
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

/** The server without a time limit for counting, so that counts are exact on a busy machine, too. */
export function inFull<Server extends TestServer>(server: Server): Server {
  countExactly(server.audit)
  return server
}
