import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readTime, withZone } from '../../adapters/cli/call/times.js'
import { formatTimestamp, parseTimestamp } from '../../src/event/timestamp.js'
import { parseQuery } from '../../src/filter/parse.js'
import { type FileLog, openFileLog } from './logs.js'
import { runCli } from './run-cli.js'

/* The tests run in a zone that is 5 hours behind UTC in winter, and 4 in summer. */
beforeAll(() => vi.stubEnv('TZ', 'America/New_York'))
afterAll(() => vi.unstubAllEnvs())

const NOW = parseTimestamp('2026-11-24T02:00:00Z')!

describe('a time', () => {
  it.each([
    // In this zone the local date is still the 23rd.
    ['now', '2026-11-24T02:00:00', '2026-11-24T02:00:00'],
    ['today', '2026-11-23T05:00:00', '2026-11-24T00:00:00'],
    ['yesterday', '2026-11-22T05:00:00', '2026-11-23T00:00:00'],
    ['Yesterday 14:30', '2026-11-22T19:30:00', '2026-11-23T14:30:00'],
    ['tomorrow', '2026-11-24T05:00:00', '2026-11-25T00:00:00'],
    ['14:30:15', '2026-11-23T19:30:15', '2026-11-24T14:30:15'],
    ['30s', '2026-11-24T01:59:30', '2026-11-24T01:59:30'],
    ['1h30m', '2026-11-24T00:30:00', '2026-11-24T00:30:00'],
    ['2 hours', '2026-11-24T00:00:00', '2026-11-24T00:00:00'],
    ['1 day, 2 hours ago', '2026-11-23T00:00:00', '2026-11-23T00:00:00'],
    ['1.5 h', '2026-11-24T00:30:00', '2026-11-24T00:30:00'],
    ['2w', '2026-11-10T02:00:00', '2026-11-10T02:00:00'],
    ['2026-11-20', '2026-11-20T05:00:00', '2026-11-20T00:00:00'],
    ['2026-07-20 08:15', '2026-07-20T12:15:00', '2026-07-20T08:15:00'],
    ['20260720T0815', '2026-07-20T12:15:00', '2026-07-20T08:15:00'],
    // Clocks leave out this hour.
    ['2026-03-08T02:30', '2026-03-08T07:30:00', '2026-03-08T02:30:00'],
    ['2026-11-20T08:15Z', '2026-11-20T08:15:00', '2026-11-20T08:15:00'],
    ['2026-11-20T08:15-01:00', '2026-11-20T09:15:00', '2026-11-20T09:15:00'],
    ['0050-01-01', '0050-01-01T04:56:02', '0050-01-01T00:00:00'],
  ])('%s is of the zone in which times are printed', (text, local, utc) => {
    const read = (zone: { readonly utc?: boolean }) =>
      formatTimestamp(readTime(text, '--since', zone, NOW))
    expect([read({}), read({ utc: true })]).toEqual([`${local}.000000Z`, `${utc}.000000Z`])
  })

  it('keeps its microseconds', () => {
    const text = '2026-11-20T08:15:00.123456'
    expect(formatTimestamp(readTime(text, '--since', {}))).toBe('2026-11-20T13:15:00.123456Z')
  })

  it.each([
    '',
    ' ',
    'noon',
    '2 fortnights',
    '5',
    '-1h',
    '25:00',
    '2026-02-30',
    '999999999d',
    'ago',
  ])('is not %j', (text) => {
    expect(() => readTime(text, '--until', {}, NOW)).toThrow(
      `--until ${JSON.stringify(text)}: must be a time, such as 30s,`,
    )
  })
})

it('only times of created_at in filters get the zone if they have none', () => {
  const { where } = parseQuery(
    [
      'filter[created_at_gteq]=2026-11-20',
      'filter[created_at_lt]=2026-11-20T08:15:00.1234567',
      'filter[created_at_not_eq]=2026-11-20T08:15Z',
      'filter[created_at_start]=2026-11-20',
      'filter[day_eq]=2026-11-20',
      'filter[g][0][created_at_in][]=2026-11-20',
    ].join('&'),
  )
  const zoned = withZone(where!, {})
  expect(zoned.conditions.map(({ values }) => values[0])).toEqual([
    '2026-11-20T05:00:00.000000Z',
    '2026-11-20T13:15:00.1234567Z',
    '2026-11-20T08:15Z',
    '2026-11-20',
    '2026-11-20',
  ])
  expect(zoned.groupings[0]!.conditions[0]!.values).toEqual(['2026-11-20T05:00:00.000000Z'])
})

describe('a command', () => {
  let log: FileLog
  beforeAll(async () => {
    log = openFileLog()
    // Two days, as clocks there show them.
    await log.audit.importEvents(
      ['2026-11-02T03:00:00Z', '2026-11-02T06:00:00Z', '2026-11-03T04:59:00Z'].map(
        (created_at, n) => ({
          id: `01a19b7c-b698-754b-a005-184b7eb1e21${n}`,
          created_at: created_at.replace('Z', '.000000Z'),
          username: 'ann',
          system: false,
          type: 'note',
          source: null,
          attributes: { n, order_id: 'A-17' },
        }),
      ),
    )
  })
  afterAll(() => log.close())

  const day = ['--since', '2026-11-02', '--until', '2026-11-03']

  it.each([
    ['list', [...day, '--fields', 'n'], '1\n2\n'],
    ['list', [...day, '--fields', 'n', '--utc'], '0\n1\n'],
    ['list', ['--fields', 'n', '--filter', 'created_at_lt=2026-11-02'], '0\n'],
    ['list', ['--fields', 'n', 'filter[created_at_lt]=2026-11-02T03:00'], '0\n1\n'],
    ['count', day, '2\n'],
    ['count', [...day, '--utc', '--by', 'n'], '1\t0\n1\t1\n2\n'],
    ['count', ['--since', '1h30m'], '0\n'],
    ['export', [...day, '--format', 'csv', '--columns', 'n'], '1\n2\n'],
  ])('%s %j reads the events of a day', async (command, args, expected) => {
    const { exit, stdout, stderr } = await runCli([command, log.file, ...args])
    const rows =
      command === 'export' ? stdout.replace(/^.*\r\n/, '').replaceAll(/.*,|\r/g, '') : stdout
    expect([exit, rows, stderr]).toEqual([0, expected, ''])
  })

  it('refuses a range that ends before it begins', async () => {
    const later = await runCli(['list', log.file, '--since', '1h', '--until', '2h'])
    expect([later.exit, later.stderr]).toEqual([
      2,
      'error: --since 1h: must be before --until 2h\n',
    ])
  })

  it.each([
    ['list', ['--filter', 'ordr_id_eq=A-17'], '"ordr_id"; did you mean order_id?'],
    ['list', ['--filter', 'usernme_cont=a', '--json'], '\\"usernme\\"; did you mean username?'],
    ['count', ['filter[g][0][ordr_id_null]=1'], '"ordr_id"; did you mean order_id?'],
    ['export', ['--filter', 'nothing_like_it_eq=1'], '"nothing_like_it"\n'],
    ['list', ['filter[sorts]=ordr_id'], '"ordr_id"; did you mean order_id?'],
  ])('%s %j hints at an attribute that no event has', async (command, args, hint) => {
    const { exit, stderr } = await runCli([command, log.file, ...args])
    expect([exit, stderr.includes(`no event has the attribute ${hint}`)]).toEqual([0, true])
  })

  it('gives no hint at attributes that some event has', async () => {
    const filters = ['order_id_eq=none', 'username_eq=bob', 'source_null=0', 'n_gt=7']
    for (const filter of filters)
      expect((await runCli(['list', log.file, '--filter', filter, '-q', 'x'])).stderr).toBe('')
  })
})
