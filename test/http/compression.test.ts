import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { type RawRequest, type RawResponse, serve, type TestServer } from '../support/http.js'

let server: TestServer
const BIG = '/api/events'
const SMALL = '/api/events?filter[type_eq]=none'

beforeAll(async () => {
  server = await serve()
  for (let n = 0; n < 10; n++)
    await server.audit.recordCustom('own', { n, text: 'Grüße '.repeat(50) })
})
afterAll(() => server.close())

const get = (path: string, accept?: string, more: RawRequest = {}): Promise<RawResponse> =>
  server.send(path, { ...more, headers: accept === undefined ? {} : { 'accept-encoding': accept } })

const codingOf = ({ headers, bytes }: RawResponse): string => {
  expect(headers['content-length']).toBe(String(bytes.length))
  expect(headers.vary).toMatch(/^Accept, Accept-Encoding/)
  return headers['content-encoding'] ?? 'identity'
}

it('sends the same document in every coding, and shorter', async () => {
  const plain = await get(BIG)
  expect(codingOf(plain)).toBe('identity')
  const brotli = await get(BIG, 'br')
  const gzip = await get(BIG, 'gzip')
  expect([codingOf(brotli), codingOf(gzip)]).toEqual(['br', 'gzip'])
  expect(brotliDecompressSync(brotli.bytes).toString()).toBe(plain.body)
  expect(gunzipSync(gzip.bytes).toString()).toBe(plain.body)
  for (const { bytes, headers } of [brotli, gzip]) {
    expect(bytes.length).toBeLessThan(plain.bytes.length / 2)
    expect(headers.etag).toBe(plain.headers.etag)
  }
})

it.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0, gzip;q=0', 'identity'],
  ['identity', 'identity'],
  ['identity, br;q=0.5', 'identity'],
  ['deflate', 'identity'],
  ['', 'identity'],
  ['*', 'br'],
  ['*;q=0.5, gzip', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['*;q=0, gzip;q=0.1', 'gzip'],
])('Accept-Encoding %j selects the coding %s', async (accept, coding) => {
  expect(codingOf(await get(BIG, accept))).toBe(coding)
})

it('does not compress short bodies, unless identity is refused', async () => {
  const whole = await get(SMALL, 'gzip, br')
  expect(whole.bytes.length).toBeLessThan(1024)
  expect(codingOf(whole)).toBe('identity')
  const forced = await get(SMALL, 'gzip, identity;q=0')
  expect(codingOf(forced)).toBe('gzip')
  expect(gunzipSync(forced.bytes).toString()).toBe(whole.body)
})

it.each(['identity;q=0', '*;q=0', 'deflate, identity;q=0'])(
  'responds 406 to %s, which allows no coding',
  async (accept) => {
    const response = await get(BIG, accept)
    const { detail } = expectError(response, 406, 'NOT_ACCEPTABLE', { header: 'accept-encoding' })
    expect(detail).toContain('br, gzip, identity')
  },
)

it('responds to HEAD with the headers of GET', async () => {
  for (const accept of [undefined, 'br', 'gzip']) {
    const whole = await get(BIG, accept)
    const head = await get(BIG, accept, { method: 'HEAD' })
    const of = ({ status, headers }: RawResponse) => [status, { ...headers, date: undefined }]
    expect(of(head)).toEqual(of(whole))
    expect(head.body).toBe('')
  }
})

it('responds 304 without a coding', async () => {
  const { headers } = await get(BIG, 'br')
  const response = await server.send(BIG, {
    headers: { 'accept-encoding': 'br', 'if-none-match': headers.etag },
  })
  expect([response.status, response.headers['content-encoding']]).toEqual([304, undefined])
})
