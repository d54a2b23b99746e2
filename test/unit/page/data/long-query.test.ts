import { expect, it } from 'vitest'
import { requestFor } from '../../../../adapters/page/data/long-query.js'

const LONG = `filter[text_in][]=${'x'.repeat(17_000)}&filter[text_in][]=a?`
const headers = { accept: 'application/vnd.api+json' }

it.each([
  ['', '/search'],
  ['/counts', '/counts'],
])('posts a query of %j that is too long for a URL', (endpoint, path) => {
  expect(requestFor(`${endpoint}?${LONG}`, headers)).toEqual({
    path,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: LONG,
  })
})

it('other endpoints accept the query only in the URL', () => {
  expect(requestFor(`/groups?${LONG}`, headers)).toEqual({ path: `/groups?${LONG}`, headers })
})
