import { expect, it } from 'vitest'
import { runScript } from '../support/child.js'

it.each([
  ['waiting', /Warning: the process exits before 3 events are acknowledged/],
  ['lost', /Warning: 2 lost events are not reported in the audit log/],
  ['closed', /^$/],
])('process.exit while calls are %s', async (state, warning) => {
  const child = runScript('test/processes/exiting-child.ts', [state])
  expect(await child.ended).toBe(3)
  expect(child.stderr()).toMatch(warning)
})
