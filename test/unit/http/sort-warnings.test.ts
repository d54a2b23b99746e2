import { AuditLogError, type EventPage } from 'daybook'
import { expect, it } from 'vitest'
import { abortedError, queryTimedOut } from '../../../src/errors.js'
import type { EndpointAudit } from '../../../src/http/events/handler.js'
import { sortWarnings } from '../../../src/http/events/sort-warnings.js'
import { parseQuery } from '../../../src/filter/parse.js'
import type { WaitOptions } from '../../../src/store/store.js'

const { signal } = new AbortController()

const auditWith = (list: (query: unknown, options: WaitOptions) => Promise<EventPage>) =>
  ({ list }) as unknown as EndpointAudit

const warningsOf = (audit: EndpointAudit, ...sorts: readonly string[]) =>
  sortWarnings(audit, parseQuery({ filter: { sorts } }), [], { visible: undefined, signal })

it('one query decides about all attributes that no event has', async () => {
  let queries = 0
  const audit = auditWith(() => {
    queries++
    return Promise.resolve({ events: [], truncated: false })
  })
  const warnings = await warningsOf(audit, 'nope', 'never desc', 'nope desc', 'type')
  expect(warnings.map(({ detail }) => detail)).toEqual([
    'no visible event has the attribute "nope"',
    'no visible event has the attribute "never"',
  ])
  expect(queries).toBe(1)
})

it('there is no warning if the query takes too long', async () => {
  const audit = auditWith(() => Promise.reject(queryTimedOut(5)))
  expect(await warningsOf(audit, 'nope', 'never')).toEqual([])
})

it('other errors are thrown, and the signal is passed on', async () => {
  const failures = [new Error('a bug'), abortedError(signal), new AuditLogError('CLOSED', 'closed')]
  for (const failure of failures) {
    const audit = auditWith((_query, options) => {
      expect(options.signal).toBe(signal)
      return Promise.reject(failure)
    })
    await expect(warningsOf(audit, 'nope')).rejects.toBe(failure)
  }
})
