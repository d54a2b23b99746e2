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

it.each([
  ['a tail that nobody waits for does not keep the process alive', 'left', 'early\n'],
  ['a tail that somebody waits for does', 'awaited', 'late\n'],
])('%s', async (_, state, printed) => {
  const child = runScript('test/processes/tailing-child.ts', [state])
  expect(await child.ended, child.stderr()).toBe(0)
  expect(child.stdout()).toBe(printed)
})
