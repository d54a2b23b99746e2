import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { curl, hasCurl, startCurl } from '../../support/curl.js'
import { listOf, serve, type TestServer } from '../../support/http.js'

/* The installed curl with `-g`, which turns off its interpretation of brackets. */

let server: TestServer
let url: string

const numbers = (body: string): unknown[] =>
  listOf({ body }).data.map(({ attributes }) => attributes['n'])

/** The parsed output of `curl -i`. */
const partsOf = (output: string): { head: string; body: string } => {
  const at = output.indexOf('\n\n')
  return { head: output.slice(0, at).toLowerCase(), body: output.slice(at + 2) }
}

beforeAll(async () => {
  server = await serve()
  url = `${server.url}/api/events`
  for (let n = 0; n < 12; n++)
    await server.audit.recordCustom(`n:${n % 3}`, { n, name: `${n}% of 50 & more` })
})
afterAll(() => server.close())

describe.skipIf(!hasCurl)('curl (skipped if it is not installed)', () => {
  it('filters and sorts with brackets in the URL', async () => {
    const query = 'filter[type_in][]=n:1&filter[type_in][]=n:2&filter[sorts]=n%20desc&limit=3'
    expect(numbers(await curl(`${url}?${query}`))).toEqual([11, 10, 8])
  })

  it('encodes values with -G --data-urlencode', async () => {
    const values = ['filter[name_cont]=1% of 50 & more', 'filter[sorts]=n desc']
    const query = values.flatMap((value) => ['--data-urlencode', value])
    expect(numbers(await curl('-G', ...query, url))).toEqual([11, 1])
  })

  it('encodes the brackets of values as well with --url-query', async ({ skip }) => {
    const [, major, minor] = /^curl (\d+)\.(\d+)/.exec(await curl('--version'))!
    if (Number(major) * 100 + Number(minor) < 787) skip('--url-query came with curl 7.87')
    expect(numbers(await curl('--url-query', 'filter[n_eq]=4', url))).toEqual([4])
  })

  it('creates an event', async () => {
    const document = { data: { type: 'Event', attributes: { type: 'note', text: 'by curl' } } }
    const media = 'content-type: application/vnd.api+json'
    const { head, body } = partsOf(
      await curl('-i', '-H', media, '-d', JSON.stringify(document), url),
    )
    expect(head).toMatch(/^http\/1\.1 201 created/)
    expect(head).toMatch(/^location: \/api\/events\/[0-9a-f-]{36}$/m)
    expect(body).toBe('')
    const { data } = listOf({ body: await curl(`${url}?filter[text_eq]=by%20curl`) })
    expect(data[0]!.attributes).toMatchObject({ type: 'note', username: 'ann', system: false })
  })

  it('follows the stream with -N, and resumes', async () => {
    const stream = `${url}/stream?filter[type_eq]=streamed`
    const first = startCurl('-N', '-i', stream)
    onTestFinished(() => first.stop())
    await first.saw('retry:')
    await server.audit.recordCustom('other', { text: 'unseen' })
    await server.audit.recordCustom('streamed', { text: 'one' })
    const seen = await first.saw('"one"')
    expect(seen.toLowerCase()).toContain('content-type: text/event-stream')
    expect(seen).not.toContain('unseen')
    const [, id] = /^id: (.+)$/m.exec(seen)!
    await first.stop()
    await server.audit.recordCustom('streamed', { text: 'two' })
    const second = startCurl('-N', '-H', `Last-Event-ID: ${id}`, stream)
    onTestFinished(() => second.stop())
    expect(await second.saw('"two"')).not.toContain('"one"')
  })
})
