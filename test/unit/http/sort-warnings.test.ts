import { expect, it } from 'vitest'
import { abortedError } from '../../../src/errors.js'
import type { EndpointAudit } from '../../../src/http/events/handler.js'
import { sortWarnings } from '../../../src/http/events/sort-warnings.js'
import { parseQuery } from '../../../src/filter/parse.js'

it('a store that does not know within the budget is asked no longer, and there is no warning', async () => {
  let aborted = 0
  const audit = {
    list: (_query: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_resolve, reject) => {
        const abort = (): void => {
          aborted++
          reject(abortedError(signal))
        }
        if (signal.aborted) abort()
        else signal.addEventListener('abort', abort)
      }),
  } as unknown as EndpointAudit
  const query = parseQuery({ filter: { sorts: ['nope', 'never'] } })
  expect(await sortWarnings(audit, query, undefined, [])).toEqual([])
  expect(aborted).toBe(2)
})

it('an error that is not of the log is thrown', async () => {
  const failure = new Error('a bug')
  const audit = { list: () => Promise.reject(failure) } as unknown as EndpointAudit
  const query = parseQuery({ filter: { sorts: 'nope' } })
  await expect(sortWarnings(audit, query, undefined, [])).rejects.toBe(failure)
})
