import { expect, it } from 'vitest'
import { runScript } from '../support/child.js'

const CHILD = 'test/processes/tracing-child.ts'

it('@opentelemetry/api is loaded once something is registered with it', async () => {
  const child = runScript(CHILD, [])
  expect([await child.ended, child.stdout(), child.stderr()]).toEqual([0, 'false\ntrue\n', ''])
})

it('events are recorded, with one warning, if it cannot be loaded', async () => {
  const child = runScript(CHILD, ['missing'])
  expect([await child.ended, child.stdout()]).toEqual([0, 'false\nfalse\n'])
  expect(child.stderr().split('Warning: ').slice(1)).toEqual([
    expect.stringMatching(
      /^events get no ids of OpenTelemetry spans, .*npm install @opentelemetry\/api\n/,
    ),
  ])
})
