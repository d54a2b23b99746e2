import { AuditLog, type AuditEvent, formatTimestamp, parseTimestamp } from 'daybook'
import { faultyStore, manualClock } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DAY, type Microseconds, MINUTE, SECOND } from '../../../src/event/timestamp.js'
import { type EventPlace, eachStore } from '../../support/event-stores.js'

const YEARS = 75 * 365 * DAY

const timeOf = (event: AuditEvent | undefined): Microseconds => parseTimestamp(event!.created_at)!

describe.each(eachStore)('%s: the clock', (name, createPlace) => {
  let place: EventPlace
  let clock: ReturnType<typeof manualClock>
  const open: AuditLog[] = []

  const openLog = (): AuditLog => {
    const audit: AuditLog = new AuditLog({ store: faultyStore(place.open(clock)), types: {} })
    open.push(audit)
    return audit
  }
  /** The reports of the log. */
  const reports = async (audit: AuditLog): Promise<unknown[]> => {
    await audit.flush()
    const { events } = await audit.list('filter[type_eq]=warn:audit_log:clock')
    return events.map(({ attributes }) => attributes)
  }

  beforeEach(async () => {
    place = await createPlace()
    clock = manualClock()
  })
  afterEach(async () => {
    for (const audit of open.splice(0)) await audit.close()
    await place.remove()
  })

  it('a jump to a wrong time moves no event', async () => {
    const audit = openLog()
    const before = timeOf(await audit.recordCustom('before'))
    clock.jump(YEARS)
    const wrong = clock()
    expect(timeOf(await audit.recordCustom('meanwhile')) - before).toBeLessThan(SECOND)
    expect(await reports(audit)).toEqual([
      {
        reason: 'jump',
        clock_time: formatTimestamp(wrong),
        expected_time: formatTimestamp(wrong - YEARS),
      },
    ])
    clock.jump(-YEARS)
    clock.advance(DAY)
    expect(timeOf(await audit.recordCustom('after'))).toBe(clock())
  })

  // The monotonic clock stands still while a machine is suspended.
  it('of a machine that was suspended for long is followed after 10 minutes', async () => {
    const audit = openLog()
    const before = timeOf(await audit.recordCustom('before'))
    clock.jump(40 * DAY)
    expect(timeOf(await audit.recordCustom('resumed')) - before).toBeLessThan(SECOND)
    clock.advance(9 * MINUTE)
    expect(timeOf(await audit.recordCustom('later')) - before).toBeLessThan(10 * MINUTE)
    clock.advance(MINUTE)
    expect(timeOf(await audit.recordCustom('after'))).toBe(clock())
    expect(await reports(audit)).toHaveLength(1)
  })

  it('is followed at once after acceptClock', async () => {
    const audit = openLog()
    await audit.recordCustom('before')
    clock.jump(40 * DAY)
    await audit.recordCustom('resumed')
    audit.acceptClock()
    expect(timeOf(await audit.recordCustom('after'))).toBe(clock())
  })

  it.skipIf(name === 'memory')(
    'that is far from the newest event is reported at a start',
    async () => {
      const first = openLog()
      await first.recordCustom('before')
      await first.close()
      clock = manualClock('2100-01-01')
      const audit = openLog()
      expect(timeOf(await audit.recordCustom('after'))).toBe(clock())
      expect(await reports(audit)).toEqual([
        expect.objectContaining({ reason: 'start', clock_time: '2100-01-01T00:00:00.000000Z' }),
      ])
    },
  )
})
