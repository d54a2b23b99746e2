import type { EventTypes } from '../../event/event-types.js'
import { type AssertCoverageOptions, checkCoverage } from './coverage.js'

/**
 * Checks in a test that routes and registered event types agree, for routes given as `<METHOD> <path>`:
 * `['POST /orders', 'DELETE /orders/:id']`. Throws `NOT_COVERED` with a list of the mismatches; the message of
 * `cause` has the full list, one per line.
 */
export function assertCoverage(
  routes: readonly string[],
  types: EventTypes,
  options: AssertCoverageOptions = {},
): void {
  const declared = routes.map((route) => {
    const [method = '', path = ''] = route.split(' ')
    return { path, methods: [method] }
  })
  checkCoverage(declared, types, options)
}
