import { AuditLog } from 'daybook'
import { expect, it, onTestFinished, vi } from 'vitest'
import { checkCounted, type Counted, newCounted, noteCounted } from '../campaigns/shared/counted.js'
import { linesOf, runScript } from '../support/child.js'
import { sqlitePlace } from '../support/event-stores.js'
import { useLeapingTime } from '../support/leaping-time.js'
import { allEvents } from '../support/reported-losses.js'

const time = useLeapingTime()

/** Runs a process that makes counted calls, and kills it, or ends its input. */
async function live(location: string, number: number, isKilled: boolean): Promise<Counted> {
  const life = newCounted(`life${number}`, number)
  const args = [location, life.life, life.address]
  const child = runScript('test/campaigns/collapsed-child.ts', args, {}, 'pipe')
  await child.saw('begin\n')
  life.isKilled = isKilled
  life.endedAt = Date.now()
  if (isKilled) await child.kill()
  else child.process.stdin!.end()
  expect(await child.ended).toBe(isKilled ? null : 0)
  for (const line of linesOf(child)) noteCounted(life, line)
  return life
}

it('counted calls are recorded exactly, but for the last second of killed processes', async () => {
  const place = await sqlitePlace()
  const location = place.demo.kind === 'sqlite' ? place.demo.filename : ''
  const store = place.open()
  const audit: AuditLog = new AuditLog({ store, types: {} })
  onTestFinished(async () => {
    vi.useRealTimers()
    await audit.close()
    await place.remove()
  })
  const lives = await Promise.all(
    [true, true, true, false].map((isKilled, i) => live(location, i, isKilled)),
  )
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  audit.intents()
  while ((await store.updateState('intents', (value) => value)) !== undefined) {
    time.leap(5000)
    await vi.advanceTimersByTimeAsync(5000)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const events = await allEvents(audit)
  for (const life of lives) checkCounted(events, life)
  const ended = events.filter(({ source }) => source?.startsWith('/api/life3/'))
  expect(ended.filter(({ attributes }) => attributes['interrupted'])).toEqual([])
})
