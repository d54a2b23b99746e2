import { describe, expect, it } from 'vitest'
import { ENGLISH, GERMAN } from '../../../../adapters/page/bar/time-words.js'
import { readTypedRange, type TypedAt } from '../../../../adapters/page/bar/typed-range.js'

/** Friday 20 November 2026, 11:00 in Berlin. */
const at: TypedAt = {
  now: new Date('2026-11-20T10:00:00Z'),
  zone: 'Europe/Berlin',
  words: [ENGLISH],
}
const inGerman: TypedAt = { ...at, words: [GERMAN, ENGLISH] }

const read = (text: string) => readTypedRange(text, at)
const readGerman = (text: string) => readTypedRange(text, inGerman)
const between = (from: string, to: string) => ({ from: `${from}:00Z`, to: `${to}:00Z` })

describe('a typed range', () => {
  it('is relative to now or of the calendar', () => {
    expect(read('24h')).toEqual({ last: '24h' })
    expect(read('last 7 days')).toEqual({ last: '7d' })
    expect(read('last hour')).toEqual({ last: '1h' })
    expect(read('Yesterday')).toEqual({ last: 'yesterday' })
    expect(read('this week')).toEqual({ last: 'this-week' })
    expect(read('last  month')).toEqual({ last: 'last-month' })
  })

  it('is a day', () => {
    const day = between('2026-11-17T23:00', '2026-11-18T23:00')
    expect(read('2026-11-18')).toEqual(day)
    expect(read('wed')).toEqual(day)
    expect(read('18.11.2026')).toEqual(day)
    expect(read('18.11.')).toEqual(day)
    expect(read('25.12.')).toEqual(between('2025-12-24T23:00', '2025-12-25T23:00'))
    expect(read('friday')).toEqual(between('2026-11-19T23:00', '2026-11-20T23:00'))
  })

  it('is between two times of a day', () => {
    const yesterday = between('2026-11-19T13:00', '2026-11-19T14:00')
    expect(read('yesterday 14:00-15:00')).toEqual(yesterday)
    expect(read('yesterday 14:00 to 15:00')).toEqual(yesterday)
    expect(read('yesterday between 2pm and 3pm')).toBeUndefined()
    expect(read('between yesterday 2pm and 3pm')).toEqual(yesterday)
    expect(read('thu 14:00–15:00')).toEqual(yesterday)
    expect(read('2026-11-19 14:00 - 2026-11-19 15:00')).toEqual(yesterday)
    expect(read('2026-11-19T14:00 - 2026-11-19T15:00')).toEqual(yesterday)
    expect(read('08:00-09:30')).toEqual(between('2026-11-20T07:00', '2026-11-20T08:30'))
  })

  it('is in the past, and may end on the next day', () => {
    expect(read('14:00-15:00')).toEqual(between('2026-11-19T13:00', '2026-11-19T14:00'))
    expect(read('yesterday 22:00-02:00')).toEqual(between('2026-11-19T21:00', '2026-11-20T01:00'))
    expect(read('2026-11-19 - 2026-11-18')).toBeUndefined()
  })

  it('includes the last of two days', () => {
    const days = between('2026-11-15T23:00', '2026-11-18T23:00')
    expect(read('mon-wed')).toEqual(days)
    expect(read('2026-11-16 - 2026-11-18')).toEqual(days)
    expect(read('from monday to wednesday')).toEqual(days)
  })

  it('has one end', () => {
    expect(read('since mon')).toEqual({ from: '2026-11-15T23:00:00Z' })
    expect(read('since 10:30')).toEqual({ from: '2026-11-20T09:30:00Z' })
    expect(read('before 2026-11-18')).toEqual({ to: '2026-11-17T23:00:00Z' })
    expect(read('until 2026-11-18')).toEqual({ to: '2026-11-18T23:00:00Z' })
    expect(read('since 2026-11-20T08:15:09.123456Z')).toEqual({ from: '2026-11-20T08:15:09Z' })
  })

  it('is the minute or the hour of one time', () => {
    expect(read('yesterday 14:05')).toEqual(between('2026-11-19T13:05', '2026-11-19T13:06'))
    expect(read('yesterday 2pm')).toEqual(between('2026-11-19T13:00', '2026-11-19T14:00'))
  })

  it('has 25 hours on the day when clocks are set back', () => {
    expect(read('2026-10-25')).toEqual(between('2026-10-24T22:00', '2026-10-25T23:00'))
    expect(read('2026-10-25 02:30-03:30')).toEqual(between('2026-10-25T00:30', '2026-10-25T02:30'))
  })

  it('is written in German too', () => {
    expect(readGerman('gestern 14:00-15:00')).toEqual(read('yesterday 14:00-15:00'))
    expect(readGerman('gestern 14 Uhr bis 15 Uhr')).toEqual(read('yesterday 14:00-15:00'))
    expect(readGerman('seit Montag')).toEqual(read('since monday'))
    expect(readGerman('letzte Woche')).toEqual({ last: 'last-week' })
    expect(readGerman('diesen Monat')).toEqual({ last: 'this-month' })
    expect(readGerman('letzte 24 Stunden')).toEqual({ last: '24h' })
    expect(readGerman('vor 18.11.2026')).toEqual(read('before 2026-11-18'))
    expect(readGerman('mo')).toEqual(read('monday'))
    expect(readGerman('yesterday')).toEqual({ last: 'yesterday' })
  })

  it('is no other text', () => {
    const others = ['', 'deploy', 'mo', '2026-02-30', '25:00', '14:60', '13pm', '0am', '404']
    for (const text of [...others, 'since deploy', 'yesterday deploy', 'last deploy', '1-2'])
      expect(read(text), text).toBeUndefined()
  })

  it.each([
    // 01:30 occurs twice. Without an offset, it means the first.
    ['2026-11-01 01:30-02:00', ['2026-11-01T05:30', '2026-11-01T07:00']],
    ['2026-11-01 01:30 utc-5 - 02:00', ['2026-11-01T06:30', '2026-11-01T07:00']],
    ['2026-11-01 01:45 UTC−4 - 01:15 UTC−5', ['2026-11-01T05:45', '2026-11-01T06:15']],
    ['2026-11-01 01:30 UTC−5', ['2026-11-01T06:30', '2026-11-01T06:31']],
    ['2026-11-01T06:30:00Z - 2026-11-01T06:45:00Z', ['2026-11-01T06:30', '2026-11-01T06:45']],
    ['2026-11-01 1am', ['2026-11-01T05:00', '2026-11-01T07:00']],
    ['2026-11-02 14:00 utc+5:30', ['2026-11-02T08:30', '2026-11-02T08:31']],
    ['2026-11-01', ['2026-11-01T04:00', '2026-11-02T05:00']],
    ['2026-03-08', ['2026-03-08T05:00', '2026-03-09T04:00']],
    ['2026-03-08 02:30-03:30', ['2026-03-08T07:00', '2026-03-08T07:30']],
    ['2026-03-08 01:30-02:30', ['2026-03-08T06:30', '2026-03-08T07:00']],
    // Clocks skip this hour.
    ['2026-03-08 02:00-03:00', undefined],
    ['2026-03-08 2am', undefined],
  ])('where clocks change: %s', (text, ends) => {
    const range = readTypedRange(text, { ...at, zone: 'America/New_York' })
    expect(range).toEqual(ends && between(ends[0]!, ends[1]!))
  })
})
