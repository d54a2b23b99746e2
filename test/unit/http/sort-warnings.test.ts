import { AuditLogError, type EventPage } from 'daybook'
import { expect, it } from 'vitest'
import { abortedError, queryTimedOut } from '../../../src/errors.js'
import { sortWarnings } from '../../../src/http/events/sort-warnings.js'
import { parseQuery } from '../../../src/filter/parse.js'

const { signal } = new AbortController()

type List = () => Promise<EventPage>

const warningsOf = (list: List, ...sorts: readonly string[]) =>
  sortWarnings({ list }, parseQuery({ filter: { sorts } }), [])

it('one query checks all attributes that no event has', async () => {
  let queries = 0
  const list: List = () => {
    queries++
    return Promise.resolve({ events: [], truncated: false })
  }
  const warnings = await warningsOf(list, 'nope', 'never desc', 'nope desc', 'type')
  expect(warnings.map(({ detail }) => detail)).toEqual([
    'no visible event has the attribute "nope"',
    'no visible event has the attribute "never"',
  ])
  expect(queries).toBe(1)
})

it('there is no warning if the query takes too long', async () => {
  expect(await warningsOf(() => Promise.reject(queryTimedOut(5)), 'nope', 'never')).toEqual([])
})

it('other errors are thrown', async () => {
  const failures = [new Error('a bug'), abortedError(signal), new AuditLogError('CLOSED', 'closed')]
  for (const failure of failures)
    await expect(warningsOf(() => Promise.reject(failure), 'nope')).rejects.toBe(failure)
})
