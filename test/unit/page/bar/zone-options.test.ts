import { describe, expect, it } from 'vitest'
import { allZones, findZones } from '../../../../adapters/page/bar/zone-options.js'

const zones = allZones('Europe/Berlin', 'Local time')
const first = (text: string): string | undefined => findZones(zones, text)[0]?.name

describe('time zones', () => {
  it('have local time and UTC first', () => {
    expect(findZones(zones, '').slice(0, 2)).toMatchObject([
      { name: 'local', zone: 'Europe/Berlin' },
      { name: 'UTC', zone: 'UTC' },
    ])
    expect(zones.length).toBe(
      Intl.supportedValuesOf('timeZone').filter((n) => n !== 'UTC').length + 2,
    )
  })

  it('are found by city, region, UTC, and cities of other names', () => {
    expect(first('new york')).toBe('America/New_York')
    expect(first('europe/lis')).toBe('Europe/Lisbon')
    expect(first('utc')).toBe('UTC')
    expect(first('san fran')).toBe('America/Los_Angeles')
    expect(['Asia/Calcutta', 'Asia/Kolkata']).toContain(first('Kolkata'))
    expect(first('münchen')).toBe('Europe/Berlin')
    expect(first('nowhere')).toBeUndefined()
  })
})
